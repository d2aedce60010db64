//! state.db: every session and message.

mod chat;
mod check;
mod content;
mod export;
mod id;
mod import;
mod import_row;
mod layout;
mod live;
mod manage;
mod order;
mod prune;
mod read;
mod record;
mod repair;
mod salvage;
mod search;
mod stats;
mod time;
mod transcript;
mod whose;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::sqlite::{self, Access};
use crate::{Error, Result, migrate};

pub use chat::{Beginning, OUR_SUMMARY, Spending};
pub use check::{CheckReport, Depth, Finding, FindingKind, check};
pub use content::Content;
pub use id::{SessionId, random_bytes};
pub use import::{DroppedParent, ImportProblem, ImportReport, LONGEST_LINE, TitleChange};
pub use layout::{FullText, Layout, Owner};
pub use live::{LiveMessage, LiveSession, SessionMark};
pub use manage::LONGEST_TITLE;
pub use order::Placed;
pub use prune::{PrunePlan, PruneReport, PruneRequest, PrunedSession};
pub use read::{SessionFilter, SessionKind, SessionSummary};
pub use record::{NewMessage, NewSession};
pub use repair::{Cure, RepairReport, repair};
pub use salvage::Salvaged;
pub use search::{
    Mode, Neighbour, ResultKind, SearchAnswer, SearchFilter, SearchRequest, SearchResult, Snippet,
};
pub use stats::{SessionStats, SourceStats};
pub use transcript::{Message, MessageState, Window};
pub use whose::Whose;

/// The words of a text exactly as FTS5's tokenizer unicode61 cuts them.
pub(crate) fn split_words(text: &str) -> Vec<String> {
    search::split_words(text)
}

/// An open state.db, of ours or of Hermes Agent's.
#[derive(Debug)]
pub struct SessionStore {
    connection: Connection,
    layout: Layout,
    path: PathBuf,
    access: Access,
    /// Whether the last change did not come to its end.
    unfinished: Cell<bool>,
}

impl SessionStore {
    /// Makes a new, empty database; fails if there is a file at the path.
    pub fn create(path: &Path) -> Result<()> {
        sqlite::create(path, |connection| {
            migrate::apply(connection, migrate::STATE)
                .map_err(|source| Error::from_sqlite(path, source))
        })
    }

    /// Opens a database that exists; fails if it is missing, locked, damaged or has no sessions.
    pub fn open(path: &Path, access: Access, wait: Duration) -> Result<SessionStore> {
        let mut connection = sqlite::open(path, access, wait)?;
        let mut layout = detect(&connection, path)?;
        if layout.owner() == Owner::Ours {
            refuse_newer(&connection, path)?;
            if access == Access::Write && bring_up_to_date(&mut connection, path)? {
                layout = detect(&connection, path)?;
            }
        }
        let failed = |source| Error::from_sqlite(path, source);
        layout.make_views(&connection).map_err(failed)?;
        if access == Access::Read {
            sqlite::forbid_writing(&connection).map_err(failed)?;
        }
        let unfinished = Cell::new(false);
        Ok(SessionStore { connection, layout, path: path.to_owned(), access, unfinished })
    }

    /// How the tables of this file are laid out.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The file this store is in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The connection, for the queries of this module's files.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What SQLite said, as an error about this file.
    pub(crate) fn fault(&self, source: rusqlite::Error) -> Error {
        Error::from_sqlite(&self.path, source)
    }

    /// Fails unless this store was opened for writing and its layout lets us write.
    pub(crate) fn require_writable(&self) -> Result<()> {
        if self.access == Access::Read {
            return Err(Error::OpenedForReading { path: self.path.clone() });
        }
        match self.layout.unwritable() {
            Some(why) => {
                Err(Error::ReadOnlyLayout { path: self.path.clone(), why: why.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Begins a transaction that holds the write lock from its first statement.
    pub(crate) fn begin(&mut self) -> Result<Writing<'_>> {
        self.require_writable()?;
        if self.unfinished.get() {
            self.open_anew()?;
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|source| Error::from_sqlite(&self.path, source))?;
        self.unfinished.set(true);
        let (layout, path, unfinished) = (&self.layout, self.path.as_path(), &self.unfinished);
        Ok(Writing { transaction, layout, path, unfinished })
    }

    /// A connection in which a change failed is not written through again: after an error of the disk FTS5 may hold
    /// totals that it never read, and would write them with the next change.
    fn open_anew(&mut self) -> Result<()> {
        let wait: u32 = self
            .connection
            .pragma_query_value(None, "busy_timeout", |row| row.get(0))
            .map_err(|source| self.fault(source))?;
        *self = SessionStore::open(&self.path, self.access, Duration::from_millis(wait.into()))?;
        Ok(())
    }
}

/// A transaction that writes, and what its statements need to know; undone unless committed.
pub(crate) struct Writing<'a> {
    pub(crate) transaction: Transaction<'a>,
    pub(crate) layout: &'a Layout,
    path: &'a Path,
    unfinished: &'a Cell<bool>,
}

impl Writing<'_> {
    /// Makes it last.
    pub(crate) fn commit(self) -> Result<()> {
        let path = self.path;
        self.transaction.commit().map_err(|source| Error::from_sqlite(path, source))?;
        self.unfinished.set(false);
        Ok(())
    }

    /// What SQLite said, as an error about this file.
    pub(crate) fn fault(&self, source: rusqlite::Error) -> Error {
        Error::from_sqlite(self.path, source)
    }
}

fn detect(connection: &Connection, path: &Path) -> Result<Layout> {
    Layout::detect(connection).map_err(|source| Error::from_sqlite(path, source))?.ok_or_else(
        || Error::NotSessions {
            path: path.to_owned(),
            why: "it has no tables `sessions` and `messages`".to_owned(),
        },
    )
}

fn refuse_newer(connection: &Connection, path: &Path) -> Result<()> {
    let known = migrate::newest(migrate::STATE);
    let found = migrate::applied(connection).map_err(|source| Error::from_sqlite(path, source))?;
    if found > known {
        return Err(Error::NewerSchema { path: path.to_owned(), found, known });
    }
    Ok(())
}

/// Gives a database of ours WAL and the newest schema; true if the schema changed.
fn bring_up_to_date(connection: &mut Connection, path: &Path) -> Result<bool> {
    let failed = |source| Error::from_sqlite(path, source);
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    if migrate::applied(connection).map_err(failed)? == migrate::newest(migrate::STATE) {
        return Ok(false);
    }
    migrate::apply(connection, migrate::STATE).map_err(failed)?;
    Ok(true)
}
