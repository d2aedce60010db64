//! The states of files before they were changed: keep, list, compare, restore, prune.

mod blobs;
mod index;
mod keeper;
mod prune;
mod restore;
mod state;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hermes_home::config::Checkpoints;
use hermes_home::{Home, atomic, lock};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use blobs::Blobs;
pub use keeper::{Keeper, Kept};
pub use prune::Pruned;
pub use restore::{Plan, Planned, Restored, Restoring};
pub use state::State;

/// Everything that was kept in one home.
#[derive(Debug, Clone)]
pub struct Store {
    home: Home,
    folder: PathBuf,
    blobs: Blobs,
    limits: Limits,
}

/// How much is kept.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How many bytes all of it may take.
    pub bytes: u64,
    /// After what time something goes.
    pub age: SignedDuration,
    /// Up to what size a file is kept before a command.
    pub file_bytes: u64,
    /// Up to how many files are kept before a command.
    pub files: usize,
}

/// What was there before one change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its number: it grows with time and is never given twice.
    pub number: u32,
    /// The session in which the change was made.
    pub session: String,
    /// The number of the turn in the session.
    pub turn: u32,
    /// When the turn began.
    pub at: Timestamp,
    /// The working folder.
    pub folder: PathBuf,
    /// What was done: `write src/main.rs`, `run cargo fmt`.
    pub what: String,
    /// The files that the change touched.
    pub changes: Vec<Change>,
    /// The folders that it made.
    pub folders: Vec<PathBuf>,
    /// Where the states of all files are, for a command that nobody saw the end of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
}

/// One file before and after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its path, absolute and without links.
    pub path: PathBuf,
    /// What was there before.
    pub before: State,
    /// What was there afterwards.
    pub after: State,
}

impl From<&Checkpoints> for Limits {
    fn from(settings: &Checkpoints) -> Limits {
        const MEGABYTE: u64 = 1_000_000;
        Limits {
            bytes: u64::from(settings.max_mb) * MEGABYTE,
            age: SignedDuration::from_hours(24 * i64::from(settings.max_age_days)),
            file_bytes: u64::from(settings.max_file_mb) * MEGABYTE,
            files: settings.max_files as usize,
        }
    }
}

impl Store {
    /// The store of a home; nothing is made before something is kept.
    pub fn new(home: &Home, limits: Limits) -> Store {
        let folder = home.checkpoints();
        Store { home: home.clone(), blobs: Blobs::new(folder.join("contents")), folder, limits }
    }

    /// What was kept, newest first; of one session, or of all.
    pub fn list(&self, session: Option<&str>) -> Result<Vec<Checkpoint>> {
        let mut found = Vec::new();
        for number in self.numbers()?.into_iter().rev() {
            // One that is damaged, or was pruned in this moment, does not hide the others.
            let Ok(checkpoint) = self.get(number) else { continue };
            if session.is_none_or(|session| checkpoint.session == session) {
                found.push(checkpoint);
            }
        }
        Ok(found)
    }

    /// One checkpoint.
    pub fn get(&self, number: u32) -> Result<Checkpoint> {
        let path = self.manifest(number);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::NoCheckpoint { number });
            }
            Err(source) => return Err(Error::read(&path, source)),
            Ok(bytes) => bytes,
        };
        serde_json::from_slice(&bytes).map_err(|_| Error::DamagedCheckpoint { path })
    }

    /// How many bytes all of it takes.
    pub fn size(&self) -> Result<u64> {
        prune::size_of(&self.folder)
    }

    fn manifests(&self) -> PathBuf {
        self.folder.join("log")
    }

    fn manifest(&self, number: u32) -> PathBuf {
        self.manifests().join(format!("{number:08}.json"))
    }

    fn indexes(&self) -> PathBuf {
        self.folder.join("indexes")
    }

    /// The numbers of all checkpoints, oldest first.
    fn numbers(&self) -> Result<Vec<u32>> {
        let number = |name: &str| name.strip_suffix(".json")?.parse().ok();
        let mut numbers: Vec<u32> =
            names_in(&self.manifests())?.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// One writer at a time.
    fn lock(&self) -> Result<lock::Held> {
        Ok(lock::hold(&self.folder.join("store"))?)
    }

    /// The next number; the caller holds the lock.
    fn next_number(&self) -> Result<u32> {
        let path = self.folder.join("last-number");
        let noted = fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        let newest = self.numbers()?.last().copied();
        let number = noted.max(newest).unwrap_or(0_u32).saturating_add(1);
        atomic::write_private(&path, number.to_string().as_bytes())?;
        Ok(number)
    }

    /// Writes a checkpoint; the caller holds the lock.
    fn write(&self, checkpoint: &Checkpoint) -> Result<()> {
        let path = self.manifest(checkpoint.number);
        atomic::make_folder(&self.manifests())?;
        let text = serde_json::to_vec(checkpoint).map_err(io::Error::from);
        let text = text.map_err(|source| Error::write(&path, source))?;
        Ok(atomic::write_private(&path, &text)?)
    }
}

/// The names in a folder of the store; none if it is not there yet.
fn names_in(folder: &Path) -> Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|source| Error::read(folder, source))?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| Error::read(folder, source))?;
        names.extend(entry.file_name().into_string());
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
