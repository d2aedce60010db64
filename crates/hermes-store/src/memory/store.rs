//! A memory in a database: a SQLite file for each profile, or a PostgreSQL server that many share.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::backend::{self, Begin, Connection, Transaction, Who};
use super::{Admin, Uid, audit};
use crate::rot::Water;
use crate::sqlite::Access;
use crate::{Error, Result, Stop};

/// An open memory.
#[derive(Debug)]
pub struct Memory {
    pub(super) connection: Box<Connection>,
    pub(super) path: PathBuf,
    pub(super) access: Access,
    /// The mark that is raised with each change.
    pub(super) water: Option<RefCell<Water>>,
    /// Ends what is read when nobody waits for it.
    pub(super) stop: Stop,
}

/// One state of a memory, for as long as it is looked at.
#[derive(Debug)]
pub struct View<'a>(
    #[expect(dead_code, reason = "it is held, and ends the transaction when it goes")]
    Transaction<'a>,
);

impl Memory {
    /// Ends what is read from now on when the flag says so; what writes is never cut off in the middle.
    pub fn heed(&mut self, stop: &Stop) -> Result<()> {
        self.stop = stop.clone();
        if self.access == Access::Write {
            return Ok(());
        }
        self.connection.heed(stop).map_err(|source| self.failed(source))
    }

    /// Waits so long at most for others who write, from now on.
    pub fn wait_at_most(&mut self, wait: Duration) -> Result<()> {
        self.connection.wait_at_most(wait).map_err(|source| self.failed(source))
    }

    /// Lets all that is read until the view is dropped see one state, whatever others write meanwhile.
    /// It is also cheaper: each statement by itself would ask anew what has changed.
    pub fn view(&self) -> Result<View<'_>> {
        self.connection.transaction(Begin::Reading).map(View).map_err(|source| self.failed(source))
    }

    /// Where the file is; for a memory on a server, a name that says so.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes the new name of the profile that the memory belongs to.
    pub fn rename_profile(&mut self, name: &str) -> Result<()> {
        self.write(Admin, |transaction| {
            transaction.execute("update meta set value = ?1 where key = 'profile'", [name])?;
            transaction.rename(name)?;
            Ok(())
        })
    }

    pub(super) fn failed(&self, source: backend::Error) -> Error {
        self.connection.explained(source, &self.path)
    }

    /// The connection, for reading as somebody.
    #[inline]
    pub(super) fn asking(&self, who: impl Into<Who>) -> &Connection {
        self.connection.asks(who.into());
        &*self.connection
    }

    /// Does something in one transaction that takes the write lock at once.
    ///
    /// On a server the whole is done again when the connection is cut before its end; when only the answer to
    /// the commit is lost, the server is asked whether it was done.
    pub(super) fn write<T>(
        &mut self,
        who: impl Into<Who>,
        deed: impl FnMut(&Connection) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        self.in_transaction(who.into(), Begin::Writing, deed)
    }

    /// The same for messages that are added: on a server others may add theirs meanwhile.
    pub(super) fn add<T>(
        &mut self,
        who: impl Into<Who>,
        deed: impl FnMut(&Connection) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        self.in_transaction(who.into(), Begin::Recording, deed)
    }

    /// The same for rows that are claimed one by one: on a server others may write meanwhile.
    pub(super) fn claim<T>(
        &mut self,
        who: impl Into<Who>,
        deed: impl FnMut(&Connection) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        self.in_transaction(who.into(), Begin::Claiming, deed)
    }

    pub(super) fn in_transaction<T>(
        &mut self,
        who: Who,
        what: Begin,
        mut deed: impl FnMut(&Connection) -> std::result::Result<T, Refusal>,
    ) -> Result<T> {
        if self.access == Access::Read {
            return Err(Error::OpenedForReading { path: self.path.clone() });
        }
        let mut delays = self.connection.delays();
        loop {
            self.connection.asks(who);
            let attempt = || -> std::result::Result<T, Refusal> {
                let transaction = self.connection.transaction(what)?;
                let done = deed(&*transaction)?;
                let mark = match self.water {
                    Some(_) => audit::mark(&*transaction)?,
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
            match delays
                .as_mut()
                .filter(|_| refusal.can_pass() || (what == Begin::Recording && refusal.is_taken()))
                .and_then(Iterator::next)
            {
                Some(delay) => std::thread::sleep(delay),
                None => return Err(self.failed(refusal)),
            }
        }
    }
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

pub(super) fn new_uid(now: Timestamp) -> Uid {
    let mut chance = [0; 10];
    for part in chance.chunks_mut(3) {
        part.copy_from_slice(&crate::sessions::random_bytes()[..part.len()]);
    }
    Uid::new(now, chance)
}

pub(super) const ADD_META: &str = "insert into meta (key, value) values (?1, ?2)";
pub(super) const ADD_USER: &str =
    "insert into \"user\" (id, uid, name, created_at) values (?1, ?2, ?3, ?4)";
