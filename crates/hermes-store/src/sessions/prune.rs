//! Forget old sessions: first a plan, then the deed.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Serialize;

use super::content::{integer_of, seconds_of, text_of};
use super::manage::{delete_rows, is_for_its_owner_to_delete};
use super::{SessionId, SessionStore, time};
use crate::Result;

/// Which sessions are old enough to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneRequest {
    /// The time to count back from.
    pub now: Timestamp,
    /// How long ago the last message must be.
    pub older_than: Duration,
    /// Only from this source.
    pub source: Option<String>,
    /// Sessions that stay whatever their age.
    pub keep: BTreeSet<SessionId>,
}

/// What a pruning would take away.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrunePlan {
    /// Sessions with their last message before this time go.
    pub before: Timestamp,
    /// The sessions that go, oldest first.
    pub sessions: Vec<PrunedSession>,
    /// How many messages go.
    pub messages: u64,
    /// How much text goes.
    pub text_bytes: u64,
    /// How many old sessions stay because they are pinned.
    pub kept_pinned: u64,
    /// How many old sessions stay because they have not ended and were in use a day ago.
    pub kept_unfinished: u64,
    /// How many old sessions stay because one that stays continues them.
    pub kept_continued: u64,
    /// How many old sessions stay because only Hermes Agent can delete them from its index.
    pub kept_for_owner: u64,
}

/// One session that a pruning takes away.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PrunedSession {
    /// Its id.
    pub id: SessionId,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Where it came from.
    pub source: String,
    /// When something was last said in it.
    pub last_active: Timestamp,
    /// How many messages it has, live or not.
    pub messages: u64,
    /// How much text those have.
    pub text_bytes: u64,
}

/// What a pruning took away.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PruneReport {
    /// How many sessions went.
    pub sessions: u64,
    /// How many messages went.
    pub messages: u64,
    /// Sessions of the plan that stayed, since they changed after it was made.
    pub changed: Vec<SessionId>,
}

/// A session that was not ended and was in use this short a time ago may still be going on.
const STILL_OPEN: SignedDuration = SignedDuration::from_hours(24);

const OLD_SESSIONS: &str = "
    with aged as (
        select id, title, source, ended_at, pinned, coalesce(last_active, 0) as last_active
        from session_view
        where ?2 is null or source = ?2)
    select a.id, a.title, a.source, a.last_active,
        (select count(*) from message_view m where m.session_id = a.id),
        (select coalesce(sum(octet_length(m.content)), 0) from message_view m
            where m.session_id = a.id),
        a.ended_at, a.pinned
    from aged a where a.last_active < ?1 order by a.last_active, a.id";

const LINKS: &str = "
    select id, parent_session_id from session_view where parent_session_id is not null";

const LAST_ACTIVE: &str = "select coalesce(last_active, 0) from session_view where id = ?1";

impl SessionStore {
    /// Says what a pruning would take away, and takes nothing.
    pub fn prune_plan(&self, request: &PruneRequest) -> Result<PrunePlan> {
        let age = SignedDuration::try_from(request.older_than).unwrap_or(SignedDuration::MAX);
        let before = request.now.checked_sub(age).unwrap_or(Timestamp::MIN);
        let still_open = request.now.checked_sub(STILL_OPEN).unwrap_or(Timestamp::MIN);
        let old = self.old_sessions(before, request.source.as_deref());
        let mut plan = PrunePlan {
            before,
            sessions: Vec::new(),
            messages: 0,
            text_bytes: 0,
            kept_pinned: 0,
            kept_unfinished: 0,
            kept_continued: 0,
            kept_for_owner: 0,
        };
        for found in old.map_err(|source| self.fault(source))? {
            if found.is_pinned || request.keep.contains(&found.session.id) {
                plan.kept_pinned += 1;
            } else if !found.has_ended && found.session.last_active > still_open {
                plan.kept_unfinished += 1;
            } else if self.is_for_its_owner(&found.session.id)? {
                plan.kept_for_owner += 1;
            } else {
                plan.sessions.push(found.session);
            }
        }
        let links = self.links().map_err(|source| self.fault(source))?;
        plan.kept_continued = keep_continued(&mut plan.sessions, &links);
        plan.messages = plan.sessions.iter().map(|session| session.messages).sum();
        plan.text_bytes = plan.sessions.iter().map(|session| session.text_bytes).sum();
        Ok(plan)
    }

    /// Every session that continues another, with the one it continues.
    fn links(&self) -> rusqlite::Result<Vec<(String, String)>> {
        let row = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.connection().prepare(LINKS)?.query_map([], row)?.collect()
    }

    /// Takes away sessions of a plan, one at a time; one that changed meanwhile stays.
    pub fn prune(&mut self, planned: &[PrunedSession]) -> Result<PruneReport> {
        let mut report = PruneReport::default();
        for planned in planned {
            let step = self.begin()?;
            let failed = |source| step.fault(source);
            let id = planned.id.as_str();
            let found = last_active(&step.transaction, id).map_err(failed)?;
            let is_kept =
                is_for_its_owner_to_delete(&step.transaction, step.layout, id).map_err(failed)?;
            if is_kept || found != Some(planned.last_active) {
                report.changed.push(planned.id.clone());
                continue;
            }
            report.messages += delete_rows(&step.transaction, step.layout, id).map_err(failed)?;
            step.commit()?;
            report.sessions += 1;
        }
        Ok(report)
    }

    fn is_for_its_owner(&self, id: &SessionId) -> Result<bool> {
        is_for_its_owner_to_delete(self.connection(), self.layout(), id.as_str())
            .map_err(|source| self.fault(source))
    }

    fn old_sessions(
        &self,
        before: Timestamp,
        source: Option<&str>,
    ) -> rusqlite::Result<Vec<OldSession>> {
        self.connection()
            .prepare(OLD_SESSIONS)?
            .query_map((time::to_seconds(before), source), OldSession::from_row)?
            .collect()
    }
}

/// Takes sessions out of the plan that are continued by one that stays; returns how many.
fn keep_continued(sessions: &mut Vec<PrunedSession>, links: &[(String, String)]) -> u64 {
    let before = sessions.len();
    loop {
        let going: BTreeSet<&str> = sessions.iter().map(|session| session.id.as_str()).collect();
        let continued: BTreeSet<&str> = links
            .iter()
            .filter(|(child, _)| !going.contains(child.as_str()))
            .map(|(_, parent)| parent.as_str())
            .filter(|parent| going.contains(parent))
            .collect();
        if continued.is_empty() {
            return (before - sessions.len()) as u64;
        }
        let continued: BTreeSet<String> = continued.into_iter().map(str::to_owned).collect();
        sessions.retain(|session| !continued.contains(session.id.as_str()));
    }
}

struct OldSession {
    session: PrunedSession,
    has_ended: bool,
    is_pinned: bool,
}

impl OldSession {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<OldSession> {
        let size = |at| -> rusqlite::Result<u64> {
            Ok(integer_of(row.get_ref(at)?).and_then(|n| u64::try_from(n).ok()).unwrap_or(0))
        };
        Ok(OldSession {
            session: PrunedSession {
                id: SessionId::from(row.get::<_, String>(0)?),
                title: text_of(row.get_ref(1)?),
                source: text_of(row.get_ref(2)?).unwrap_or_default(),
                last_active: time::from_seconds(seconds_of(row.get_ref(3)?).unwrap_or(0.0)),
                messages: size(4)?,
                text_bytes: size(5)?,
            },
            has_ended: seconds_of(row.get_ref(6)?).is_some(),
            is_pinned: size(7)? != 0,
        })
    }
}

fn last_active(connection: &Connection, id: &str) -> rusqlite::Result<Option<Timestamp>> {
    let seconds = |row: &Row<'_>| Ok(seconds_of(row.get_ref(0)?).unwrap_or(0.0));
    let found = connection.query_row(LAST_ACTIVE, [id], seconds).optional()?;
    Ok(found.map(time::from_seconds))
}
