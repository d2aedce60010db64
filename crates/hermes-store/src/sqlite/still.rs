//! Reads a database beside which SQLite can make no file: the disk is full, or nothing may be written there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::connect::{self, has_journal, has_write_ahead_log};
use crate::{Error, Result};

/// Whether a refusal may mean that no file can be made or grow beside the database, and that it can be read all the same.
pub(crate) fn is_worth_a_try(path: &Path, refusal: &Error) -> bool {
    // A journal may be of a change that was cut short: without undoing it the file is half-written.
    is_for_want_of_room(refusal) && !has_journal(path)
}

/// Whether a refusal may mean that nothing can be written beside the database.
pub(crate) fn is_for_want_of_room(refusal: &Error) -> bool {
    let code = match refusal {
        Error::NotWritable { .. } => return true,
        Error::Database { refusal, .. } => refusal.sqlite_error_code(),
        _ => None,
    };
    matches!(code, Some(ErrorCode::CannotOpen | ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
}

/// Opens a database that nobody else has open, without making or changing a file. What a log holds is seen.
///
/// To be let go after one question (see `is_still`): others wait for it, or it would not notice what they write.
pub(crate) fn open(path: &Path, wait: Duration) -> Result<Connection> {
    let connection = match has_write_ahead_log(path) {
        true => open_with_log(path, wait)?,
        false => {
            connect::refuse_in_use_within(path, wait)?;
            open_immutable(path, wait)?
        }
    };
    let set = connection.pragma_update(None, "temp_store", "memory");
    set.map_err(|source| Error::from_sqlite(path, source))?;
    Ok(connection)
}

/// Whether a connection is one of those that are not kept.
pub(crate) fn is_still(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: String = connection.pragma_query_value(None, "locking_mode", |row| row.get(0))?;
    Ok(mode == "exclusive" || connection.is_readonly("main")?)
}

/// For a file that has no log: SQLite then needs no lock and makes no file.
pub(crate) fn open_immutable(path: &Path, wait: Duration) -> Result<Connection> {
    let absolute = std::path::absolute(path).map_err(|source| Error::File {
        doing: "find",
        path: path.to_owned(),
        source,
    })?;
    let escaped =
        absolute.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let address = PathBuf::from(format!("file:{escaped}?immutable=1"));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    connect::connect_to(path, &address, flags, wait)
}

/// In the mode in which SQLite keeps the index of the log in memory instead of in `-shm`.
///
/// That mode locks the file. One that may not be written cannot be locked so, and needs no lock: it is opened
/// through SQLite's own file system without locks. Never one that may be written: to close it would drop the
/// locks of this process's other connections.
fn open_with_log(path: &Path, wait: Duration) -> Result<Connection> {
    let failed = |source| Error::from_sqlite(path, source);
    let mut connection = connect::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)?;
    if connection.is_readonly("main").map_err(failed)? {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        connection =
            Connection::open_with_flags_and_vfs(path, flags, c"unix-none").map_err(failed)?;
    }
    connect::keep_log(&connection, true).map_err(failed)?;
    connection.pragma_update(None, "locking_mode", "exclusive").map_err(failed)?;
    Ok(connection)
}
