//! A memory in a SQLite file.

mod code_check;
mod index;
mod marked;
mod open;
mod recording;
mod search;
mod segments;
mod sums;
mod upkeep;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::types::Value;

use self::recording::FileRecording;
use super::{
    Backend, Begin, Both, Connection, Error, Index, List, Many, OptionalExtension, Recording,
    Result, Row, Statement, Who,
};
use crate::memory::episodes::{MESSAGES, ONE, episode_of, message_of};
use crate::memory::{ChunkKey, Episode, Message, UserNumber};
use crate::migrate;
use crate::postgres::Delays;
use crate::sqlite::{Access, OpenedFile};
use crate::{Stop, stop};

pub use self::open::Wanted;
pub use self::sums::compare_memory;

/// An open file.
#[derive(Debug)]
pub(in crate::memory) struct File {
    connection: rusqlite::Connection,
    /// Which file it is: nothing is written once another lies in its place.
    opened: OpenedFile,
}

impl File {
    /// Seen as what a statement is run on.
    fn as_backend(&self) -> &Connection {
        self
    }
}

impl Backend for File {
    #[inline]
    fn statement(&self, sql: &str, is_kept: bool) -> Result<Statement<'_>> {
        Ok(match is_kept {
            true => Statement::Cached(self.connection.prepare_cached(sql)?),
            false => Statement::Plain(self.connection.prepare(sql)?),
        })
    }

    fn execute_batch(&self, sql: &str) -> Result<()> {
        Ok(self.connection.execute_batch(sql)?)
    }

    fn choose(&self, both: &Both) -> &'static str {
        both.file
    }

    fn many(
        &self,
        many: &Many,
        first: &[i64],
        list: List<'_>,
        read: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut statement = self.connection.prepare_cached(many.each)?;
        let mut ask = |last: &dyn rusqlite::ToSql| -> Result<()> {
            let firsts = first.iter().map(|value| value as &dyn rusqlite::ToSql);
            let values = firsts.chain(std::iter::once(last));
            let mut rows = statement.query(rusqlite::params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                read(&Row::Sqlite(row))?;
            }
            Ok(())
        };
        match list {
            List::Numbers(numbers) => numbers.iter().try_for_each(|number| ask(number)),
            List::Words(words) => words.iter().try_for_each(|word| ask(word)),
        }
    }

    /// A file keeps nobody apart: the statements do.
    fn asks(&self, _: Who) {}

    fn as_keeper(&self, deed: &mut dyn FnMut()) {
        deed();
    }

    fn begin(&self, what: Begin) -> Result<bool> {
        if what == Begin::Reading {
            if !self.connection.is_autocommit() {
                return Ok(false);
            }
            return Ok(self.connection.execute_batch("begin deferred").map(|()| true)?);
        }
        self.connection.execute_batch("begin immediate")?;
        self.must_fit().inspect_err(|_| self.roll_back())?;
        Ok(true)
    }

    fn commit(&self) -> Result<()> {
        Ok(self.connection.execute_batch("commit")?)
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            drop(self.connection.execute_batch("rollback"));
        }
    }

    /// SQLite itself waits for others.
    fn delays(&self) -> Option<Delays> {
        None
    }

    fn heed(&mut self, stop: &Stop) -> Result<()> {
        let stop = stop.clone();
        Ok(self.connection.progress_handler(stop::STEPS, Some(move || stop.is_asked()))?)
    }

    fn wait_at_most(&mut self, wait: Duration) -> Result<()> {
        Ok(self.connection.busy_timeout(wait)?)
    }

    fn explained(&self, error: Error, path: &Path) -> crate::Error {
        match error {
            Error::Sqlite(source) => crate::Error::from_sqlite(path, source),
            Error::Unreached(error) => *error,
            Error::Postgres(_) => crate::Error::from_sqlite(path, rusqlite::Error::InvalidQuery),
        }
    }

    /// Nobody else writes meanwhile.
    fn await_turn(&self) -> Result<()> {
        Ok(())
    }

    fn hold_sessions(&self, _: UserNumber) -> Result<bool> {
        Ok(false)
    }

    /// SQLite gives it.
    fn put_off(&self, _: &str, _: &dyn Fn() -> Result<Vec<Value>>) -> Result<bool> {
        Ok(false)
    }

    fn number_for(&self, _: &'static str) -> Result<Option<i64>> {
        Ok(None)
    }

    fn storable<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    fn recording(&self) -> Box<dyn Recording + '_> {
        Box::new(FileRecording(self))
    }

    fn index(&self) -> &dyn Index {
        self
    }

    fn episodes(&self, ids: &[i64]) -> Result<Vec<Episode>> {
        let mut found = Vec::with_capacity(ids.len());
        let mut one = self.as_backend().prepare_cached(ONE)?;
        for id in ids {
            found.extend(one.query_row([id], episode_of).optional()?);
        }
        Ok(found)
    }

    fn messages(&self, keys: &[i64]) -> Result<Vec<Message>> {
        let mut found = Vec::with_capacity(keys.len());
        let mut some = self.as_backend().prepare_cached(MESSAGES)?;
        for key in keys {
            found.extend(some.query_row([*key, *key], message_of).optional()?);
        }
        Ok(found)
    }

    /// Each question to a file costs little.
    fn expect(&self, _: &[ChunkKey]) -> Result<()> {
        Ok(())
    }

    fn messages_at_hand(&self, _: i64) -> Option<Vec<Message>> {
        None
    }

    fn has_no_facts(&self, _: i64) -> bool {
        false
    }

    fn make_import_tables(&self) -> Result<()> {
        self.execute_batch(IMPORT_TABLES)
    }

    /// The name stands in the memory alone.
    fn rename(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn size(&self) -> Result<u64> {
        upkeep::size(&self.connection)
    }

    fn vacuum(&self, now: Timestamp) -> Result<()> {
        self.opened.must_be_in_place()?;
        upkeep::shrink(self, now)
    }

    fn problems(&self, access: Access) -> Result<(Vec<String>, Vec<String>)> {
        upkeep::problems(self, access)
    }

    fn file(&self) -> Option<&File> {
        Some(self)
    }

    fn server(&self) -> Option<&super::postgres::Server> {
        None
    }
}

impl File {
    /// A later version may have upgraded the file since it was opened, and what this one would write does not fit
    /// then; or it was replaced, and nobody would find what is written to it.
    fn must_fit(&self) -> Result<()> {
        let path = Path::new(self.connection.path().unwrap_or_default());
        migrate::refuse_newer(&self.connection, path, migrate::MEMORY)?;
        Ok(self.opened.must_be_in_place()?)
    }
}

// They are gone when the connection is.
const IMPORT_TABLES: &str = "
    create temp table if not exists import_moved (
      kind integer not null, old integer not null, new integer not null, primary key (kind, old)
    ) without rowid;
    create temp table if not exists import_later (
      what integer not null, item integer not null, old integer not null);
    create temp table if not exists import_session_end (
      session integer primary key, messages integer, dropped integer);
    create temp table if not exists import_seen_receipt (
      id integer primary key, at integer not null, user_id integer not null);
    create temp table if not exists import_waiting_name (
      old integer primary key, fields text not null);
    create index if not exists temp.import_seen_receipt_by_time on import_seen_receipt (at, user_id)";
