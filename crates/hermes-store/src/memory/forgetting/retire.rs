//! Taking what was chosen out of every answer; all of it can be brought back.

use rusqlite::params;

use super::super::{Outcome, audit, episodes};
use super::choose::Chosen;
use crate::memory::backend::Connection;
use crate::memory::{Change, ItemKind};

/// Retires everything that was chosen, with an entry of the chain for each thing that was held.
pub(super) fn retire(transaction: &Connection, chosen: &Chosen, change: Change<'_>) -> Outcome<()> {
    for episode in &chosen.episodes {
        episodes::retire(transaction, episode, change)?;
    }
    for fact in &chosen.facts {
        retire_one(transaction, RETIRE_FACT, (ItemKind::Fact, *fact), change)?;
    }
    for id in &chosen.procedures {
        retire_one(transaction, RETIRE_PROCEDURE, (ItemKind::Procedure, *id), change)?;
    }
    for id in &chosen.events {
        retire_one(transaction, RETIRE_EVENT, (ItemKind::Event, *id), change)?;
    }
    let at = change.at.as_millisecond();
    for id in &chosen.proposals {
        transaction.prepare_cached(REFUSE)?.execute(params![id, at, change.actor])?;
    }
    Ok(())
}

fn retire_one(
    transaction: &Connection,
    sql: &str,
    (kind, id): (ItemKind, i64),
    change: Change<'_>,
) -> Outcome<()> {
    if transaction.prepare_cached(sql)?.execute([id, change.at.as_millisecond()])? == 0 {
        return Ok(());
    }
    let action = match kind {
        ItemKind::Fact => "fact.retire",
        ItemKind::Procedure => "procedure.retire",
        _ => "event.retire",
    };
    audit::append(transaction, change, action, &audit::item_name(kind, id), None, None)
}

const RETIRE_FACT: &str = "update fact set retired_at = ?2 where id = ?1 and retired_at is null";
const RETIRE_PROCEDURE: &str =
    "update procedure set retired_at = ?2 where id = ?1 and retired_at is null";
const RETIRE_EVENT: &str = "update event set retired_at = ?2 where id = ?1 and retired_at is null";
const REFUSE: &str = "
    update proposal set state = 'refused', decided_at = ?2, decided_by = ?3
    where id = ?1 and state = 'open'";
