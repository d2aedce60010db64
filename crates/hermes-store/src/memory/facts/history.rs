//! What happened to a fact, from the chain of changes and the texts it had.

use rusqlite::params;

use super::super::{Outcome, audit, rows};
use super::read;
use crate::memory::backend::{self, Connection, Row};
use crate::memory::{Change, Fact, FactChange, ItemKind, Scope};

/// Every change of a fact, oldest first.
pub(super) fn history(
    connection: &Connection,
    scope: Scope,
    fact: &Fact,
) -> backend::Result<Vec<FactChange>> {
    let mut texts: Vec<String> =
        read::revisions(connection, scope, fact.id)?.into_iter().map(|one| one.text).collect();
    texts.push(fact.statement.clone());
    let mut changes: Vec<FactChange> = connection
        .prepare_cached(CHANGES)?
        .query_map(params![audit::item_name(ItemKind::Fact, fact.id), REASONS, fact.id], change_of)?
        .collect::<backend::Result<_>>()?;
    let mut edits = 0;
    for change in &mut changes {
        if change.action == "fact.edit" {
            edits += 1;
        }
        let shows_text = matches!(
            change.action.as_str(),
            "fact.add" | "fact.succeed" | "fact.edit" | "fact.supersede"
        );
        change.text = texts.get(edits).filter(|_| shows_text).cloned();
    }
    Ok(changes)
}

fn change_of(row: &Row<'_>) -> backend::Result<FactChange> {
    Ok(FactChange {
        at: rows::time(row, 0)?,
        actor: row.get(1)?,
        action: row.get(2)?,
        text: None,
        reason: row.get(3)?,
    })
}

/// Keeps the words with which a person says why; they go with the fact when it is erased.
pub(super) fn keep_reason(
    transaction: &Connection,
    fact: i64,
    (reason, change): (&str, Change<'_>),
) -> Outcome<()> {
    let at = change.at.as_millisecond();
    transaction.prepare_cached(KEEP_REASON)?.execute(params![
        REASONS,
        fact,
        at,
        change.actor,
        reason
    ])?;
    Ok(())
}

/// Reasons stand among the earlier texts, under a kind of their own and the number of the change.
const REASONS: i64 = super::REASONS_ABOVE + 1;

const KEEP_REASON: &str = "
    insert into revision (kind, item, number, at, actor, body)
    select ?1, ?2, max(id), ?3, ?4, ?5 from audit";
const CHANGES: &str = "
    select at, actor, action,
      (select body from revision where kind = ?2 and item = ?3 and number = audit.id)
    from audit
    where item = ?1 and item >= 'fact:' and item < 'fact;' and action like 'fact.%' order by id";
