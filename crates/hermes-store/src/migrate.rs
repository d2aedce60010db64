//! Bring a database of ours up to the newest numbered schema file.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::{Error, Result, rot};

/// The schema files of state.db in order; the number of a file is its place, from 1.
pub(crate) const STATE: &[&str] = &[
    include_str!("../migrations/state/0001_first_schema.sql"),
    include_str!("../migrations/state/0002_identity.sql"),
];

/// The schema files of memory.db in order.
pub(crate) const MEMORY: &[&str] = &[
    include_str!("../migrations/memory/0001_first_schema.sql"),
    include_str!("../migrations/memory/0002_life.sql"),
    include_str!("../migrations/memory/0003_runs.sql"),
    include_str!("../migrations/memory/0004_by_channel.sql"),
    include_str!("../migrations/memory/0005_facts_listed.sql"),
    include_str!("../migrations/memory/0006_people.sql"),
    include_str!("../migrations/memory/0007_where_from.sql"),
    include_str!("../migrations/memory/0008_row_sums.sql"),
];

/// The schema files of a memory on a PostgreSQL server in order.
pub(crate) const POSTGRES: &[&str] = &[
    include_str!("../migrations/postgres/0001_first_schema.sql"),
    include_str!("../migrations/postgres/0002_counts_and_notices.sql"),
    include_str!("../migrations/postgres/0003_where_from.sql"),
    include_str!("../migrations/postgres/0004_members.sql"),
    include_str!("../migrations/postgres/0005_plain_statements.sql"),
];

/// The newest schema number in a list of schema files.
pub(crate) fn newest(files: &[&str]) -> i64 {
    i64::try_from(files.len()).unwrap_or(i64::MAX)
}

/// The number of the last schema file applied; 0 for a database that is empty or not ours.
pub(crate) fn applied(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("pragma user_version")?.query_row([], |row| row.get(0))
}

/// Fails if the database was written by a later version, which may come and upgrade it at any time: asked inside a
/// transaction that writes, nobody else can come before its end.
pub(crate) fn refuse_newer(connection: &Connection, path: &Path, files: &[&str]) -> Result<()> {
    let known = newest(files);
    let found = applied(connection).map_err(|source| Error::from_sqlite(path, source))?;
    if found > known {
        return Err(Error::NewerSchema { path: path.to_owned(), found, known });
    }
    Ok(())
}

/// The functions that the schema files use.
fn add_functions(connection: &Connection) -> rusqlite::Result<()> {
    add_text_hash(connection)?;
    rot::register(connection)
}

/// A hash of a text, by which two messages are told apart: the first 16 bytes of its SHA-256.
pub(crate) fn text_hash(text: &str) -> [u8; 16] {
    let hash: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut first = [0; 16];
    first.copy_from_slice(&hash[..16]);
    first
}

/// The function that the schema files use to hash texts; null stays null.
fn add_text_hash(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("text_hash", 1, flags, |given| {
        // A text with damaged bytes must not keep the whole memory from being opened.
        let bytes = given.get_raw(0).as_bytes_or_null().unwrap_or_default();
        Ok(bytes.map(|bytes| text_hash(&String::from_utf8_lossy(bytes))))
    })
}

/// Applies every file the database lacks, all in one transaction: whatever happens, it has the schema it had or the
/// newest one.
pub(crate) fn apply(connection: &mut Connection, files: &[&str]) -> rusqlite::Result<()> {
    // Whoever has nothing to do waits for nobody.
    if applied(connection)? >= newest(files) {
        return Ok(());
    }
    add_functions(connection)?;
    let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read inside the transaction: another program may have been faster.
    let found = match applied(&step)? {
        0 => number_of_restored(&step, files)?,
        found => found,
    };
    for text in files.iter().skip(usize::try_from(found).unwrap_or(0)) {
        step.execute_batch(text)?;
    }
    if applied(&step)? < newest(files) {
        step.pragma_update(None, "user_version", newest(files))?;
    }
    step.commit()
}

/// A dump does not hold the number: a database restored from one has all the tables of some schema, and number 0.
fn number_of_restored(connection: &Connection, files: &[&str]) -> rusqlite::Result<i64> {
    let found = tables(connection)?;
    if found.is_empty() {
        return Ok(0);
    }
    let model = Connection::open_in_memory()?;
    add_functions(&model)?;
    let mut last = 0;
    for (number, text) in (1_i64..).zip(files) {
        model.execute_batch(text)?;
        if tables(&model)?.iter().all(|column| found.contains(column)) {
            last = number;
        }
    }
    Ok(last)
}

/// Every column of every table, without the full-text index, which repair makes anew.
const TABLES: &str = "
    select t.name, c.name from sqlite_schema t join pragma_table_info(t.name) c
    where t.type = 'table' and t.name not like 'messages_fts%' and t.name not like 'sqlite_%'";

fn tables(connection: &Connection) -> rusqlite::Result<HashSet<(String, String)>> {
    connection.prepare(TABLES)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The part of the first schema file that makes the full-text index and its triggers.
pub(crate) fn full_text_part() -> &'static str {
    const BEGIN: &str = "create virtual table messages_fts";
    STATE.iter().find_map(|text| text.find(BEGIN).map(|at| &text[at..])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applying_twice_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection, STATE).unwrap();
        let count = "select count(*) from sqlite_schema";
        let first: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        apply(&mut connection, STATE).unwrap();
        let second: i64 = connection.query_row(count, [], |row| row.get(0)).unwrap();
        assert_eq!(first, second);
        assert_eq!(applied(&connection).unwrap(), newest(STATE));
    }

    #[test]
    fn a_restored_database_gets_its_number_and_an_unfinished_one_does_not() {
        let mut restored = Connection::open_in_memory().unwrap();
        apply(&mut restored, STATE).unwrap();
        restored.pragma_update(None, "user_version", 0).unwrap();
        apply(&mut restored, STATE).unwrap();
        assert_eq!(applied(&restored).unwrap(), newest(STATE));

        let mut unfinished = Connection::open_in_memory().unwrap();
        unfinished.execute_batch("create table messages (id)").unwrap();
        assert!(apply(&mut unfinished, STATE).is_err());
        assert_eq!(applied(&unfinished).unwrap(), 0);
    }

    #[test]
    fn a_restored_database_is_given_the_number_of_the_files_it_has() {
        let files = ["create table a (a)", "create table b (b)", "alter table a add column c"];
        for number in 1..=files.len() {
            let mut restored = Connection::open_in_memory().unwrap();
            apply(&mut restored, &files[..number]).unwrap();
            restored.pragma_update(None, "user_version", 0).unwrap();
            apply(&mut restored, &files).unwrap();
            assert_eq!(applied(&restored).unwrap(), newest(&files));
            restored.execute_batch("select c from a; select b from b").unwrap();
        }
    }

    #[test]
    fn the_full_text_part_makes_the_index_with_its_triggers() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection, STATE).unwrap();
        let objects =
            "select group_concat(name) from sqlite_schema where name like 'messages_fts%'";
        let read = |from: &Connection| -> String {
            from.query_row(objects, [], |row| row.get(0)).unwrap()
        };
        let before = read(&connection);
        for name in ["insert", "delete", "update"] {
            connection.execute_batch(&format!("drop trigger messages_fts_{name}")).unwrap();
        }
        connection.execute_batch("drop table messages_fts").unwrap();
        connection.execute_batch(full_text_part()).unwrap();
        assert_eq!(read(&connection), before);
    }

    #[test]
    fn covered_episodes_become_runs_without_gaps() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection, &MEMORY[..2]).unwrap();
        connection.pragma_update(None, "foreign_keys", false).unwrap();
        let told = [(1, 90, 5), (2, 90, 5), (4, 90, 5), (5, 90, 6), (6, 91, 6), (7, 91, 6)];
        for row in told {
            let add = "insert into covered (episode, summary, session) values (?1, ?2, ?3)";
            connection.execute(add, row).unwrap();
        }
        apply(&mut connection, MEMORY).unwrap();
        let runs: Vec<(i64, i64, i64, i64)> = connection
            .prepare("select first, last, summary, session from covered order by first")
            .unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        assert_eq!(runs, [(1, 2, 90, 5), (4, 4, 90, 5), (5, 5, 90, 6), (6, 7, 91, 6)]);
    }

    #[test]
    fn a_file_that_fails_leaves_no_trace() {
        let mut connection = Connection::open_in_memory().unwrap();
        let files = [
            "create table kept (a)",
            "create table first (a)",
            "create table lost (a); create table lost (a)",
        ];
        apply(&mut connection, &files[..1]).unwrap();
        assert!(apply(&mut connection, &files).is_err());
        let tables: i64 =
            connection.query_row("select count(*) from sqlite_schema", [], |r| r.get(0)).unwrap();
        assert_eq!((tables, applied(&connection).unwrap()), (1, 1), "nor do those before it");
    }
}
