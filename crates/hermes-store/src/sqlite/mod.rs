//! Open a SQLite file the one right way, and never make one by accident.

mod connect;
mod log_fits;
pub(crate) mod still;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::{Error, Result};
use connect::{connect, keep_log, refuse_in_use_within};

pub(crate) use connect::{beside, has_journal, has_write_ahead_log};

/// How long to wait for another program's lock, unless the caller knows better.
pub const DEFAULT_WAIT: Duration = Duration::from_secs(10);

/// What the caller is going to do with the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Look only: the file keeps every byte and no file is left beside it.
    Read,
    /// Look and change.
    Write,
}

/// The version of SQLite that this program carries.
pub fn version() -> &'static str {
    rusqlite::version()
}

/// Opens a database that exists; fails if it is missing, locked, damaged or not a database.
pub fn open(path: &Path, access: Access, wait: Duration) -> Result<Connection> {
    refuse_unfit(path)?;
    let connection = match access {
        Access::Read => open_for_reading(path, wait),
        Access::Write => open_for_writing(path, wait),
    }?;
    refuse_truncated(path, &connection)?;
    Ok(connection)
}

/// Which file was opened at a path: tells it from another one that was put there, and from none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenedFile {
    path: PathBuf,
    number: Option<(u64, u64)>,
}

impl OpenedFile {
    /// Fails if the path leads to another file now, or to none: what is written would not be found again.
    pub(crate) fn must_be_in_place(&self) -> Result<()> {
        if file_number(&self.path) == self.number {
            return Ok(());
        }
        Err(Error::Replaced { path: self.path.clone() })
    }
}

/// Opens a database that exists, and says which file that is.
pub(crate) fn open_known(
    path: &Path,
    access: Access,
    wait: Duration,
) -> Result<(Connection, OpenedFile)> {
    let opened = OpenedFile { path: path.to_owned(), number: file_number(path) };
    let connection = open(path, access, wait)?;
    // Replaced while it was opened, it may be either.
    opened.must_be_in_place()?;
    Ok((connection, opened))
}

/// The device and number of the file that a path leads to; none where there is none.
fn file_number(path: &Path) -> Option<(u64, u64)> {
    path.metadata().ok().map(|found| (found.dev(), found.ino()))
}

/// Builds a new database whole in a temporary file, then gives it its name; fails if that is taken.
pub fn create(path: &Path, build: impl FnOnce(&mut Connection) -> Result<()>) -> Result<()> {
    create_with_pages(path, 4096, build)
}

/// The same with pages of another size than the usual; many rows of a quarter page leave less room unused.
pub(crate) fn create_with_pages(
    path: &Path,
    page_size: u32,
    build: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<()> {
    // Looked for first: one of a database that was made just now belongs to it.
    let left_over = left_over_log(path);
    if path.symlink_metadata().is_ok() {
        return Err(Error::Exists { path: path.to_owned() });
    }
    if let Some(log) = left_over {
        return Err(Error::LeftOverLog { path: path.to_owned(), log });
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed =
        |source| Error::File { doing: "create a database in", path: folder.to_owned(), source };
    // The handle is closed before SQLite opens the file: closing it later would drop SQLite's locks.
    let unnamed = tempfile::Builder::new()
        .prefix(".new-")
        .suffix(".db")
        .tempfile_in(folder)
        .map_err(failed)?
        .into_temp_path();
    build_at(&unnamed, page_size, build)?;
    unnamed.persist_noclobber(path).map_err(|refused| {
        if refused.error.kind() == std::io::ErrorKind::AlreadyExists {
            return Error::Exists { path: path.to_owned() };
        }
        Error::File { doing: "create", path: path.to_owned(), source: refused.error }
    })?;
    sync_folder(folder)
}

/// Opens a database for commands that FTS5 takes as inserts and the caller takes back: a log left
/// by a crash stays a log.
pub(crate) fn open_for_checking(path: &Path, wait: Duration) -> Result<Connection> {
    refuse_unfit(path)?;
    let has_log = has_write_ahead_log(path);
    let connection = open_for_writing(path, wait)?;
    keep_log(&connection, has_log).map_err(|source| Error::from_sqlite(path, source))?;
    refuse_truncated(path, &connection)?;
    Ok(connection)
}

/// Opens a database whose pages are copied: read once each, so nothing is kept of them in memory.
///
/// A journal beside it may be one that a crash left: such a database is only looked at, and fails
/// with `NotWritable`, since SQLite would have to undo the half-written change first.
pub(crate) fn open_for_copying(path: &Path, wait: Duration) -> Result<Connection> {
    refuse_unfit(path)?;
    let connection = if has_journal(path) {
        connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, wait)?
    } else {
        open_for_reading(path, wait)?
    };
    connection
        .pragma_update(None, "mmap_size", 0)
        .map_err(|source| Error::from_sqlite(path, source))?;
    refuse_truncated(path, &connection)?;
    Ok(connection)
}

/// Opens an empty file that pages are copied into; if that fails the file is of no use anyway.
pub(crate) fn open_for_pages(path: &Path) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, DEFAULT_WAIT)?;
    let failed = |source| Error::from_sqlite(path, source);
    connection.pragma_update(None, "journal_mode", "off").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "off").map_err(failed)?;
    connection.pragma_update(None, "locking_mode", "exclusive").map_err(failed)?;
    Ok(connection)
}

/// Opens a damaged database to read what is left; SQLite would refuse one that is cut short.
pub(crate) fn open_damaged(path: &Path, wait: Duration) -> Result<Connection> {
    refuse_missing_or_empty(path)?;
    let connection = open_for_reading(path, wait)?;
    let failed = |source| Error::from_sqlite(path, source);
    connection.pragma_update(None, "writable_schema", true).map_err(failed)?;
    forbid_writing(&connection).map_err(failed)?;
    Ok(connection)
}

/// Fails if another connection, of this process or another, has the database open.
pub fn refuse_in_use(path: &Path) -> Result<()> {
    refuse_in_use_within(path, Duration::ZERO)
}

/// Makes a renamed or new name in the folder survive a power cut.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    std::fs::File::open(folder).and_then(|opened| opened.sync_all()).map_err(|source| Error::File {
        doing: "write to",
        path: folder.to_owned(),
        source,
    })
}

fn build_at(
    path: &Path,
    page_size: u32,
    build: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<()> {
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, DEFAULT_WAIT)?;
    let failed = |source| Error::from_sqlite(path, source);
    connection.pragma_update(None, "page_size", page_size).map_err(failed)?;
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    set_up_writer(&connection).map_err(failed)?;
    build(&mut connection)?;
    connection.close().map_err(|(_, source)| failed(source))
}

fn open_for_writing(path: &Path, wait: Duration) -> Result<Connection> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)?;
    let failed = |source| Error::from_sqlite(path, source);
    if connection.is_readonly("main").map_err(failed)? {
        return Err(Error::NotWritable { path: path.to_owned() });
    }
    set_up_writer(&connection).map_err(failed)?;
    Ok(connection)
}

fn set_up_writer(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "full")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)
}

/// A reader may write the `-shm` file, so that the last one to close takes `-wal` and `-shm` away. Where that file
/// cannot be made, the database is read without it.
fn open_for_reading(path: &Path, wait: Duration) -> Result<Connection> {
    match open_with_index(path, wait) {
        Err(refusal) if still::is_worth_a_try(path, &refusal) => {
            still::open(path, wait).map_err(|_| refusal)
        }
        other => other,
    }
}

fn open_with_index(path: &Path, wait: Duration) -> Result<Connection> {
    let failed = |source| Error::from_sqlite(path, source);
    let has_log = has_write_ahead_log(path);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, wait)?;
    // With a journal beside it, it may be half-written: then SQLite itself says so.
    if connection.is_readonly("main").map_err(failed)? && !has_log && !has_journal(path) {
        connection = still::open_immutable(path, wait)?;
    }
    keep_log(&connection, has_log).map_err(failed)?;
    connection.pragma_update(None, "temp_store", "memory").map_err(failed)?;
    connection.pragma_update(None, "mmap_size", 256 * 1024 * 1024).map_err(failed)?;
    // The first read is what needs the files beside it. Damage is for whoever reads on.
    let read = connection.pragma_query_value(None, "schema_version", |_| Ok(()));
    match read.map_err(failed) {
        Err(refusal) if still::is_worth_a_try(path, &refusal) => Err(refusal),
        _ => Ok(connection),
    }
}

/// Keeps the plan of a statement when other values are bound to it: with statistics compiled in,
/// SQLite would parse a statement with ranges anew each time, a sixth of the work of a search.
pub(crate) fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// The last call of a reader's set-up, after its temporary views are made.
pub(crate) fn forbid_writing(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "query_only", true)
}

/// Fails for what must not be opened at all.
fn refuse_unfit(path: &Path) -> Result<()> {
    refuse_missing_or_empty(path)?;
    if has_write_ahead_log(path) { log_fits::refuse_foreign(path) } else { Ok(()) }
}

fn refuse_missing_or_empty(path: &Path) -> Result<()> {
    let found = match path.metadata() {
        Ok(found) => found,
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => {
            return Err(Error::Missing { path: path.to_owned() });
        }
        Err(source) => return Err(Error::File { doing: "read", path: path.to_owned(), source }),
    };
    let why = if found.is_dir() {
        "it is a folder"
    } else if found.len() == 0 {
        crate::error::EMPTY
    } else {
        return Ok(());
    };
    Err(Error::Damaged { path: path.to_owned(), why: why.to_owned() })
}

/// A log beside the path, which SQLite would play into a new database of that name.
fn left_over_log(path: &Path) -> Option<PathBuf> {
    let has_content = |log: &PathBuf| log.metadata().is_ok_and(|found| found.len() > 0);
    ["-wal", "-journal"].map(|suffix| beside(path, suffix)).into_iter().find(has_content)
}

/// Reads the header, so that a file that is no database is refused here and not at the first query.
fn refuse_truncated(path: &Path, connection: &Connection) -> Result<()> {
    let failed = |source| Error::from_sqlite(path, source);
    let pages: u32 =
        connection.pragma_query_value(None, "page_count", |row| row.get(0)).map_err(failed)?;
    let page_size: u32 =
        connection.pragma_query_value(None, "page_size", |row| row.get(0)).map_err(failed)?;
    let whole = u64::from(pages) * u64::from(page_size);
    let size = path.metadata().map(|found| found.len()).unwrap_or(0);
    // With a log beside it the main file may rightly be the shorter one.
    if size < whole && !has_write_ahead_log(path) {
        let why = format!("the file is truncated: it has {size} of {whole} bytes");
        return Err(Error::Damaged { path: path.to_owned(), why });
    }
    Ok(())
}
