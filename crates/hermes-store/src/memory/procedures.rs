//! Procedures: kept once, read, retired, brought back.

use rusqlite::params;

use super::facts::{Belongings, keep_belongings};
use super::retiring::Noun;
use super::{Memory, audit, new_uid, origins, rows};
use crate::Result;
use crate::memory::backend::{self, Row};
use crate::memory::{
    Added, Change, ItemKind, NewProcedure, Procedure, ProcedureKind, Scope, Source, Trust,
    UserNumber,
};

const KINDS: [(&str, ProcedureKind); 3] = [
    ("reflection", ProcedureKind::Reflection),
    ("pattern", ProcedureKind::Pattern),
    ("skill", ProcedureKind::Skill),
];

impl Memory {
    /// Keeps a procedure, unless one with the same origin was kept, or a person took it back.
    pub fn add_procedure(
        &mut self,
        scope: Scope,
        procedure: &NewProcedure<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
        let owner = if procedure.shared { UserNumber::SHARED } else { scope.user() };
        let whose = (ItemKind::Procedure, owner);
        self.write(scope, |transaction| {
            if let Some(known) = origins::known(transaction, whose, procedure.origin)? {
                return Ok(Added::Known(known));
            }
            let id = transaction.insert(
                ADD,
                params![
                    new_uid(change.at).as_bytes(),
                    owner.get(),
                    rows::word(&procedure.kind, &KINDS),
                    procedure.task_type,
                    procedure.title,
                    procedure.body,
                    procedure.outcome,
                    change.actor,
                    procedure.trust.number(),
                    change.at.as_millisecond(),
                    procedure.skill_path
                ],
            )?;
            let belongings = Belongings {
                owner,
                item: (ItemKind::Procedure, id),
                entities: procedure.entities,
                sources: procedure.sources,
                chunks: &procedure.chunks,
                at: change.at,
            };
            keep_belongings(transaction, &belongings, change)?;
            origins::note(transaction, whose, id, procedure.origin)?;
            let item = audit::item_name(ItemKind::Procedure, id);
            let after = audit::hash_of(&format!("{}\n{}", procedure.title, procedure.body));
            audit::append(transaction, change, "procedure.add", &item, None, Some(&after))?;
            Ok(Added::New(id))
        })
    }

    /// The procedures held for a type of task (all types if none), best and newest first.
    pub fn list_procedures(
        &self,
        scope: Scope,
        task_type: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Procedure>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || -> backend::Result<_> {
            self.asking(scope)
                .prepare_cached(LIST)?
                .query_map(params![scope.user().get(), task_type, limit], procedure_of)?
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The procedures with these numbers that the scope may read, in the order asked for.
    pub fn procedures(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Procedure>> {
        self.items(&NOUN, scope, ids, procedure_of)
    }

    /// Takes a procedure out of every answer; it can be brought back.
    pub fn retire_procedure(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.retire_item(&NOUN, scope, id, change)
    }

    /// Brings a retired procedure back.
    pub fn restore_procedure(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.restore_item(&NOUN, scope, id, change)
    }

    /// Where a procedure came from.
    pub fn sources_of_procedure(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        self.sources_of_item(&NOUN, scope, id)
    }
}

fn procedure_of(row: &Row<'_>) -> backend::Result<Procedure> {
    Ok(Procedure {
        id: row.get(0)?,
        uid: rows::uid(row, 1)?,
        user: UserNumber::new(row.get(2)?),
        kind: rows::choice(row, 3, &KINDS)?,
        task_type: row.get(4)?,
        title: row.get(5)?,
        body: row.get(6)?,
        outcome: row.get(7)?,
        trust: Trust::from_number(row.get(8)?),
        recorded_at: rows::time(row, 9)?,
        retired_at: rows::optional_time(row, 10)?,
        quarantined: row.get(11)?,
        uses: row.get(12)?,
        wins: row.get(13)?,
        losses: row.get(14)?,
        skill_path: row.get(15)?,
    })
}

const NOUN: Noun = Noun {
    kind: ItemKind::Procedure,
    by_id: BY_ID,
    retire: RETIRE,
    restore: RESTORE,
    sources: SOURCES,
    retired: "procedure.retire",
    restored: "procedure.restore",
};
const ADD: &str = "
    insert into procedure (uid, user_id, kind, task_type, title, body, outcome, origin, trust,
      recorded_at, skill_path)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) returning id";
const LIST: &str = "
    select id, uid, user_id, kind, task_type, title, body, outcome, trust, recorded_at, retired_at,
      quarantined_at is not null, uses, wins, losses, skill_path
    from procedure
    where user_id in (?1, 0) and (cast(?2 as text) is null or task_type = ?2)
      and retired_at is null and quarantined_at is null
    order by wins - losses desc, recorded_at desc, id desc limit ?3";
const BY_ID: &str = "
    select id, uid, user_id, kind, task_type, title, body, outcome, trust, recorded_at, retired_at,
      quarantined_at is not null, uses, wins, losses, skill_path
    from procedure where user_id in (?1, 0) and id = ?2";
const RETIRE: &str = "
    update procedure set retired_at = ?3
    where user_id in (?1, 0) and id = ?2 and retired_at is null";
const RESTORE: &str = "
    update procedure set retired_at = null
    where user_id in (?1, 0) and id = ?2 and retired_at is not null";
const SOURCES: &str = "
    select s.episode, s.message, s.quote, s.extractor
    from procedure i join source s on s.kind = 2 and s.item = i.id
    where i.user_id in (?1, 0) and i.id = ?2 order by s.id";
