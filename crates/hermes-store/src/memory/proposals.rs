//! Proposals: made once, decided once.

use rusqlite::params;

use super::{Memory, audit, new_uid, rows};
use crate::memory::backend::{self, Connection, OptionalExtension, Row};
use crate::memory::{
    Added, Change, NewProposal, Proposal, ProposalState, Scope, Trust, UserNumber,
};
use crate::{Error, Result};

const STATES: [(&str, ProposalState); 3] = [
    ("open", ProposalState::Open),
    ("accepted", ProposalState::Accepted),
    ("refused", ProposalState::Refused),
];

impl Memory {
    /// Keeps a proposal, unless the same one was made before, whatever was decided.
    pub fn propose(
        &mut self,
        scope: Scope,
        proposal: &NewProposal<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
        let user = scope.user().get();
        self.write(scope, |transaction| {
            let known = transaction
                .prepare_cached(KNOWN)?
                .query_row(params![user, proposal.kind, proposal.body], |row| row.get(0))
                .optional()?;
            if let Some(known) = known {
                return Ok(Added::Known(known));
            }
            let id = transaction.insert(
                ADD,
                params![
                    new_uid(change.at).as_bytes(),
                    user,
                    proposal.kind,
                    proposal.body,
                    proposal.origin,
                    proposal.trust.number(),
                    proposal.episode,
                    change.at.as_millisecond()
                ],
            )?;
            let after = audit::hash_of(proposal.body);
            audit::append(transaction, change, "proposal.add", &name(id), None, Some(&after))?;
            Ok(Added::New(id))
        })
    }

    /// The proposals in a state (all if none), oldest first.
    pub fn proposals(&self, scope: Scope, state: Option<ProposalState>) -> Result<Vec<Proposal>> {
        let state = state.map(|state| rows::word(&state, &STATES));
        let read = || -> backend::Result<_> {
            self.asking(scope)
                .prepare_cached(LIST)?
                .query_map(params![scope.user().get(), state], proposal_of)?
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The proposal with this number.
    pub fn proposal(&self, scope: Scope, id: i64) -> Result<Proposal> {
        let found = by_id(self.asking(scope), scope, id).map_err(|source| self.failed(source))?;
        found.ok_or_else(|| Error::NoSuchItem { item: name(id) })
    }

    /// Says that an open proposal was accepted or refused; fails if it was decided already.
    pub fn decide_proposal(
        &mut self,
        scope: Scope,
        id: i64,
        decision: ProposalState,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| {
            let missing = || Error::NoSuchItem { item: name(id) };
            let found = by_id(transaction, scope, id)?.ok_or_else(missing)?;
            let (doing, action) = match decision {
                ProposalState::Open => ("reopen", ""),
                ProposalState::Accepted => ("accept", "proposal.accept"),
                ProposalState::Refused => ("refuse", "proposal.refuse"),
            };
            let in_the_way = match (found.state, decision) {
                (_, ProposalState::Open) => Some("a decision cannot be reopened"),
                (ProposalState::Open, _) => None,
                (ProposalState::Accepted, _) => Some("it was already approved"),
                (ProposalState::Refused, _) => Some("it was already rejected"),
            };
            if let Some(why) = in_the_way {
                let (item, why) = (name(id), why.to_owned());
                return Err(Error::ItemRefused { doing, item, why }.into());
            }
            let (word, at) = (rows::word(&decision, &STATES), change.at.as_millisecond());
            transaction.execute(DECIDE, params![id, word, at, change.actor])?;
            audit::append(transaction, change, action, &name(id), None, None)
        })
    }
}

fn by_id(connection: &Connection, scope: Scope, id: i64) -> backend::Result<Option<Proposal>> {
    connection.prepare_cached(BY_ID)?.query_row([scope.user().get(), id], proposal_of).optional()
}

fn name(id: i64) -> String {
    format!("proposal:{id}")
}

fn proposal_of(row: &Row<'_>) -> backend::Result<Proposal> {
    Ok(Proposal {
        id: row.get(0)?,
        user: UserNumber::new(row.get(1)?),
        kind: row.get(2)?,
        body: row.get(3)?,
        origin: row.get(4)?,
        trust: Trust::from_number(row.get(5)?),
        episode: row.get(6)?,
        state: rows::choice(row, 7, &STATES)?,
        created_at: rows::time(row, 8)?,
        decided_at: rows::optional_time(row, 9)?,
    })
}

const KNOWN: &str = "select id from proposal where user_id = ?1 and kind = ?2 and body = ?3";
const ADD: &str = "
    insert into proposal (uid, user_id, kind, body, origin, trust, episode, state, created_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'open', ?8) returning id";
const LIST: &str = "
    select id, user_id, kind, body, origin, trust, episode, state, created_at, decided_at
    from proposal where user_id in (?1, 0) and (cast(?2 as text) is null or state = ?2) order by id";
const BY_ID: &str = "
    select id, user_id, kind, body, origin, trust, episode, state, created_at, decided_at
    from proposal where user_id in (?1, 0) and id = ?2";
const DECIDE: &str = "
    update proposal set state = ?2, decided_at = ?3, decided_by = ?4 where id = ?1";
