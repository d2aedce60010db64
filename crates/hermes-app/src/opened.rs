//! The memories that this process has opened: another one that is put in the place of one is not taken for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_backup::whose;
use hermes_home::Home;
use hermes_store::memory::{Admin, Memory};
use hermes_store::sessions::{Owner, SessionStore};
use hermes_store::sqlite::Access;
use hermes_store::{Error as StoreError, ErrorKind};

use crate::process::{self, Identity};

/// Whose home it is must be known before the settings say how long to wait.
const OWNER_WAIT: Duration = Duration::from_secs(2);

/// Whether state.db is another program's; one that is there but cannot be looked at is not ours to add to.
pub fn has_foreign_database(home: &Home) -> bool {
    match SessionStore::open(&home.state_db(), Access::Read, OWNER_WAIT) {
        Ok(store) => store.layout().owner() == Owner::Foreign,
        Err(error) => error.kind() != ErrorKind::Missing,
    }
}

/// What this process knows of the files of memories, by their paths.
#[derive(Clone, Default)]
pub struct Opened(Arc<Mutex<Seen>>);

/// What was opened, and how often.
#[derive(Default)]
struct Seen {
    known: HashMap<PathBuf, Known>,
    openings: u64,
}

/// A memory that was opened.
struct Known {
    file: Option<Identity>,
    /// The folder of its profile: one that was made anew has a memory of its own.
    folder: Option<Identity>,
    id: String,
}

impl Opened {
    /// Fails if another memory is where this process has opened one, or none is. The same one is taken for what it
    /// is: somebody brought it back.
    pub fn refuse_stranger(&self, home: &Home, path: &Path) -> Result<(), StoreError> {
        let seen = self.lock();
        let Some(known) = seen.known.get(path) else { return Ok(()) };
        let found = process::identity(path);
        if found == known.file || process::identity(home.folder()) != known.folder {
            return Ok(());
        }
        // A log beside it may be that of the file before: SQLite would play it into this one.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let has_log = Path::new(&log).metadata().is_ok_and(|log| log.len() > 0);
        match found.filter(|_| !has_log).and_then(|_| whose::home_id(path)) {
            Some(id) if id == known.id => Ok(()),
            _ => Err(StoreError::Replaced { path: path.to_owned() }),
        }
    }

    /// Notes a memory that was opened.
    pub fn note(&self, home: &Home, store: &Memory) -> Result<(), StoreError> {
        let id = store.home_id(Admin)?;
        let (path, folder) = (store.path().to_owned(), process::identity(home.folder()));
        let known = Known { file: process::identity(&path), folder, id };
        let mut seen = self.lock();
        seen.known.insert(path, known);
        seen.openings += 1;
        Ok(())
    }

    /// How often a memory was opened.
    pub fn openings(&self) -> u64 {
        self.lock().openings
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
