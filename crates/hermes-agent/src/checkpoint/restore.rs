//! Bring files back to what they were: first a plan, then the deed, which can itself be undone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use jiff::Timestamp;
use serde::Serialize;

use super::index::{self, Difference, Index};
use super::state::{Contents, State};
use super::{Change, Checkpoint, Store};
use crate::diff;
use crate::error::{Error, Result};
use crate::fence::Fence;

/// What a restore would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// The checkpoint that is gone back to.
    pub number: u32,
    /// The session whose changes are undone.
    pub session: String,
    /// The working folder.
    pub folder: PathBuf,
    /// The files that are different now, by their paths.
    pub changes: Vec<Planned>,
    /// The folders that were made since; those that are empty then go too.
    pub folders: Vec<PathBuf>,
}

/// One file of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// Its path.
    pub path: PathBuf,
    /// What is there now.
    pub now: State,
    /// What was there then.
    pub then: State,
    /// Whether somebody else than the agent changed it since.
    pub is_foreign: bool,
    /// Why it stays as it is; none: it is brought back.
    pub stays: Option<&'static str>,
}

/// How a plan is carried out.
#[derive(Debug, Clone, Copy)]
pub struct Restoring {
    /// Whether files are replaced that somebody else changed since.
    pub force: bool,
    /// In which turn of the session.
    pub turn: u32,
    /// When.
    pub now: Timestamp,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// The checkpoint that undoes it; none if there was nothing to do.
    pub undo: Option<u32>,
    /// The files that were written.
    pub written: Vec<PathBuf>,
    /// The files that were removed.
    pub removed: Vec<PathBuf>,
    /// The files that stayed as they are.
    pub left: Vec<PathBuf>,
}

/// Longer files are compared by their sizes alone.
const MOST_SHOWN: u64 = 4_000_000;

/// What is known of one file since the checkpoint.
struct History {
    then: State,
    /// What it was before or after any change of the agent.
    known: Vec<State>,
}

impl Store {
    /// What it would take to go back to before a checkpoint: its own change and all later ones of the session.
    pub fn plan(&self, number: u32) -> Result<Plan> {
        let target = self.get(number)?;
        let mut since = self.list(Some(&target.session))?;
        since.retain(|checkpoint| checkpoint.number >= number);
        since.reverse();
        let mut histories: BTreeMap<PathBuf, History> = BTreeMap::new();
        let mut folders = Vec::new();
        for checkpoint in &since {
            let done = self.done_by(checkpoint)?;
            folders.extend(done.folders);
            for Change { path, before, after } in done.changes {
                let history = histories
                    .entry(path)
                    .or_insert_with(|| History { then: before.clone(), known: Vec::new() });
                history.known.push(before);
                // Nobody saw whether it was the command that did this.
                if checkpoint.pending.is_none() {
                    history.known.push(after);
                }
            }
        }
        folders.sort();
        folders.dedup();
        let mut changes = Vec::new();
        for (path, mut history) in histories {
            if folders.contains(&path) {
                history.known.push(State::Folder);
            }
            changes.extend(self.planned(path, &history)?);
        }
        let Checkpoint { session, folder, .. } = target;
        Ok(Plan { number, session, folder, changes, folders })
    }

    /// What a plan would change, as a unified diff from now to then.
    pub fn diff(&self, plan: &Plan) -> Result<String> {
        let mut text = String::new();
        for change in &plan.changes {
            text.push_str(&self.diff_of(plan, change)?);
        }
        Ok(text)
    }

    /// Carries a plan out; what is there now is kept first.
    pub fn restore(&self, plan: &Plan, restoring: &Restoring) -> Result<Restored> {
        let foreign = plan.foreign();
        if !restoring.force && !foreign.is_empty() {
            return Err(Error::ChangedSince { paths: foreign });
        }
        let (todo, left): (Vec<&Planned>, Vec<&Planned>) =
            plan.changes.iter().partition(|change| change.stays.is_none());
        let paths = |changes: &[&Planned]| changes.iter().map(|one| one.path.clone()).collect();
        let (removed, written): (Vec<&Planned>, Vec<&Planned>) =
            todo.iter().partition(|change| change.then == State::Missing);
        let mut restored = Restored {
            undo: None,
            written: paths(&written),
            removed: paths(&removed),
            left: paths(&left),
        };
        if !todo.is_empty() {
            let _lock = self.lock()?;
            restored.undo = Some(self.keep_now(plan, &todo, restoring)?);
            self.carry_out(plan, &todo)?;
        }
        Ok(restored)
    }

    /// First what has to go, then the folders it was in, then what comes back.
    fn carry_out(&self, plan: &Plan, todo: &[&Planned]) -> Result<()> {
        for change in todo.iter().rev().filter(|change| change.goes_first()) {
            must_be_straight(&change.path, &[])?;
            State::Missing.put(&change.path, &self.blobs)?;
        }
        for folder in plan.folders.iter().rev() {
            // Only an empty one can be removed, and only that is meant.
            let _ = fs::remove_dir(folder);
        }
        for Planned { path, now, then, .. } in todo {
            if *then == State::Missing {
                continue;
            }
            must_be_straight(path, &[])?;
            if *now == State::Folder && path.is_dir() {
                let why = "a folder that is not empty has its name";
                fs::remove_dir(path).map_err(|_| Error::InTheWay { path: path.clone(), why })?;
            }
            then.put(path, &self.blobs)?;
        }
        let touched: BTreeSet<&Path> = todo.iter().filter_map(|one| one.path.parent()).collect();
        for folder in touched.into_iter().filter(|folder| folder.is_dir()) {
            atomic::sync_folder(folder).map_err(|source| Error::write(folder, source))?;
        }
        Ok(())
    }

    /// The checkpoint that undoes a restore; fails if a file is not what the plan saw.
    fn keep_now(&self, plan: &Plan, todo: &[&Planned], restoring: &Restoring) -> Result<u32> {
        let mut changes = Vec::new();
        let mut folders = Vec::new();
        let going = todo.iter().filter(|change| change.goes_first());
        let going: Vec<&Path> = going.map(|change| change.path.as_path()).collect();
        for Planned { path, now, then, .. } in todo {
            must_be_straight(path, &going)?;
            let found = state_of(path, Contents::Keep(&self.blobs), u64::MAX)?;
            if found != *now {
                return Err(Error::ChangedSince { paths: vec![path.clone()] });
            }
            // What cannot be had must be known before anything is touched.
            if let Some(hash) = then.hash().filter(|hash| !self.blobs.has(hash)) {
                return Err(Error::DamagedContent { hash: hash.to_owned() });
            }
            if *then != State::Missing {
                // Where a file or a link stands now, there will be a folder too.
                let above = path.ancestors().skip(1).take_while(|folder| !is_folder(folder));
                folders.extend(above.map(Path::to_owned));
            }
            changes.push(Change { path: path.clone(), before: found, after: then.clone() });
        }
        folders.sort();
        folders.dedup();
        let number = self.next_number()?;
        self.write(&Checkpoint {
            number,
            session: plan.session.clone(),
            turn: restoring.turn,
            at: restoring.now,
            folder: plan.folder.clone(),
            what: format!("restore checkpoint {}", plan.number),
            changes,
            folders,
            pending: None,
        })?;
        Ok(number)
    }

    fn planned(&self, path: PathBuf, history: &History) -> Result<Option<Planned>> {
        let then = history.then.clone();
        let most = match then {
            State::TooBig { .. } => self.limits.file_bytes,
            _ => u64::MAX,
        };
        let now = state_of(&path, Contents::Look, most)?;
        // A folder that was made goes with what was made in it.
        if now == then || (now == State::Folder && then == State::Missing) {
            return Ok(None);
        }
        let stays = match (&now, &then) {
            (_, State::TooBig { .. }) => Some("it was too large to be stored"),
            (_, State::Other) => Some("it was not a regular file"),
            (State::Other, _) => Some("it is not a regular file now"),
            _ => None,
        };
        // Folders that go away are not written down: where one was, nothing is nobody's work.
        let is_gone = now == State::Missing && history.known.contains(&State::Folder);
        let is_known = is_gone || history.known.iter().any(|state| state.holds_same(&now));
        let is_foreign = stays.is_none() && !is_known;
        Ok(Some(Planned { path, now, then, is_foreign, stays }))
    }

    /// What a checkpoint's change did; for a command that nobody saw the end of, all that is different.
    fn done_by(&self, checkpoint: &Checkpoint) -> Result<Difference> {
        let Checkpoint { changes, folders, .. } = checkpoint;
        let Some(name) = &checkpoint.pending else {
            return Ok(Difference { changes: changes.clone(), folders: folders.clone() });
        };
        let Some(index) = Index::read(&self.indexes().join(name)) else {
            return Err(Error::DamagedCheckpoint { path: self.manifest(checkpoint.number) });
        };
        // Where the folder itself is gone, there is nothing to compare with.
        match Fence::new(&self.home, &index.folder, &[]) {
            Ok(fence) => index::compare(&index, &fence, &self.limits),
            Err(_) => Ok(Difference::default()),
        }
    }

    fn diff_of(&self, plan: &Plan, change: &Planned) -> Result<String> {
        let Planned { path, now, then, stays, .. } = change;
        let name = path.strip_prefix(&plan.folder).unwrap_or(path).display().to_string();
        if let Some(stays) = stays {
            return Ok(format!("--- {name}\n+++ {name}\n@@ left as it is: {stays} @@\n"));
        }
        let before = match now {
            State::File { size, .. } if *size <= MOST_SHOWN => {
                Shown::Text(fs::read(path).map_err(|source| Error::read(path, source))?)
            }
            other => Shown::of(other),
        };
        let after = match then {
            State::File { hash, size, .. } if *size <= MOST_SHOWN => {
                Shown::Text(self.blobs.read(hash, MOST_SHOWN)?.unwrap_or_default())
            }
            other => Shown::of(other),
        };
        let text = match (&before, &after) {
            (Shown::Words(_), _) | (_, Shown::Words(_)) => {
                let (before, after) = (before.words(), after.words());
                format!("--- {name}\n+++ {name}\n@@ {before} becomes {after} @@\n")
            }
            _ => diff::of_file(&name, before.bytes(), after.bytes()),
        };
        let (State::File { mode: old, .. }, State::File { mode: new, .. }) = (now, then) else {
            return Ok(text);
        };
        match old == new {
            true => Ok(text),
            false if text.is_empty() => {
                Ok(format!("--- {name}\n+++ {name}\n@@ mode {old:o} becomes {new:o} @@\n"))
            }
            false => Ok(format!("{text}@@ mode {old:o} becomes {new:o} @@\n")),
        }
    }
}

impl Plan {
    /// The files that somebody else changed since.
    pub fn foreign(&self) -> Vec<PathBuf> {
        let foreign = self.changes.iter().filter(|change| change.is_foreign);
        foreign.map(|change| change.path.clone()).collect()
    }

    /// Whether everything is as it was then.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Planned {
    /// Whether a name has to become free before others can come back.
    fn goes_first(&self) -> bool {
        matches!(self.now, State::File { .. } | State::Link { .. })
            && matches!(self.then, State::Missing | State::Folder)
    }
}

/// What a diff shows of a state.
enum Shown {
    Nothing,
    Text(Vec<u8>),
    Words(String),
}

impl Shown {
    fn of(state: &State) -> Shown {
        match state {
            State::Missing => Shown::Nothing,
            State::File { size, .. } | State::TooBig { size, .. } => {
                Shown::Words(format!("a file of {size} bytes"))
            }
            State::Link { target } => Shown::Words(format!("a link to {}", target.display())),
            State::Folder => Shown::Words("a folder".to_owned()),
            State::Other => Shown::Words("something that is not a file".to_owned()),
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Shown::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    fn words(&self) -> String {
        match self {
            Shown::Nothing => "nothing".to_owned(),
            Shown::Text(bytes) => format!("a file of {} bytes", bytes.len()),
            Shown::Words(words) => words.clone(),
        }
    }
}

/// What is at a path; behind a link there is nothing of ours.
fn state_of(path: &Path, contents: Contents<'_>, most: u64) -> Result<State> {
    match link_above(path) {
        Some(_) => Ok(State::Missing),
        None => State::of(path, contents, most),
    }
}

/// Fails where the way to a path leads through a link now, other than those that go first.
fn must_be_straight(path: &Path, going: &[&Path]) -> Result<()> {
    match link_above(path) {
        Some(link) if !going.contains(&link) => {
            Err(Error::InTheWay { path: path.to_owned(), why: "its path leads through a link" })
        }
        _ => Ok(()),
    }
}

/// The outermost link that the way to a path leads through.
fn link_above(path: &Path) -> Option<&Path> {
    let above = path.ancestors().skip(1);
    above.filter(|above| above.symlink_metadata().is_ok_and(|found| found.is_symlink())).last()
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
