//! state.db: every session and message.

mod chat;
mod check;
mod content;
mod export;
mod id;
mod identity;
mod import;
mod import_row;
mod layout;
mod live;
mod manage;
mod order;
mod prune;
mod read;
mod record;
mod redacting;
mod repair;
mod salvage;
mod search;
mod stats;
mod sums;
mod time;
mod transcript;
mod whose;

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::sqlite::{self, Access, OpenedFile};
use crate::{Error, Result, Stop, migrate, stop};

pub use chat::{Beginning, OUR_SUMMARY, Spending};
pub use check::{CheckReport, Depth, Finding, FindingKind, check};
pub use content::Content;
pub use id::{SessionId, random_bytes};
pub use identity::{RowNames, RowPrint};
pub use import::{DroppedParent, ImportProblem, ImportReport, LONGEST_LINE, TitleChange};
pub use layout::{FullText, Layout, Owner};
pub use live::{LiveMessage, LiveSession, SessionMark};
pub use manage::LONGEST_TITLE;
pub use order::Placed;
pub use prune::{PrunePlan, PruneReport, PruneRequest, PrunedSession};
pub use read::{SessionFilter, SessionKind, SessionSummary};
pub use record::{AppendedTurn, NewMessage, NewSession};
pub use repair::{Cure, RepairReport, repair};
pub use salvage::Salvaged;
pub use search::{
    Mode, Neighbour, ResultKind, SearchAnswer, SearchFilter, SearchRequest, SearchResult, Snippet,
};
pub use stats::{SessionStats, SourceStats};
pub use sums::compare_sessions;
pub use transcript::{Message, MessageState, Window};
pub use whose::{COMMAND_LINE, Whose, kept_name, name_in, shown_user};

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
    file: OpenedFile,
    keeping: Option<sums::Keeping>,
    /// Whether the last change did not come to its end.
    unfinished: Cell<bool>,
}

impl SessionStore {
    /// Makes a new, empty database; fails if there is a file at the path.
    pub fn create(path: &Path) -> Result<()> {
        sqlite::create(path, |connection| {
            migrate::apply(connection, migrate::STATE)
                .map_err(|source| Error::from_sqlite(path, source))?;
            // The file keeps its number when it gets its name.
            let unnamed = connection.path().map(PathBuf::from).unwrap_or_default();
            let layout = detect(connection, path)?;
            identity::settle(connection, &layout, &unnamed)
        })
    }

    /// How it was opened.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Opens a database that exists; fails if it is missing, locked, damaged or has no sessions.
    pub fn open(path: &Path, access: Access, wait: Duration) -> Result<SessionStore> {
        SessionStore::open_keeping(path, access, wait, &mut |_| Ok(()))
    }

    /// The same; `keep` hears the number of an older schema before anything is changed, and may refuse.
    pub fn open_keeping(
        path: &Path,
        access: Access,
        wait: Duration,
        keep: &mut dyn FnMut(i64) -> Result<()>,
    ) -> Result<SessionStore> {
        let (mut connection, file) = sqlite::open_known(path, access, wait)?;
        let mut layout = detect(&connection, path)?;
        refuse_newer(&connection, path, &layout)?;
        if layout.owner() == Owner::Ours
            && access == Access::Write
            && bring_up_to_date(&mut connection, path, keep)?
        {
            layout = detect(&connection, path)?;
        }
        if access == Access::Write && layout.owner() != Owner::Foreign {
            identity::settle(&mut connection, &layout, path)?;
        }
        let failed = |source| Error::from_sqlite(path, source);
        layout.make_views(&connection).map_err(failed)?;
        if access == Access::Read {
            sqlite::forbid_writing(&connection).map_err(failed)?;
        }
        Ok(SessionStore {
            connection,
            layout,
            path: path.to_owned(),
            access,
            file,
            keeping: None,
            unfinished: Cell::new(false),
        })
    }

    /// Ends what is read from now on when the flag says so.
    pub fn heed(&mut self, stop: &Stop) -> Result<()> {
        let stop = stop.clone();
        let heeded = self.connection.progress_handler(stop::STEPS, Some(move || stop.is_asked()));
        heeded.map_err(|source| Error::from_sqlite(&self.path, source))
    }

    /// How the tables of this file are laid out.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The file this store is in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A number that changes whenever anybody changes the tables.
    pub fn schema_number(&self) -> Result<i64> {
        let read = self.connection.pragma_query_value(None, "schema_version", |row| row.get(0));
        read.map_err(|source| self.fault(source))
    }

    /// What is kept beside the database while it is written.
    fn keeping(&self) -> Option<&sums::Keeping> {
        self.keeping.as_ref()
    }

    /// The connection, for the queries of this module's files.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What SQLite said, as an error about this file.
    pub(crate) fn fault(&self, source: rusqlite::Error) -> Error {
        Error::from_sqlite(&self.path, source)
    }

    /// Fails unless this store was opened for writing, its layout lets us write, and the file is still in its place.
    pub(crate) fn require_writable(&self) -> Result<()> {
        if self.access == Access::Read {
            return Err(Error::OpenedForReading { path: self.path.clone() });
        }
        self.file.must_be_in_place()?;
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
        // A later version may have upgraded it since it was opened.
        refuse_newer(&transaction, &self.path, &self.layout)?;
        // Whoever held the lock may have put another file there.
        self.file.must_be_in_place()?;
        let keeping = self.keeping.as_ref();
        keeping.inspect(|keeping| keeping.begin());
        self.unfinished.set(true);
        let (layout, path, unfinished) = (&self.layout, self.path.as_path(), &self.unfinished);
        Ok(Writing { transaction, layout, path, keeping, unfinished })
    }

    /// A connection in which a change failed is not written through again: after an error of the disk FTS5 may hold
    /// totals that it never read, and would write them with the next change.
    fn open_anew(&mut self) -> Result<()> {
        self.file.must_be_in_place()?;
        let wait: u32 = self
            .connection
            .pragma_query_value(None, "busy_timeout", |row| row.get(0))
            .map_err(|source| self.fault(source))?;
        let keeping = self.keeping.take();
        let anew = SessionStore::open(&self.path, self.access, Duration::from_millis(wait.into()))?;
        *self = SessionStore { keeping, ..anew };
        Ok(())
    }
}

/// A transaction that writes, and what its statements need to know; undone unless committed.
pub(crate) struct Writing<'a> {
    pub(crate) transaction: Transaction<'a>,
    pub(crate) layout: &'a Layout,
    path: &'a Path,
    keeping: Option<&'a sums::Keeping>,
    unfinished: &'a Cell<bool>,
}

impl Writing<'_> {
    /// Makes it last.
    pub(crate) fn commit(self) -> Result<()> {
        let Writing { transaction, path, keeping, unfinished, .. } = self;
        transaction.commit().map_err(|source| Error::from_sqlite(path, source))?;
        unfinished.set(false);
        keeping.inspect(|keeping| keeping.committed());
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

/// Fails if a later version of this program made or upgraded the file.
fn refuse_newer(connection: &Connection, path: &Path, layout: &Layout) -> Result<()> {
    match layout.owner() {
        Owner::Ours => migrate::refuse_newer(connection, path, migrate::STATE),
        Owner::Extended | Owner::Foreign => Ok(()),
    }
}

/// Gives a database of ours WAL and the newest schema; true if the schema changed.
fn bring_up_to_date(
    connection: &mut Connection,
    path: &Path,
    keep: &mut dyn FnMut(i64) -> Result<()>,
) -> Result<bool> {
    let failed = |source| Error::from_sqlite(path, source);
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    let found = migrate::applied(connection).map_err(failed)?;
    if found == migrate::newest(migrate::STATE) {
        return Ok(false);
    }
    keep(found)?;
    migrate::apply(connection, migrate::STATE).map_err(failed)?;
    migrate::refuse_newer(connection, path, migrate::STATE)?;
    Ok(true)
}
