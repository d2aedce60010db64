//! What happened to a fact, from the chain of changes and the texts it had.

use crate::memory::sqlite::db;
use crate::memory::sqlite::db::{Connection, Row};

use super::super::{audit, rows};
use super::read;
use crate::memory::{Fact, FactChange, ItemKind, Scope};

/// Every change of a fact, oldest first.
pub(super) fn history(
    connection: &Connection,
    scope: Scope,
    fact: &Fact,
) -> db::Result<Vec<FactChange>> {
    let mut texts: Vec<String> =
        read::revisions(connection, scope, fact.id)?.into_iter().map(|one| one.text).collect();
    texts.push(fact.statement.clone());
    let mut changes: Vec<FactChange> = connection
        .prepare_cached(CHANGES)?
        .query_map([audit::item_name(ItemKind::Fact, fact.id)], change_of)?
        .collect::<db::Result<_>>()?;
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

fn change_of(row: &Row<'_>) -> db::Result<FactChange> {
    Ok(FactChange { at: rows::time(row, 0)?, actor: row.get(1)?, action: row.get(2)?, text: None })
}

const CHANGES: &str = "
    select at, actor, action from audit
    where item = ?1 and item >= 'fact:' and item < 'fact;' and action like 'fact.%' order by id";
