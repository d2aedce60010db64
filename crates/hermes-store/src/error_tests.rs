//! Tests of what errors say.

use std::error::Error as _;
use std::path::Path;

use rusqlite::Connection;

use crate::Error;

fn refusal(sql: &str) -> Error {
    let connection = Connection::open_in_memory().unwrap();
    let refusal = connection.execute_batch(sql).unwrap_err();
    Error::from_sqlite(Path::new("state.db"), refusal)
}

#[test]
fn the_words_of_sqlite_are_said_once_and_statements_are_not_quoted() {
    let broken = refusal("create table t (a unique); insert into t values (1), (1)");
    assert_eq!(broken.to_string(), "could not use state.db: UNIQUE constraint failed: t.a");
    assert!(broken.source().is_none());
    let long = format!("create table t (a); create table t ({}a)", "-- a remark\n".repeat(100));
    assert_eq!(refusal(&long).to_string(), "could not use state.db: table t already exists");
}
