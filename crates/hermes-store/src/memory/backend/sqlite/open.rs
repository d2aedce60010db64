//! Opens a memory in a file, and what only a file has: maps, logs, pages.

use std::path::Path;
use std::time::Duration;

use super::{File, sums};
use crate::memory::backend::{Connection, Who};
use crate::memory::{ADD_META, ADD_USER, Change, Memory, Outcome, Refusal, UserNumber, new_uid};
use crate::sqlite::{self, Access, still};
use crate::{Error, Result, Stop, migrate};

/// Which memory the caller wants: a file of another profile is refused.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Where the file is.
    pub path: &'a Path,
    /// The profile it must belong to.
    pub profile: &'a str,
}

impl Memory {
    /// Makes a new, empty memory; fails if there is a file at the path.
    pub fn create(wanted: Wanted<'_>, owner: &str, change: Change<'_>) -> Result<()> {
        let failed = |source| Error::from_sqlite(wanted.path, source);
        sqlite::create_with_pages(wanted.path, PAGE_SIZE, |connection| {
            migrate::apply(connection, migrate::MEMORY).map_err(failed)?;
            let home_id = new_uid(change.at).to_string();
            let entries =
                [("profile", wanted.profile), ("home_id", home_id.as_str()), ("owner", owner)];
            for (key, value) in entries {
                connection.execute(ADD_META, (key, value)).map_err(failed)?;
            }
            for (number, name) in [(UserNumber::SHARED, ""), (UserNumber::OWNER, owner)] {
                let uid = new_uid(change.at);
                let at = change.at.as_millisecond();
                connection
                    .execute(ADD_USER, (number.get(), uid.as_bytes(), name, at))
                    .map_err(failed)?;
            }
            Ok(())
        })
    }

    /// Opens a memory that exists, and brings it up to the newest schema first, whatever it is opened for.
    pub fn open(wanted: Wanted<'_>, access: Access, wait: Duration) -> Result<Memory> {
        Memory::open_keeping(wanted, access, wait, &mut |_| Ok(()))
    }

    /// The same; `keep` hears the number of an older schema before anything is changed, and may refuse.
    pub fn open_keeping(
        wanted: Wanted<'_>,
        access: Access,
        wait: Duration,
        keep: &mut dyn FnMut(i64) -> Result<()>,
    ) -> Result<Memory> {
        let path = wanted.path;
        let failed = |source| Error::from_sqlite(path, source);
        let (mut connection, mut file) = sqlite::open_known(path, access, wait)?;
        let found = refuse_other(&connection, wanted)?;
        let known = migrate::newest(migrate::MEMORY);
        if found < known {
            keep(found)?;
        }
        if found < known && access == Access::Read {
            drop(connection);
            upgrade(path, wait, found)?;
            (connection, file) = sqlite::open_known(path, access, wait)?;
        }
        if access == Access::Write {
            migrate::apply(&mut connection, migrate::MEMORY).map_err(failed)?;
            migrate::refuse_newer(&connection, path, migrate::MEMORY)?;
            // Zeros over what is deleted wherever that needs no further writing.
            connection.pragma_update(None, "secure_delete", "fast").map_err(failed)?;
            sums::keep(&connection).map_err(failed)?;
        } else {
            // A question or two read less than it costs to map the file and to let it go.
            connection.pragma_update(None, "mmap_size", 0).map_err(failed)?;
            sqlite::forbid_writing(&connection).map_err(failed)?;
        }
        connection.set_prepared_statement_cache_capacity(64);
        sqlite::keep_plans(&connection).map_err(failed)?;
        Ok(Memory {
            connection: Box::new(File { connection, opened: file }),
            path: path.to_owned(),
            access,
            water: None,
            stop: Stop::default(),
        })
    }

    /// Reads through a map of the whole file from now on: for a process that answers many questions.
    pub fn map(&self) -> Result<()> {
        let Some(file) = self.connection.file().map(|file| &file.connection) else { return Ok(()) };
        let mapped = file.pragma_update(None, "mmap_size", MAPPED);
        mapped.map_err(|source| Error::from_sqlite(&self.path, source))
    }

    /// Whether others wait for this connection, or it would not notice what they write: where no file can be made beside
    /// the database it is read as it stands, and let go after one question.
    pub fn is_still(&self) -> bool {
        self.connection.file().is_some_and(|file| still::is_still(&file.connection).unwrap_or(true))
    }

    /// Lets SQLite write ahead or not, if nobody else has the file open; says whether it is so now.
    pub fn write_ahead(&mut self, on: bool) -> Result<bool> {
        let Some(file) = self.connection.file().map(|file| &file.connection) else {
            return Ok(true);
        };
        let failed = |source| Error::from_sqlite(&self.path, source);
        let mode = || -> rusqlite::Result<String> {
            file.pragma_query_value(None, "journal_mode", |row| row.get(0))
        };
        let wanted = if on { "wal" } else { "delete" };
        if mode().map_err(failed)? == wanted {
            return Ok(true);
        }
        // Whoever uses the file meanwhile is not to be waited for: the next one who opens it tries again.
        let wait: u32 =
            file.pragma_query_value(None, "busy_timeout", |row| row.get(0)).map_err(failed)?;
        let set = || -> rusqlite::Result<()> {
            file.busy_timeout(Duration::ZERO)?;
            let changed = file.pragma_update(None, "journal_mode", wanted);
            file.busy_timeout(Duration::from_millis(u64::from(wait)))?;
            changed
        };
        match set().map_err(failed) {
            Ok(()) | Err(Error::Locked { .. }) => {}
            Err(error) => return Err(error),
        }
        Ok(mode().map_err(failed)? == wanted)
    }

    /// Does something that removes rows which others refer to, having removed those before.
    ///
    /// SQLite would look for them again, through every message for each episode: there is no index
    /// from an episode to its messages, since their numbers say where they are.
    pub(in crate::memory) fn removing<T>(
        &mut self,
        deed: impl FnOnce(&mut Memory) -> Result<T>,
    ) -> Result<T> {
        self.set("foreign_keys", "off")?;
        let done = deed(self);
        self.set("foreign_keys", "on")?;
        done
    }

    /// The bytes of what is deleted, now or earlier, are overwritten, in the keyword index too, and
    /// the log is folded in. A server overwrites them when it cleans up after itself.
    ///
    /// Slow in a large memory, since the whole keyword index is written anew.
    pub(in crate::memory) fn without_a_trace<T>(
        &mut self,
        who: impl Into<Who>,
        mut deed: impl FnMut(&Connection) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        let who = who.into();
        if self.connection.file().is_none() {
            return self.write(who, deed);
        }
        self.set("secure_delete", "on")?;
        let done = self.write(who, |transaction| {
            let done = deed(transaction)?;
            transaction.execute(OPTIMIZE, [])?;
            overwrite_free_pages(transaction)?;
            Ok(done)
        });
        self.set("secure_delete", "fast")?;
        let done = done?;
        // Another reader may hold on to the log, or the disk may fail: what was asked for is done all the same, and
        // the log is folded in by whoever closes the file.
        drop(self.connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())));
        Ok(done)
    }

    fn set(&self, pragma: &str, value: &str) -> Result<()> {
        let Some(file) = self.connection.file().map(|file| &file.connection) else { return Ok(()) };
        let done = file.pragma_update(None, pragma, value);
        done.map_err(|source| Error::from_sqlite(&self.path, source))
    }
}

/// Fills every page that is free with zeros: what was deleted earlier may still be in them.
fn overwrite_free_pages(transaction: &Connection) -> Outcome<()> {
    let Some(file) = transaction.file().map(|file| &file.connection) else { return Ok(()) };
    let read = |pragma| file.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let mut left = read("freelist_count")? * read("page_size")?;
    transaction.execute_batch("create table filler (zeros blob)")?;
    while left > 0 {
        let some = left.min(MOST_ZEROS);
        transaction.execute("insert into filler (zeros) values (zeroblob(?1))", [some])?;
        left -= some;
    }
    Ok(transaction.execute_batch("drop table filler")?)
}

/// Fails for a file of a later version, of another profile, or that is no memory; else its schema number.
fn refuse_other(connection: &rusqlite::Connection, wanted: Wanted<'_>) -> Result<i64> {
    let path = wanted.path.to_owned();
    let failed = |source| Error::from_sqlite(wanted.path, source);
    migrate::refuse_newer(connection, wanted.path, migrate::MEMORY)?;
    let found = migrate::applied(connection).map_err(failed)?;
    if found == 0 || !has_meta(connection).map_err(failed)? {
        return Err(Error::NotMemory { path });
    }
    let profile: String = connection
        .query_row("select value from meta where key = 'profile'", [], |row| row.get(0))
        .map_err(failed)?;
    if profile != wanted.profile {
        let wanted = wanted.profile.to_owned();
        return Err(Error::OtherProfile { path, found: profile, wanted });
    }
    Ok(found)
}

/// Brings a file that will only be read up to the newest schema, through a connection of its own.
fn upgrade(path: &Path, wait: Duration, found: i64) -> Result<()> {
    let upgraded = sqlite::open(path, Access::Write, wait).and_then(|mut connection| {
        migrate::apply(&mut connection, migrate::MEMORY)
            .map_err(|source| Error::from_sqlite(path, source))
    });
    let known = migrate::newest(migrate::MEMORY);
    upgraded.map_err(|error| match error {
        Error::NotWritable { path } => Error::OlderSchema { path, found, known },
        // The log cannot be made in a folder that may not be written.
        Error::Database { path, refusal }
            if refusal.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen) =>
        {
            Error::OlderSchema { path, found, known }
        }
        other => other,
    })
}

fn has_meta(connection: &rusqlite::Connection) -> rusqlite::Result<bool> {
    connection.query_row(HAS_META, [], |row| row.get(0))
}

/// A vector is a row of 270 bytes: in pages of 4096 a fourteenth of each stays empty.
const PAGE_SIZE: u32 = 8192;

/// As much of the file as SQLite will map: every search goes over all codes, and copying them through
/// its page cache takes longer than comparing them.
const MAPPED: i64 = 0x7fff_0000;

/// How large a row of zeros may be: SQLite has a limit of a billion bytes.
const MOST_ZEROS: i64 = 1 << 29;

const OPTIMIZE: &str = "insert into chunk_words (chunk_words) values ('optimize')";
const HAS_META: &str =
    "select exists (select 1 from sqlite_schema where type = 'table' and name = 'meta')";
