//! The first step to a SQLite file: a connection, and what lies beside the file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::{Error, Result};

pub(crate) fn connect(path: &Path, access: OpenFlags, wait: Duration) -> Result<Connection> {
    connect_to(path, path, access, wait)
}

#[expect(clippy::disallowed_methods, reason = "the one place where databases are opened")]
pub(crate) fn connect_to(
    path: &Path,
    target: &Path,
    flags: OpenFlags,
    wait: Duration,
) -> Result<Connection> {
    let failed = |source| Error::from_sqlite(path, source);
    let connection = Connection::open_with_flags(target, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(failed)?;
    connection.busy_timeout(wait).map_err(failed)?;
    Ok(connection)
}

/// Leaves a log that was there before us as it is: folding it in would change the main file.
pub(crate) fn keep_log(connection: &Connection, has_log: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log).map(drop)
}

/// Fails if another connection has the database open after so long a wait.
pub(crate) fn refuse_in_use_within(path: &Path, wait: Duration) -> Result<()> {
    hold_alone(path, wait).map(drop)
}

/// A connection that keeps all others out; fails if there is another. What may not be written cannot be held so, and
/// nobody here writes to it.
pub(crate) fn hold_alone(path: &Path, wait: Duration) -> Result<Connection> {
    let has_log = has_write_ahead_log(path);
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)?;
    let failed = |source| Error::from_sqlite(path, source);
    keep_log(&connection, has_log).map_err(failed)?;
    connection.pragma_update(None, "locking_mode", "exclusive").map_err(failed)?;
    match connection.execute_batch("begin exclusive; rollback").map_err(failed) {
        Err(locked @ Error::Locked { .. }) => Err(locked),
        // Damage is why some come here.
        _ => Ok(connection),
    }
}

/// The path of the file SQLite keeps beside the database, such as `-wal`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Whether a rollback journal with something in it lies beside the database.
pub(crate) fn has_journal(path: &Path) -> bool {
    beside(path, "-journal").metadata().is_ok_and(|journal| journal.len() > 0)
}

pub(crate) fn has_write_ahead_log(path: &Path) -> bool {
    beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0)
}
