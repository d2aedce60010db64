//! Whether the log beside a database is its own: SQLite plays in whatever lies there.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::sqlite::{self, beside};
use crate::{Error, Result, still};

/// Fails if the log beside the database was written for another one.
///
/// A database that was put in the place of one with a log, or copied over it, would get pages of that other one.
/// The two are read only where the times of the files say that the database came after its log, and nobody has
/// it open: what fits is taken in by the next writer, so this is done once.
pub(crate) fn refuse_foreign(path: &Path) -> Result<()> {
    let log = beside(path, "-wal");
    let Some(log_pages) = page_size_of(&log) else { return Ok(()) };
    let is_settled = !came_after(path, &log)
        || sqlite::refuse_in_use_within(path, Duration::ZERO).is_err()
        || fits(path, log_pages);
    match is_settled {
        true => Ok(()),
        false => Err(Error::ForeignLog { path: path.to_owned(), log }),
    }
}

/// Whether the database is one with its log. One that is not whole without it either is left to whoever repairs.
fn fits(path: &Path, log_pages: u32) -> bool {
    let Ok(alone) = still::open_immutable(path, Duration::ZERO) else { return true };
    let pages: u32 =
        alone.pragma_query_value(None, "page_size", |row| row.get(0)).unwrap_or(log_pages);
    if pages != log_pages {
        return false;
    }
    let with_log = still::open(path, Duration::ZERO);
    with_log.is_ok_and(|together| is_whole(&together)) || !is_whole(&alone)
}

fn is_whole(connection: &Connection) -> bool {
    let said: rusqlite::Result<String> =
        connection.query_row("pragma integrity_check(1)", [], |row| row.get(0));
    said.is_ok_and(|said| said == "ok")
}

/// A log is made after its database, and written before what is in it goes there.
fn came_after(path: &Path, log: &Path) -> bool {
    let (Ok(file), Ok(log)) = (path.metadata(), log.metadata()) else { return false };
    let is_later = |file: std::io::Result<_>, log: std::io::Result<_>| matches!((file, log), (Ok(file), Ok(log)) if file > log);
    is_later(file.created(), log.created()) || is_later(file.modified(), log.modified())
}

/// The size of pages that a log is for; none if it has no whole head, and so nothing that SQLite would play in.
fn page_size_of(log: &Path) -> Option<u32> {
    let mut head = [0; 32];
    File::open(log).ok()?.read_exact(&mut head).ok()?;
    let number = |at: usize| head[at..at + 4].try_into().map_or(0, u32::from_be_bytes);
    (number(0) & !1 == 0x377f_0682).then(|| number(8))
}
