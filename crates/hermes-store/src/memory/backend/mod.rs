//! The one door to a database: statements are written once, in words that SQLite and PostgreSQL both understand.
//!
//! The calls are those of rusqlite. On SQLite they are handed on; on PostgreSQL `?1` is written `$1`, the rules of
//! the tables narrow every statement to the profile, and who asks is told to the server inside the transaction.

mod cells;
mod given;
mod params;
mod postgres;
mod statement;
mod told;

use std::cell::Cell;
use std::path::Path;

use rusqlite::types::FromSqlError;

use crate::memory::{Admin, Scope};
use crate::migrate::{self, text_hash};

pub(super) use self::cells::storable;
pub(super) use self::given::List;
pub(super) use self::params::{Params, params_from_iter};
pub(super) use self::postgres::{Postgres, can_pass, new_key};
pub(super) use self::statement::{Row, Rows, Statement};
pub(super) use self::told::is_cancelled;
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

/// A connection to a database of either kind.
#[derive(Debug)]
pub(super) enum Connection {
    /// A file.
    Sqlite(rusqlite::Connection),
    /// A server.
    Postgres(Box<Postgres>),
}

impl Connection {
    /// The hash of a text as it is kept here.
    pub(super) fn text_hash(&self, text: &str) -> [u8; 16] {
        match self {
            Connection::Sqlite(_) => text_hash(text),
            Connection::Postgres(_) => text_hash(&storable(text)),
        }
    }

    /// The connection to a file, for what only files have.
    pub(super) fn sqlite(&self) -> Option<&rusqlite::Connection> {
        match self {
            Connection::Sqlite(connection) => Some(connection),
            Connection::Postgres(_) => None,
        }
    }

    /// The connection to a server, for what is asked of it in another way.
    pub(super) fn postgres(&self) -> Option<&Postgres> {
        match self {
            Connection::Sqlite(_) => None,
            Connection::Postgres(server) => Some(server),
        }
    }

    /// Says who asks from now on.
    pub(super) fn asks(&self, who: impl Into<Who>) {
        if let Connection::Postgres(server) = self {
            server.asks(who.into());
        }
    }

    /// A statement that is parsed once.
    #[inline]
    pub(super) fn prepare_cached(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Connection::Sqlite(connection) => {
                Ok(Statement::Cached(connection.prepare_cached(sql)?))
            }
            Connection::Postgres(server) => Ok(Statement::on_server(server, sql)),
        }
    }

    /// The same for a statement that the two databases say differently.
    pub(super) fn prepare_both(&self, both: &Both) -> Result<Statement<'_>> {
        self.prepare_cached(match self {
            Connection::Sqlite(_) => both.file,
            Connection::Postgres(_) => both.server,
        })
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

    /// Adds a row; the number that it was given, which the statement gives back.
    pub(super) fn insert<P: Params>(&self, sql: &str, params: P) -> Result<i64> {
        self.prepare_cached(sql)?.query_row(params, |row| row.get(0))
    }

    /// A statement that is used once.
    pub(super) fn prepare(&self, sql: &str) -> Result<Statement<'_>> {
        match self {
            Connection::Sqlite(connection) => Ok(Statement::Plain(connection.prepare(sql)?)),
            Connection::Postgres(server) => Ok(Statement::on_server(server, sql)),
        }
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

    /// Several statements without values, one after the other.
    pub(super) fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Connection::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Connection::Postgres(server) => server.batch(sql),
        }
    }

    /// Holds on to the present state for reading; false if a state is held already.
    pub(super) fn begin_reading(&self) -> Result<bool> {
        match self {
            Connection::Sqlite(connection) if !connection.is_autocommit() => Ok(false),
            Connection::Sqlite(connection) => {
                Ok(connection.execute_batch("begin").map(|()| true)?)
            }
            Connection::Postgres(server) => server.begin_reading(),
        }
    }

    /// Lets go of the state that is held.
    pub(super) fn end_reading(&self) -> Result<()> {
        match self {
            Connection::Sqlite(connection) => Ok(connection.execute_batch("commit")?),
            Connection::Postgres(server) => server.end(),
        }
    }

    /// One state for all that is read while it is held.
    pub(super) fn unchecked_transaction(&self) -> Result<Transaction<'_>> {
        let began = match self {
            Connection::Sqlite(connection) => {
                connection.execute_batch("begin deferred")?;
                true
            }
            // Inside a state that is held already, its holder lets go of it.
            Connection::Postgres(server) => server.begin_reading()?,
        };
        Ok(Transaction { connection: self, is_over: Cell::new(!began) })
    }

    /// A transaction that nobody else writes beside.
    pub(super) fn begin_writing(&self) -> Result<Transaction<'_>> {
        match self {
            Connection::Sqlite(connection) => self.begin_in_file(connection),
            Connection::Postgres(server) => server.begin_writing().map(|()| self.begun()),
        }
    }

    /// A transaction that writes beside others: for rows that are claimed one by one.
    pub(super) fn begin_claiming(&self) -> Result<Transaction<'_>> {
        match self {
            Connection::Sqlite(connection) => self.begin_in_file(connection),
            Connection::Postgres(server) => server.begin_claiming().map(|()| self.begun()),
        }
    }

    /// A later version may have upgraded the file since it was opened: what this one would write does not fit then.
    fn begin_in_file(&self, connection: &rusqlite::Connection) -> Result<Transaction<'_>> {
        connection.execute_batch("begin immediate")?;
        let transaction = self.begun();
        let path = Path::new(connection.path().unwrap_or_default());
        migrate::refuse_newer(connection, path, migrate::MEMORY)?;
        Ok(transaction)
    }

    fn begun(&self) -> Transaction<'_> {
        Transaction { connection: self, is_over: Cell::new(false) }
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
        self.is_over.set(true);
        match self.connection {
            Connection::Sqlite(connection) => {
                if let Err(refused) = connection.execute_batch("commit") {
                    self.is_over.set(false);
                    return Err(refused.into());
                }
                Ok(())
            }
            Connection::Postgres(server) => server.commit(),
        }
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
        if self.is_over.get() {
            return;
        }
        match self.connection {
            Connection::Sqlite(connection) => {
                if !connection.is_autocommit() {
                    drop(connection.execute_batch("rollback"));
                }
            }
            Connection::Postgres(server) => server.roll_back(),
        }
    }
}
