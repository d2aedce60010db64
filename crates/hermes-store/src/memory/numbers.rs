//! The numbers that rows were given: the highest of each table is known, also when its row is gone.

use super::Outcome;
use super::backend::{self, Both, Connection, OptionalExtension};

/// The highest number that was given to a row of a table.
pub(super) fn last(connection: &Connection, table: &str) -> backend::Result<i64> {
    let found = connection.prepare_both(&LAST)?.query_row([table], |row| row.get(0)).optional()?;
    Ok(found.unwrap_or(0))
}

/// The highest number of each table whose numbers are known outside the memory, in the order of their names.
pub(super) fn all(connection: &Connection) -> backend::Result<Vec<(String, i64)>> {
    let mut all = Vec::new();
    for table in NUMBERED {
        all.push((table.to_owned(), last(connection, table)?));
    }
    all.retain(|(_, number)| *number > 0);
    for (table, sql) in [("entity", LAST_ENTITY), ("user", LAST_USER)] {
        all.push((table.to_owned(), connection.query_row(sql, [], |row| row.get(0))?));
    }
    all.sort_unstable();
    Ok(all)
}

/// Sees to it that no number up to this one is given out again.
pub(super) fn raise(transaction: &Connection, table: &str, number: i64) -> Outcome<()> {
    if !NUMBERED.contains(&table) || number < 1 {
        return Ok(());
    }
    let given = rusqlite::params![table, number];
    if transaction.prepare_both(&RAISE)?.execute(given)? == 0 && last(transaction, table)? == 0 {
        transaction.prepare_both(&FIRST)?.execute(given)?;
    }
    Ok(())
}

const NUMBERED: [&str; 7] =
    ["episode", "fact", "procedure", "event", "task", "proposal", "receipt"];

pub(super) const LAST_ENTITY: &str = "select coalesce(max(id), 0) from entity";
pub(super) const LAST_USER: &str = "select coalesce(max(id), 0) from \"user\"";
// SQLite keeps the numbers in a table of its own, a server in one of ours.
const LAST: Both = Both {
    file: "select seq from sqlite_sequence where name = ?1",
    server: "select seq from number where name = ?1",
};
const RAISE: Both = Both {
    file: "update sqlite_sequence set seq = ?2 where name = ?1 and seq < ?2",
    server: "update number set seq = ?2 where name = ?1 and seq < ?2",
};
const FIRST: Both = Both {
    file: "insert into sqlite_sequence (name, seq) values (?1, ?2)",
    server: "insert into number (name, seq) values (?1, ?2)",
};
