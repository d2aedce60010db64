//! The databases a memory can be in: a SQLite file for each profile, or a PostgreSQL server that many share.
//!
//! Statements are written once, in words that both understand. The calls are those of rusqlite. A file gets them as
//! they are; for a server `?1` is written `$1`, the rules of its tables narrow every statement to the profile, and it
//! is told inside the transaction who asks. What the two do differently is the trait [`Backend`].

mod params;
pub(super) mod postgres;
pub(super) mod sqlite;
mod statement;

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use ::postgres::error::SqlState;
use jiff::Timestamp;
use rusqlite::types::{FromSqlError, Value};

use super::recorder::Row as MessageRow;
use super::vector_model::Model;
use super::{
    Admin, ChunkKey, ChunkRow, Episode, Extent, ItemKind, Message, MessageHead, Near, NewChunk,
    Outcome, Postings, QuestionVector, RecallFilter, Scope, UserNumber, graves,
};
use crate::Stop;
use crate::postgres::{Delays, is_retriable};
use crate::sqlite::Access;

pub(super) use self::params::{Params, params_from_iter};
pub(super) use self::statement::{Row, Rows, Statement};
pub(super) use rusqlite::ToSql;

/// Why a statement failed.
#[derive(Debug)]
pub(crate) enum Error {
    /// SQLite said so, or a column is not what it should be.
    Sqlite(rusqlite::Error),
    /// PostgreSQL said so, or the connection broke.
    Postgres(::postgres::Error),
    /// No connection could be had, or to a database that a later version has upgraded.
    Unreached(Box<crate::Error>),
}

/// A statement that the two databases say differently.
#[derive(Debug, Clone, Copy)]
pub(super) struct Both {
    pub(super) file: &'static str,
    pub(super) server: &'static str,
}

/// A row that is changed where it is there, else added. The values are the same.
#[derive(Debug, Clone, Copy)]
pub(super) struct Put {
    pub(super) change: &'static str,
    pub(super) add: &'static str,
}

/// The result of a statement.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether a rule of a table was broken: a value that must be unique, or is missing.
    pub(super) fn is_constraint(&self) -> bool {
        use rusqlite::ErrorCode::{ConstraintViolation, TypeMismatch};
        match self {
            Error::Sqlite(source) => {
                matches!(source.sqlite_error_code(), Some(ConstraintViolation | TypeMismatch))
            }
            // Class 22: a value that a column cannot hold; 23: a constraint; 42804, 42883: another type.
            Error::Postgres(source) => source.code().is_some_and(|code| {
                let code = code.code();
                code.starts_with("22")
                    || code.starts_with("23")
                    || matches!(code, "42804" | "42883")
            }),
            Error::Unreached(_) => false,
        }
    }

    /// Whether the same may work a moment later.
    pub(super) fn can_pass(&self) -> bool {
        match self {
            Error::Sqlite(_) => false,
            Error::Postgres(source) => is_retriable(source),
            Error::Unreached(source) => source.is_retriable(),
        }
    }

    /// Whether somebody else added the same at the same time.
    pub(super) fn is_taken(&self) -> bool {
        let Error::Postgres(source) = self else { return false };
        source.code() == Some(&SqlState::UNIQUE_VIOLATION)
    }

    /// What the database said, without the statement.
    pub(super) fn words(&self) -> String {
        match self {
            Error::Sqlite(source) => crate::error::words_of(source),
            Error::Postgres(source) => match source.as_db_error() {
                Some(said) => said.message().to_owned(),
                None => source.to_string(),
            },
            Error::Unreached(source) => source.to_string(),
        }
    }

    fn no_rows() -> Error {
        Error::Sqlite(rusqlite::Error::QueryReturnedNoRows)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Sqlite(source) => source.fmt(f),
            Error::Postgres(source) => source.fmt(f),
            Error::Unreached(source) => source.fmt(f),
        }
    }
}

impl From<rusqlite::Error> for Error {
    fn from(source: rusqlite::Error) -> Error {
        Error::Sqlite(source)
    }
}

impl From<FromSqlError> for Error {
    fn from(source: FromSqlError) -> Error {
        Error::Sqlite(source.into())
    }
}

impl From<::postgres::Error> for Error {
    fn from(source: ::postgres::Error) -> Error {
        Error::Postgres(source)
    }
}

impl From<crate::Error> for Error {
    fn from(source: crate::Error) -> Error {
        Error::Unreached(Box::new(source))
    }
}

/// A row that need not be there.
pub(super) trait OptionalExtension<T> {
    /// None where there was no row.
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(found) => Ok(Some(found)),
            Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
            Err(other) => Err(other),
        }
    }
}

/// Who asks, as the server is told: it lets nobody see the rows of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Somebody who was not named: sees nothing.
    Nobody,
    /// One user: their own rows and the shared ones.
    User(i64),
    /// The one who looks after the memory of this profile.
    All,
}

impl From<Scope> for Who {
    fn from(scope: Scope) -> Who {
        Who::User(scope.user().get())
    }
}

impl From<Admin> for Who {
    fn from(_: Admin) -> Who {
        Who::All
    }
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// One state for all that is read until its end.
    Reading,
    /// Changes that nobody else writes beside.
    Writing,
    /// Changes of rows that are claimed one by one: others may write meanwhile.
    Claiming,
    /// Messages that are added: others may add theirs meanwhile.
    Recording,
}

/// Many values that are asked for at once.
#[derive(Debug, Clone, Copy)]
pub(super) enum List<'a> {
    /// Numbers of rows.
    Numbers(&'a [i64]),
    /// Texts.
    Words(&'a [&'a str]),
}

/// A statement that will be run, with its values.
pub(super) type Foreseen = (&'static str, Vec<Value>);

/// A statement for many values: once for each of them, or once with all of them as its last value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Many {
    pub(super) each: &'static str,
    pub(super) all: &'static str,
}

/// What a file and a server do differently.
pub(super) trait Backend: std::fmt::Debug + Send {
    /// A statement; `is_kept` if it will be run again.
    fn statement(&self, sql: &str, is_kept: bool) -> Result<Statement<'_>>;
    /// Runs several statements without values.
    fn execute_batch(&self, sql: &str) -> Result<()>;
    /// The text that this database understands.
    fn choose(&self, both: &Both) -> &'static str;
    /// The rows for each of many values.
    fn many(
        &self,
        many: &Many,
        first: &[i64],
        list: List<'_>,
        read: &mut dyn FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()>;

    /// Says who asks from now on.
    fn asks(&self, who: Who);
    /// Does something for the whole memory in the middle of what one user does.
    fn as_keeper(&self, deed: &mut dyn FnMut());
    /// Begins a transaction; false if it goes on in one that is open.
    fn begin(&self, what: Begin) -> Result<bool>;
    /// Keeps what was done.
    fn commit(&self) -> Result<()>;
    /// Gives up what was done.
    fn roll_back(&self);
    /// How long to wait before each further try, where trying again may help.
    fn delays(&self) -> Option<Delays>;
    /// Ends what is read when the flag says so.
    fn heed(&mut self, stop: &Stop) -> Result<()>;
    /// Waits so long at most for others who write.
    fn wait_at_most(&mut self, wait: Duration) -> Result<()>;
    /// What went wrong, for people.
    fn explained(&self, error: Error, path: &Path) -> crate::Error;

    /// Holds off others who record, from here to the end: for what each of them follows.
    fn await_turn(&self) -> Result<()>;
    /// Holds off others who begin sessions of a user; false where nobody else can.
    fn hold_sessions(&self, user: UserNumber) -> Result<bool>;
    /// Runs a statement later, with others, if that saves time and nobody waits for what it changes; else false.
    fn put_off(&self, sql: &str, values: &dyn Fn() -> Result<Vec<Value>>) -> Result<bool>;
    /// A number for a row of a table, where the database does not give it in time.
    fn number_for(&self, table: &'static str) -> Result<Option<i64>>;
    /// A text as it is kept.
    fn storable<'t>(&self, text: &'t str) -> Cow<'t, str>;
    /// Records messages inside the transaction.
    fn recording(&self) -> Box<dyn Recording + '_>;
    /// The index over all texts.
    fn index(&self) -> &dyn Index;
    /// Episodes that are held, in the order asked for.
    fn episodes(&self, ids: &[i64]) -> Result<Vec<Episode>>;
    /// Messages in the order asked for.
    fn messages(&self, keys: &[i64]) -> Result<Vec<Message>>;
    /// Fetches what belongs to chunks that will be asked for next, where that saves questions.
    fn expect(&self, chunks: &[ChunkKey]) -> Result<()>;
    /// The messages of an episode, if they are at hand.
    fn messages_at_hand(&self, episode: i64) -> Option<Vec<Message>>;
    /// Whether it is known without asking that no fact was drawn from an episode.
    fn has_no_facts(&self, episode: i64) -> bool;

    /// Makes room for the notes of an import.
    fn make_import_tables(&self) -> Result<()>;
    /// Notes the new name of the profile where others find it by that.
    fn rename(&self, name: &str) -> Result<()>;
    /// How many bytes it takes.
    fn size(&self) -> Result<u64>;
    /// Frees what nobody needs any more, and notes when.
    fn vacuum(&self, now: Timestamp) -> Result<()>;
    /// What is wrong with pages, references and the keyword index; and what making the codes anew repairs.
    fn problems(&self, access: Access) -> Result<(Vec<String>, Vec<String>)>;

    /// As a file, for what only files have; asked in this folder alone.
    fn file(&self) -> Option<&sqlite::File>;
    /// As a server, for what only servers have; asked in this folder alone.
    fn server(&self) -> Option<&postgres::Server>;
}

/// Writes what is recorded.
pub(super) trait Recording {
    /// Finds out which of these keys are known; with what some statements will be asked for next, where that saves time.
    fn look_up(&mut self, keys: &[graves::Key], next: &dyn Fn() -> Vec<Foreseen>) -> Result<()>;
    /// The hash of the text that is known by a key, if one is; none of a text that is gone.
    fn known(&self, key: &graves::Key) -> Result<Option<Option<graves::Key>>>;
    /// Adds a message and what it is known by.
    fn add(&mut self, row: &MessageRow<'_>, origin: graves::Key, text: graves::Key) -> Result<()>;
    /// Notes how an episode stands: its number, last place, end, tokens, and whether all of it was imported.
    fn close_episode(&mut self, row: [i64; 5]) -> Result<()>;
    /// Notes how a session stands: its number, messages, last time and first time.
    fn close_session(&mut self, row: [i64; 4]) -> Result<()>;
    /// Writes what is left.
    fn finish(&mut self) -> Result<()>;
}

/// The chunks, their words and their vectors.
pub(super) trait Index {
    /// For each of some words, the chunks that have it.
    fn postings(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        words: &[String],
        cap: usize,
    ) -> Result<Vec<Postings>>;
    /// The numbers of the chunks that seem nearest to a vector, in no order.
    fn nearest(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        asked: (&Model, &[f32]),
        wanted: usize,
    ) -> Result<Vec<i64>>;
    /// How near some chunks are, by their stored vectors.
    fn similarities(&self, asked: (&Model, &[f32]), keys: &[i64]) -> Result<Vec<Near>>;
    /// The chunks of some ranges, with their similarity to the question.
    fn chunks(
        &self,
        ranges: &[RangeInclusive<i64>],
        question: Option<&QuestionVector<'_>>,
    ) -> Result<Vec<ChunkRow>>;
    /// Who said the messages of some ranges, and when.
    fn heads(&self, ranges: &[RangeInclusive<i64>]) -> Result<Vec<MessageHead>>;
    /// How many chunks a filter leaves; exact up to a limit.
    fn extent(&self, scope: Scope, filter: &RecallFilter, limit: usize) -> Result<Extent>;
    /// How many vectors of a model there are of each kind.
    fn vectors_by_kind(&self, model: &Model) -> Result<HashMap<ItemKind, u64>>;

    /// Adds chunks, and vectors of a model.
    fn writer(&self, model: Option<Model>) -> Box<dyn IndexWriter + '_>;
    /// Removes chunks with their words and the vectors of every model.
    fn remove(&self, keys: &[ChunkKey]) -> Outcome<()>;
    /// Makes the codes of a model anew from its vectors.
    fn make_codes(&self, model: i64) -> Outcome<()>;
    /// Drops the codes of retired models.
    fn drop_retired_codes(&self) -> Result<()>;
}

/// Adds to the index inside one transaction.
pub(super) trait IndexWriter {
    /// Adds one chunk with its words.
    fn add(&mut self, key: ChunkKey, chunk: &NewChunk, tokens: Vec<u8>) -> Outcome<()>;
    /// Keeps one vector; one of other dimensions than the model's is refused.
    fn put(&mut self, key: ChunkKey, vector: &[f32], at: Timestamp) -> Outcome<()>;
    /// Writes what is left.
    fn finish(self: Box<Self>) -> Outcome<()>;
}

/// A connection to a database of either kind.
pub(super) type Connection = dyn Backend;

impl dyn Backend {
    /// The hash of a text as it is kept here.
    pub(super) fn text_hash(&self, text: &str) -> [u8; 16] {
        crate::migrate::text_hash(&self.storable(text))
    }

    /// A statement that is parsed once.
    #[inline]
    pub(super) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        self.statement(sql, true)
    }

    /// The same for a statement that the two databases say differently.
    pub(super) fn prepare_both(&self, both: &Both) -> Result<Statement<'_>> {
        self.statement(self.choose(both), true)
    }

    /// A statement that is used once.
    pub(super) fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        self.statement(sql, false)
    }

    /// Changes the row that is there, else adds it.
    pub(super) fn put<P: Params + Copy>(&self, put: &Put, params: P) -> Result<()> {
        if self.prepare_cached(put.change)?.execute(params)? == 0 {
            self.prepare_cached(put.add)?.execute(params)?;
        }
        Ok(())
    }

    /// The same; the number that the statements give back.
    pub(super) fn put_row<P: Params + Copy>(&self, put: &Put, params: P) -> Result<i64> {
        let changed =
            self.prepare_cached(put.change)?.query_row(params, |row| row.get(0)).optional()?;
        match changed {
            Some(number) => Ok(number),
            None => self.insert(put.add, params),
        }
    }

    /// Changes rows, at the latest when the transaction ends; nobody waits for how many.
    pub(super) fn later<P: Params>(&self, sql: &str, params: P) -> Result<()> {
        if !self.put_off(sql, &|| params.values())? {
            self.prepare_cached(sql)?.execute(params)?;
        }
        Ok(())
    }

    /// Adds a row; the number that it was given, which the statement gives back.
    pub(super) fn insert<P: Params>(&self, sql: &str, params: P) -> Result<i64> {
        self.prepare_cached(sql)?.query_row(params, |row| row.get(0))
    }

    /// The one row that a statement finds.
    pub(super) fn query_row<T, P: Params>(
        &self,
        sql: &str,
        params: P,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        self.prepare(sql)?.query_row(params, read)
    }

    /// Changes rows; how many.
    pub(super) fn execute<P: Params>(&self, sql: &str, params: P) -> Result<usize> {
        self.prepare(sql)?.execute(params)
    }

    /// What many values find, each through a function.
    pub(super) fn many_of<T>(
        &self,
        many: &Many,
        first: &[i64],
        list: List<'_>,
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.many(many, first, list, &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// A transaction; dropped without a commit, nothing of it stays.
    pub(super) fn transaction(&self, what: Begin) -> Result<Transaction<'_>> {
        let is_own = self.begin(what)?;
        Ok(Transaction { connection: self, is_over: Cell::new(!is_own) })
    }
}

/// What is done together or not at all; dropped without a commit, nothing of it stays.
#[derive(Debug)]
pub(super) struct Transaction<'c> {
    connection: &'c Connection,
    is_over: Cell<bool>,
}

impl Transaction<'_> {
    /// Keeps what was done.
    pub(super) fn commit(self) -> Result<()> {
        self.connection.commit()?;
        self.is_over.set(true);
        Ok(())
    }
}

impl std::ops::Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_over.get() {
            self.connection.roll_back();
        }
    }
}
