//! The states of all files below a folder, taken cheaply: only what changed since is read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::blobs::Blobs;
use super::state::{Contents, State};
use super::{Change, Limits};
use crate::error::{Error, Result};
use crate::fence::{Aim, Fence};
use crate::platform::Identity;

/// All files below a folder at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Index {
    pub(super) folder: PathBuf,
    pub(super) at: Timestamp,
    /// The time of the file system when it was taken, in nanoseconds since 1970.
    pub(super) tick: i64,
    /// By their paths below the folder.
    pub(super) files: BTreeMap<String, Entry>,
    pub(super) folders: BTreeSet<String>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) identity: Identity,
    pub(super) state: State,
    /// Whether it had been left alone for a while, so that any later change gives it another time.
    pub(super) is_settled: bool,
}

/// What an index is taken with.
pub(super) struct Taking<'a> {
    pub(super) fence: &'a Fence,
    pub(super) blobs: &'a Blobs,
    pub(super) limits: &'a Limits,
    pub(super) at: Timestamp,
    pub(super) tick: i64,
}

/// What a command did to the files below a folder.
#[derive(Debug, Default)]
pub(super) struct Difference {
    pub(super) changes: Vec<Change>,
    pub(super) folders: Vec<PathBuf>,
}

/// Times of files are no finer than this on the coarsest of the usual file systems.
const COARSE: i64 = 50_000_000;

/// Takes the states of all files, reading those that changed since `last`; or says why it cannot.
pub(super) fn take(
    taking: &Taking<'_>,
    last: Option<&Index>,
) -> Result<std::result::Result<Index, String>> {
    let Taking { fence, blobs, limits, at, tick } = *taking;
    let folder = fence.working().to_owned();
    let found = walk(fence, limits.files)?;
    let Some(found) = found else {
        let count = hermes_home::text::thousands(limits.files as u64);
        return Ok(Err(format!("there are more than {count} files below {}", folder.display())));
    };
    let kept = |file: &Seen| file.identity.size <= limits.file_bytes;
    let total: u64 =
        found.files.iter().filter(|file| kept(file)).map(|file| file.identity.size).sum();
    if total > limits.bytes {
        return Ok(Err(format!(
            "the files below {} are larger than checkpoints.max_mb",
            folder.display()
        )));
    }
    let mut files = BTreeMap::new();
    for Seen { name, path, identity } in found.files {
        let known = last.and_then(|last| last.files.get(&name));
        let known = known.filter(|known| known.is_settled && known.identity == identity);
        let known = known.filter(|known| known.state.hash().is_none_or(|hash| blobs.has(hash)));
        let state = match known {
            Some(known) => known.state.clone(),
            None => match State::of(&path, Contents::Keep(blobs), limits.file_bytes) {
                Ok(State::Missing) => continue,
                Ok(state) => state,
                // What we cannot read, we cannot bring back; a command may still be run.
                Err(Error::Read { .. }) => State::Other,
                Err(error) => return Err(error),
            },
        };
        let is_settled = identity.modified.max(identity.changed) < tick - COARSE;
        files.insert(name, Entry { identity, state, is_settled });
    }
    Ok(Ok(Index { folder, at, tick, files, folders: found.folders }))
}

/// What is different now from when the index was taken.
pub(super) fn compare(before: &Index, fence: &Fence, limits: &Limits) -> Result<Difference> {
    // Where there are too many files now, what was there is still compared.
    let now = walk(fence, limits.files.saturating_mul(4))?.unwrap_or_default();
    let mut difference = Difference::default();
    let mut seen = BTreeSet::new();
    let inodes: BTreeSet<u64> = before.files.values().map(|entry| entry.identity.inode).collect();
    for Seen { name, path, identity } in now.files {
        seen.insert(name.clone());
        let Some(entry) = before.files.get(&name) else {
            // It came into sight because rules of what is ignored changed, or could not be read before.
            let is_old =
                identity.changed < before.tick - COARSE && !inodes.contains(&identity.inode);
            if !is_old {
                let was_folder = before.folders.contains(&name);
                let earlier = if was_folder { State::Folder } else { State::Missing };
                let after = look(&path, limits)?;
                difference.changes.push(Change { path, before: earlier, after });
            }
            continue;
        };
        if entry.is_settled && entry.identity == identity {
            continue;
        }
        push_if_changed(&mut difference, path, entry, limits)?;
    }
    for (name, entry) in &before.files {
        if !seen.contains(name) {
            push_if_changed(&mut difference, before.folder.join(name), entry, limits)?;
        }
    }
    let made = now.folders.difference(&before.folders);
    difference.folders = made.map(|name| before.folder.join(name)).collect();
    Ok(difference)
}

fn push_if_changed(
    difference: &mut Difference,
    path: PathBuf,
    entry: &Entry,
    limits: &Limits,
) -> Result<()> {
    let after = look(&path, limits)?;
    if after != entry.state {
        difference.changes.push(Change { path, before: entry.state.clone(), after });
    }
    Ok(())
}

fn look(path: &Path, limits: &Limits) -> Result<State> {
    match State::of(path, Contents::Look, limits.file_bytes) {
        Err(Error::Read { .. }) => Ok(State::Other),
        other => other,
    }
}

/// The time of the file system now.
pub(super) fn tick(folder: &Path) -> Result<i64> {
    let file = tempfile::tempfile_in(folder).map_err(|source| Error::write(folder, source))?;
    let metadata = file.metadata().map_err(|source| Error::write(folder, source))?;
    Ok(Identity::of(&metadata).modified)
}

impl Index {
    /// Reads an index that was written; none if it cannot be read: it is taken anew.
    pub(super) fn read(path: &Path) -> Option<Index> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Whether both say the same about every file.
    pub(super) fn says_same(&self, other: &Index) -> bool {
        self.files == other.files && self.folders == other.folders
    }
}

#[derive(Debug, Default)]
struct Found {
    files: Vec<Seen>,
    folders: BTreeSet<String>,
}

#[derive(Debug)]
struct Seen {
    name: String,
    path: PathBuf,
    identity: Identity,
}

/// All files that are not ignored, no secrets, nothing of git's own; none if there are too many.
fn walk(fence: &Fence, most: usize) -> Result<Option<Found>> {
    let folder = fence.working();
    let mut found = Found::default();
    let judge = fence.clone();
    let walk = WalkBuilder::new(folder)
        .hidden(false)
        .require_git(false)
        .same_file_system(true)
        .filter_entry(move |entry| {
            entry.depth() == 0
                || (entry.file_name() != ".git" && judge.judge(entry.path(), Aim::Read).is_ok())
        })
        .build();
    for entry in walk {
        // What vanished meanwhile, or cannot be looked into.
        let Ok(entry) = entry else { continue };
        let Ok(metadata) = entry.path().symlink_metadata() else { continue };
        let name = entry.path().strip_prefix(folder).ok().and_then(Path::to_str);
        let Some(name) = name.filter(|name| !name.is_empty()) else { continue };
        if metadata.is_dir() {
            found.folders.insert(name.to_owned());
        } else if metadata.is_file() || metadata.is_symlink() {
            let identity = Identity::of(&metadata);
            found.files.push(Seen { name: name.to_owned(), path: entry.into_path(), identity });
        }
        if found.files.len() > most {
            return Ok(None);
        }
    }
    Ok(Some(found))
}
