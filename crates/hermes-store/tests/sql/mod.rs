//! Databases as another program opens them: SQLite alone, with nothing of ours around it.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::types::ValueRef;
use rusqlite::{Batch, Connection, Row};

/// Opens a file, and makes it if it is not there; whoever writes to it is waited for.
#[expect(clippy::disallowed_methods, reason = "tests open databases as other programs do")]
pub(crate) fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).unwrap();
    connection.busy_timeout(Duration::from_secs(20)).unwrap();
    // Off unless it is asked for, as everywhere but in the library that is built in here.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false).unwrap();
    connection
}

/// Runs statements one after the other; each row is a line with `|` between its values, as the sqlite3 program prints it.
pub(crate) fn run(connection: &Connection, statements: &str) -> String {
    let mut lines = Vec::new();
    let mut batch = Batch::new(connection, statements);
    while let Some(mut statement) = batch.next().unwrap() {
        let count = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            lines.push(line(row, count));
        }
    }
    lines.join("\n").trim_end().to_owned()
}

/// The same on a file that is open for this alone.
pub(crate) fn run_on(path: &Path, statements: &str) -> String {
    run(&open(path), statements)
}

fn line(row: &Row<'_>, count: usize) -> String {
    let text = |column| match row.get_ref(column).unwrap() {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => format!("{number:?}"),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
    };
    (0..count).map(text).collect::<Vec<_>>().join("|")
}
