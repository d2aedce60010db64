//! A memory in a database: a SQLite file for each profile, or a PostgreSQL server that many share.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::backend::{self, Connection, Postgres, Transaction, Who};
use super::{Admin, Change, Uid, UserNumber, audit, server, sums};
use crate::rot::Water;
use crate::sqlite::{self, Access, OpenedFile, still};
use crate::{Error, Result, Stop, migrate, stop};

/// An open memory.
#[derive(Debug)]
pub struct Memory {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
    pub(super) access: Access,
    /// Which file it is in; none on a server.
    pub(super) file: Option<OpenedFile>,
    /// The mark that is raised with each change.
    pub(super) water: Option<RefCell<Water>>,
    /// Ends what is read when nobody waits for it.
    pub(super) stop: Stop,
}

/// Which memory the caller wants: a file of another profile is refused.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Where the file is.
    pub path: &'a Path,
    /// The profile it must belong to.
    pub profile: &'a str,
}

/// One state of a memory, for as long as it is looked at.
#[derive(Debug)]
pub struct View<'a>(
    #[expect(dead_code, reason = "it is held, and ends the transaction when it goes")]
    Transaction<'a>,
);

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
        let connection = Connection::Sqlite(connection);
        Ok(Memory {
            connection,
            path: path.to_owned(),
            access,
            file: Some(file),
            water: None,
            stop: Stop::default(),
        })
    }

    /// Reads through a map of the whole file from now on: for a process that answers many questions.
    pub fn map(&self) -> Result<()> {
        let Some(file) = self.connection.sqlite() else { return Ok(()) };
        let mapped = file.pragma_update(None, "mmap_size", MAPPED);
        mapped.map_err(|source| Error::from_sqlite(&self.path, source))
    }

    /// Ends what is read from now on when the flag says so; what writes is never cut off in the middle.
    pub fn heed(&mut self, stop: &Stop) -> Result<()> {
        self.stop = stop.clone();
        if self.access == Access::Write {
            return Ok(());
        }
        let file = match &mut self.connection {
            Connection::Sqlite(file) => file,
            Connection::Postgres(server) => {
                server.heed(stop);
                return Ok(());
            }
        };
        let stop = stop.clone();
        let heeded = file.progress_handler(stop::STEPS, Some(move || stop.is_asked()));
        heeded.map_err(|source| Error::from_sqlite(&self.path, source))
    }

    /// Waits so long at most for others who write, from now on.
    pub fn wait_at_most(&mut self, wait: Duration) -> Result<()> {
        match &mut self.connection {
            Connection::Sqlite(file) => {
                file.busy_timeout(wait).map_err(|source| Error::from_sqlite(&self.path, source))
            }
            Connection::Postgres(server) => {
                server.wait_at_most(wait);
                Ok(())
            }
        }
    }

    /// Whether others wait for this connection, or it would not notice what they write: where no file can be made beside
    /// the database it is read as it stands, and let go after one question.
    pub fn is_still(&self) -> bool {
        self.connection.sqlite().is_some_and(|file| still::is_still(file).unwrap_or(true))
    }

    /// Lets SQLite write ahead or not, if nobody else has the file open; says whether it is so now.
    pub fn write_ahead(&mut self, on: bool) -> Result<bool> {
        let Some(file) = self.connection.sqlite() else { return Ok(true) };
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

    /// Lets all that is read until the view is dropped see one state, whatever others write meanwhile.
    /// It is also cheaper: each statement by itself would ask anew what has changed.
    pub fn view(&self) -> Result<View<'_>> {
        self.connection.unchecked_transaction().map(View).map_err(|source| self.failed(source))
    }

    /// Where the file is; for a memory on a server, a name that says so.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes the new name of the profile that the memory belongs to.
    pub fn rename_profile(&mut self, name: &str) -> Result<()> {
        self.write(Admin, |transaction| {
            transaction.execute("update meta set value = ?1 where key = 'profile'", [name])?;
            server::rename(transaction, name)?;
            Ok(())
        })
    }

    pub(super) fn failed(&self, source: backend::Error) -> Error {
        match source {
            backend::Error::Sqlite(source) => Error::from_sqlite(&self.path, source),
            // The server ended it because its time was over.
            backend::Error::Postgres(source)
                if self.stop.is_asked() && backend::is_cancelled(&source) =>
            {
                Error::Stopped
            }
            backend::Error::Postgres(source) => match self.connection.postgres() {
                Some(server) => server.pool().address().refused(&source),
                None => Error::from_sqlite(&self.path, rusqlite::Error::InvalidQuery),
            },
            backend::Error::Unreached(error) => *error,
        }
    }

    /// The connection, for reading as somebody.
    #[inline]
    pub(super) fn asking(&self, who: impl Into<Who>) -> &Connection {
        self.connection.asks(who);
        &self.connection
    }

    /// Does something in one transaction that takes the write lock at once.
    ///
    /// On a server the whole is done again when the connection is cut before its end; when only the answer to
    /// the commit is lost, the server is asked whether it was done.
    pub(super) fn write<T>(
        &mut self,
        who: impl Into<Who>,
        deed: impl FnMut(&Transaction<'_>) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        self.in_transaction(who.into(), Connection::begin_writing, deed)
    }

    /// The same for rows that are claimed one by one: on a server others may write meanwhile.
    pub(super) fn claim<T>(
        &mut self,
        who: impl Into<Who>,
        deed: impl FnMut(&Transaction<'_>) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        self.in_transaction(who.into(), Connection::begin_claiming, deed)
    }

    /// Fails if the file was replaced or removed since it was opened: nobody would find what is written to it.
    pub(super) fn must_be_in_place(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), OpenedFile::must_be_in_place)
    }

    pub(super) fn in_transaction<T>(
        &mut self,
        who: Who,
        begin: impl for<'c> Fn(&'c Connection) -> backend::Result<Transaction<'c>>,
        mut deed: impl FnMut(&Transaction<'_>) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        if self.access == Access::Read {
            return Err(Error::OpenedForReading { path: self.path.clone() });
        }
        let mut delays = self.connection.postgres().map(Postgres::delays);
        loop {
            self.connection.asks(who);
            let attempt = || -> std::result::Result<T, Refusal> {
                let transaction = begin(&self.connection)?;
                self.must_be_in_place()?;
                let done = deed(&transaction)?;
                let mark = match self.water {
                    Some(_) => audit::mark(&transaction)?,
                    None => None,
                };
                transaction.commit()?;
                if let (Some(water), Some(mark)) = (&self.water, mark) {
                    water.borrow_mut().raise(mark);
                }
                Ok(done)
            };
            let mut attempt = attempt;
            let refusal = match attempt() {
                Ok(done) => return Ok(done),
                Err(Refusal::Rule(error)) => return Err(error),
                Err(Refusal::Database(source)) => source,
            };
            match delays.as_mut().filter(|_| backend::can_pass(&refusal)).and_then(Iterator::next) {
                Some(delay) => std::thread::sleep(delay),
                None => return Err(self.failed(refusal)),
            }
        }
    }

    /// Does something that removes rows which others refer to, having removed those before.
    ///
    /// SQLite would look for them again, through every message for each episode: there is no index
    /// from an episode to its messages, since their numbers say where they are.
    pub(super) fn removing<T>(&mut self, deed: impl FnOnce(&mut Memory) -> Result<T>) -> Result<T> {
        self.set("foreign_keys", "off")?;
        let done = deed(self);
        self.set("foreign_keys", "on")?;
        done
    }

    /// The bytes of what is deleted, now or earlier, are overwritten, in the keyword index too, and
    /// the log is folded in. A server overwrites them when it cleans up after itself.
    ///
    /// Slow in a large memory, since the whole keyword index is written anew.
    pub(super) fn without_a_trace<T>(
        &mut self,
        who: impl Into<Who>,
        mut deed: impl FnMut(&Transaction<'_>) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        let who = who.into();
        if self.connection.sqlite().is_none() {
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

    pub(super) fn set(&self, pragma: &str, value: &str) -> Result<()> {
        let Some(file) = self.connection.sqlite() else { return Ok(()) };
        let done = file.pragma_update(None, pragma, value);
        done.map_err(|source| Error::from_sqlite(&self.path, source))
    }
}

/// Fills every page that is free with zeros: what was deleted earlier may still be in them.
fn overwrite_free_pages(transaction: &Transaction<'_>) -> Outcome<()> {
    let Some(file) = transaction.sqlite() else { return Ok(()) };
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

/// Why a change inside a transaction was not made; the transaction is rolled back.
#[derive(Debug)]
pub(super) enum Refusal {
    Database(backend::Error),
    Rule(Error),
}

impl From<backend::Error> for Refusal {
    fn from(source: backend::Error) -> Refusal {
        Refusal::Database(source)
    }
}

impl From<rusqlite::Error> for Refusal {
    fn from(source: rusqlite::Error) -> Refusal {
        Refusal::Database(source.into())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Refusal {
        Refusal::Rule(error)
    }
}

/// The result of a step inside a transaction.
pub(super) type Outcome<T> = std::result::Result<T, Refusal>;

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

pub(super) fn new_uid(now: Timestamp) -> Uid {
    let mut chance = [0; 10];
    for part in chance.chunks_mut(3) {
        part.copy_from_slice(&crate::sessions::random_bytes()[..part.len()]);
    }
    Uid::new(now, chance)
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
pub(super) const ADD_META: &str = "insert into meta (key, value) values (?1, ?2)";
pub(super) const ADD_USER: &str =
    "insert into \"user\" (id, uid, name, created_at) values (?1, ?2, ?3, ?4)";
