//! Keeps the states of files before the changes of one session.

use std::path::{Path, PathBuf};

use hermes_home::atomic;
use jiff::Timestamp;

use super::index::{self, Index, Taking};
use super::state::{Contents, State};
use super::{Change, Checkpoint, Store, blobs};
use crate::error::{Error, Result};
use crate::fence::Fence;

/// What keeps the states of files for one session.
#[derive(Debug)]
pub struct Keeper {
    store: Store,
    session: String,
    turn: u32,
    now: Timestamp,
    /// How many were kept since the store was last pruned; none: it was not.
    since_pruned: Option<u32>,
    /// The index before the last command, and the name of its file.
    last: Option<(String, Index)>,
    /// Why nothing is kept before commands in this session: it is not tried again.
    gave_up: Option<String>,
}

/// Whether what a command does can be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// The checkpoint that has the states before it.
    At(u32),
    /// Nothing was kept, and why.
    Nothing(String),
}

/// After how many checkpoints the limits are looked at again.
const PRUNE_AFTER: u32 = 20;

impl Keeper {
    /// A keeper for one session.
    pub fn new(store: Store, session: &str, now: Timestamp) -> Keeper {
        let session = session.to_owned();
        Keeper { store, session, turn: 0, now, since_pruned: None, last: None, gave_up: None }
    }

    /// What was kept.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The session whose changes are kept.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// A turn begins: what is kept from now on belongs to it.
    pub fn begin(&mut self, turn: u32, now: Timestamp) {
        self.turn = turn;
        self.now = now;
    }

    /// Keeps what stands at a path that is about to hold `after`.
    pub fn before_write(&mut self, fence: &Fence, path: &Path, after: &[u8]) -> Result<u32> {
        self.prune_at_times()?;
        let store = &self.store;
        let _lock = store.lock()?;
        let before = State::of(path, Contents::Keep(&store.blobs), u64::MAX)?;
        let mode = match &before {
            State::File { mode, .. } => *mode,
            _ => 0o644,
        };
        let hash = blobs::hash(after);
        let after = State::File { hash, size: after.len() as u64, mode };
        let number = store.next_number()?;
        let what = format!("write {}", fence.shown(path));
        let mut checkpoint = self.checkpoint(number, fence, what);
        checkpoint.changes = vec![Change { path: path.to_owned(), before, after }];
        checkpoint.folders = missing_parents(path);
        self.store.write(&checkpoint)?;
        self.count();
        Ok(number)
    }

    /// Takes back a checkpoint because nothing came of the change.
    pub fn drop_unused(&mut self, number: u32) -> Result<()> {
        let _lock = self.store.lock()?;
        blobs::remove(&self.store.manifest(number))
    }

    /// Keeps the states of all files that a command could change.
    pub fn before_command(&mut self, fence: &Fence, line: &str) -> Result<Kept> {
        if let Some(why) = &self.gave_up {
            return Ok(Kept::Nothing(why.clone()));
        }
        self.prune_at_times()?;
        let _lock = self.store.lock()?;
        let folder = &self.store.folder;
        let tick = index::tick(folder)?;
        let last = self.last.take().or_else(|| self.last_written(fence.working()));
        let Store { blobs, limits, .. } = &self.store;
        let taking = Taking { fence, blobs, limits, at: self.now, tick };
        let taken = match index::take(&taking, last.as_ref().map(|(_, index)| index))? {
            Ok(taken) => taken,
            Err(why) => {
                self.gave_up = Some(why.clone());
                return Ok(Kept::Nothing(why));
            }
        };
        let number = self.store.next_number()?;
        let name = match last {
            Some((name, last)) if last.says_same(&taken) => name,
            _ => self.write_index(&taken, number)?,
        };
        let mut checkpoint = self.checkpoint(number, fence, format!("run {line}"));
        checkpoint.pending = Some(name.clone());
        self.store.write(&checkpoint)?;
        self.last = Some((name, taken));
        self.count();
        Ok(Kept::At(number))
    }

    /// Finds out what the command did; none if it changed no file, and then nothing is kept.
    pub fn after_command(&mut self, fence: &Fence, number: u32) -> Result<Option<u32>> {
        let Some((_, before)) = &self.last else { return Ok(None) };
        let difference = index::compare(before, fence, &self.store.limits)?;
        let _lock = self.store.lock()?;
        if difference.changes.is_empty() && difference.folders.is_empty() {
            blobs::remove(&self.store.manifest(number))?;
            return Ok(None);
        }
        let mut checkpoint = self.store.get(number)?;
        checkpoint.changes = difference.changes;
        checkpoint.folders = difference.folders;
        checkpoint.pending = None;
        self.store.write(&checkpoint)?;
        Ok(Some(number))
    }

    fn checkpoint(&self, number: u32, fence: &Fence, what: String) -> Checkpoint {
        Checkpoint {
            number,
            session: self.session.clone(),
            turn: self.turn,
            at: self.now,
            folder: fence.working().to_owned(),
            what,
            changes: Vec::new(),
            folders: Vec::new(),
            pending: None,
        }
    }

    /// The newest index of a folder that any session wrote.
    fn last_written(&self, folder: &Path) -> Option<(String, Index)> {
        let prefix = index_prefix(folder);
        let mut names = super::names_in(&self.store.indexes()).ok()?;
        names.retain(|name| name.starts_with(&prefix));
        let name = names.into_iter().max()?;
        let index = Index::read(&self.store.indexes().join(&name))?;
        (index.folder == folder).then_some((name, index))
    }

    fn write_index(&self, index: &Index, number: u32) -> Result<String> {
        let folder = self.store.indexes();
        atomic::make_folder(&folder)?;
        let name = format!("{}{number:08}.json", index_prefix(&index.folder));
        let path = folder.join(&name);
        let text = serde_json::to_vec(index).map_err(|error| Error::write(&path, error.into()))?;
        atomic::write_private(&path, &text)?;
        Ok(name)
    }

    fn count(&mut self) {
        self.since_pruned = self.since_pruned.map(|count| count + 1);
    }

    fn prune_at_times(&mut self) -> Result<()> {
        atomic::make_folder(&self.store.folder)?;
        if self.since_pruned.is_none_or(|count| count >= PRUNE_AFTER) {
            self.since_pruned = Some(0);
            self.store.prune(self.now)?;
        }
        Ok(())
    }
}

fn index_prefix(folder: &Path) -> String {
    let hash = blobs::hash(folder.as_os_str().as_encoded_bytes());
    format!("{}-", &hash[..16])
}

/// The folders above a path that are not there yet, the outermost first.
fn missing_parents(path: &Path) -> Vec<PathBuf> {
    let above = path.ancestors().skip(1);
    let mut missing: Vec<PathBuf> =
        above.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}
