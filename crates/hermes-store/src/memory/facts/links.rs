//! How facts stand to one another and to the entries of memory files.

use jiff::Timestamp;
use rusqlite::params;

use super::super::{Outcome, audit, rows};
use super::change;
use crate::Error;
use crate::memory::backend::{self, Connection, Put, Row};
use crate::memory::{Change, Conflict, FileEntry, ItemKind, Scope};

pub(super) fn pin(
    transaction: &Connection,
    scope: Scope,
    id: i64,
    pinned: bool,
    change: Change<'_>,
) -> Outcome<()> {
    let kept = change::kept(transaction, scope, id)?;
    if kept.is_pinned == pinned {
        return Ok(());
    }
    transaction.prepare_cached(PIN)?.execute(params![id, pinned])?;
    let action = if pinned { "fact.pin" } else { "fact.unpin" };
    audit::append(transaction, change, action, &kept.name(), None, None)
}

/// The pairs of held facts that nobody settled.
pub(super) fn conflicts(connection: &Connection, scope: Scope) -> backend::Result<Vec<Conflict>> {
    let conflict_of = |row: &Row<'_>| {
        Ok(Conflict { fact: row.get(0)?, other: row.get(1)?, at: rows::time(row, 2)? })
    };
    connection.prepare_cached(CONFLICTS)?.query_map([scope.user().get()], conflict_of)?.collect()
}

pub(super) fn settle(
    transaction: &Connection,
    scope: Scope,
    pair: [i64; 2],
    change: Change<'_>,
) -> Outcome<()> {
    for id in pair {
        change::kept(transaction, scope, id)?;
    }
    let at = change.at.as_millisecond();
    if transaction.prepare_cached(SETTLE)?.execute([pair[0], pair[1], at])? == 0 {
        let [fact, other] = pair.map(|id| audit::item_name(ItemKind::Fact, id));
        let item = format!("an open contradiction between {fact} and {other}");
        return Err(Error::NoSuchItem { item }.into());
    }
    let name = audit::item_name(ItemKind::Fact, pair[0]);
    audit::append(transaction, change, "fact.settle", &name, None, None)
}

pub(super) fn link(
    transaction: &Connection,
    scope: Scope,
    link: &FileEntry,
    now: Timestamp,
) -> Outcome<()> {
    change::kept(transaction, scope, link.fact)?;
    let at = now.as_millisecond();
    transaction.put(&LINK, params![link.fact, link.file, link.entry, at])?;
    Ok(())
}

/// The entries that say the same as facts, held or not.
pub(super) fn entries(connection: &Connection, scope: Scope) -> backend::Result<Vec<FileEntry>> {
    let entry_of =
        |row: &Row<'_>| Ok(FileEntry { fact: row.get(0)?, file: row.get(1)?, entry: row.get(2)? });
    connection.prepare_cached(ENTRIES)?.query_map([scope.user().get()], entry_of)?.collect()
}

pub(super) fn unlink(transaction: &Connection, scope: Scope, fact: i64, file: &str) -> Outcome<()> {
    change::kept(transaction, scope, fact)?;
    transaction.prepare_cached(UNLINK)?.execute(params![fact, file])?;
    Ok(())
}

const PIN: &str = "update fact set pinned = ?2 where id = ?1";
// The `+` keeps the few conflicts in front: by the index of users every fact would be looked at.
const CONFLICTS: &str = "
    select c.fact, c.other, c.at from conflict c
      join fact f on f.id = c.fact join fact o on o.id = c.other
    where c.settled_at is null and +f.user_id in (?1, 0) and +o.user_id in (?1, 0)
      and f.retired_at is null and o.retired_at is null
      and f.quarantined_at is null and o.quarantined_at is null
    order by c.at, c.fact, c.other";
const SETTLE: &str = "
    update conflict set settled_at = ?3
    where settled_at is null and ((fact = ?1 and other = ?2) or (fact = ?2 and other = ?1))";
const LINK: Put = Put {
    change: "update file_entry set entry = ?3, at = ?4 where fact = ?1 and file = ?2",
    add: "insert into file_entry (fact, file, entry, at) values (?1, ?2, ?3, ?4)",
};
const ENTRIES: &str = "
    select e.fact, e.file, e.entry from file_entry e join fact f on f.id = e.fact
    where f.user_id in (?1, 0) order by e.fact, e.file";
const UNLINK: &str = "delete from file_entry where fact = ?1 and file = ?2";
