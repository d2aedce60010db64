//! What goes when checkpoints are too old or take too much room.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use jiff::Timestamp;
use serde::Serialize;

use super::index::Index;
use super::{Checkpoint, Store, blobs, names_in};
use crate::error::{Error, Result};

/// What went, or would go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pruned {
    /// The numbers of the checkpoints, oldest first.
    pub checkpoints: Vec<u32>,
    /// How many bytes became free.
    pub bytes: u64,
}

/// Everything in the store, as far as pruning asks.
struct Stock {
    checkpoints: Vec<Checkpoint>,
    indexes: BTreeMap<String, Index>,
    /// Sizes of the kept contents by their hashes.
    contents: BTreeMap<String, (PathBuf, u64)>,
    /// Files that were being written when somebody was killed.
    leftovers: Vec<PathBuf>,
}

/// One thing that can go to make room.
#[derive(Clone, Copy)]
enum Step<'a> {
    Index(&'a String),
    Checkpoint(&'a Checkpoint),
}

/// What of the store goes.
#[derive(Default, Clone)]
struct Plan {
    checkpoints: BTreeSet<u32>,
    indexes: BTreeSet<String>,
    contents: Vec<String>,
    bytes: u64,
}

impl Store {
    /// What [`Store::prune`] would take away.
    pub fn prune_plan(&self, now: Timestamp) -> Result<Pruned> {
        let plan = self.choose(&self.stock()?, now);
        Ok(Pruned { checkpoints: plan.checkpoints.into_iter().collect(), bytes: plan.bytes })
    }

    /// Takes away what is too old, then the oldest until the rest fits, then what nothing names.
    pub fn prune(&self, now: Timestamp) -> Result<Pruned> {
        if !self.folder.is_dir() {
            return Ok(Pruned::default());
        }
        let _lock = self.lock()?;
        let stock = self.stock()?;
        let plan = self.choose(&stock, now);
        // Descriptions first: a kill in between leaves contents that nothing names, never the reverse.
        for number in &plan.checkpoints {
            blobs::remove(&self.manifest(*number))?;
        }
        for name in &plan.indexes {
            blobs::remove(&self.indexes().join(name))?;
        }
        let paths = plan.contents.iter().filter_map(|hash| stock.contents.get(hash));
        for path in paths.map(|(path, _)| path).chain(&stock.leftovers) {
            blobs::remove(path)?;
        }
        Ok(Pruned { checkpoints: plan.checkpoints.into_iter().collect(), bytes: plan.bytes })
    }

    fn choose(&self, stock: &Stock, now: Timestamp) -> Plan {
        let mut plan = Plan::default();
        let is_old = |at: Timestamp| now.duration_since(at) > self.limits.age;
        for checkpoint in stock.checkpoints.iter().filter(|checkpoint| is_old(checkpoint.at)) {
            plan.checkpoints.insert(checkpoint.number);
        }
        let superseded = superseded(&stock.indexes);
        let pending: BTreeSet<&String> =
            stock.checkpoints.iter().filter_map(|checkpoint| checkpoint.pending.as_ref()).collect();
        for (name, index) in &stock.indexes {
            if (is_old(index.at) || superseded.contains(name)) && !pending.contains(name) {
                plan.indexes.insert(name.clone());
            }
        }
        // First what can be made again, then the oldest.
        let indexes = stock.indexes.keys().filter(|name| !pending.contains(name)).map(Step::Index);
        let steps: Vec<Step<'_>> =
            indexes.chain(stock.checkpoints.iter().map(Step::Checkpoint)).collect();
        let fits =
            |count: usize| stock.live_bytes(&plan.with(&steps[..count])) <= self.limits.bytes;
        let (mut too_few, mut enough) = (0, steps.len());
        while too_few < enough {
            let middle = usize::midpoint(too_few, enough);
            if fits(middle) { enough = middle } else { too_few = middle + 1 }
        }
        plan = plan.with(&steps[..enough]);
        let live = stock.live(&plan);
        let dead = |hash: &&String| !live.contains(hash.as_str());
        plan.contents = stock.contents.keys().filter(dead).cloned().collect();
        plan.bytes = plan
            .contents
            .iter()
            .filter_map(|hash| stock.contents.get(hash))
            .map(|(_, size)| size)
            .sum();
        plan
    }

    fn stock(&self) -> Result<Stock> {
        let mut checkpoints = self.list(None)?;
        checkpoints.reverse();
        let mut indexes = BTreeMap::new();
        let mut leftovers = Vec::new();
        for name in names_in(&self.indexes())? {
            let path = self.indexes().join(&name);
            match Index::read(&path) {
                Some(index) => drop(indexes.insert(name, index)),
                None => leftovers.push(path),
            }
        }
        let mut contents = BTreeMap::new();
        let folder = self.blobs.folder();
        for head in names_in(folder)? {
            let inner = folder.join(&head);
            if atomic::is_temporary(head.as_ref()) {
                leftovers.push(inner);
                continue;
            }
            for tail in names_in(&inner)? {
                let path = inner.join(&tail);
                if atomic::is_temporary(tail.as_ref()) {
                    leftovers.push(path);
                    continue;
                }
                let size = path.symlink_metadata().map_or(0, |found| found.len());
                contents.insert(format!("{head}{tail}"), (path, size));
            }
        }
        Ok(Stock { checkpoints, indexes, contents, leftovers })
    }
}

impl Plan {
    /// The same, and these things go too.
    fn with(&self, steps: &[Step<'_>]) -> Plan {
        let mut plan = self.clone();
        for step in steps {
            match step {
                Step::Index(name) => {
                    plan.indexes.insert((*name).clone());
                }
                Step::Checkpoint(checkpoint) => {
                    plan.indexes.extend(checkpoint.pending.clone());
                    plan.checkpoints.insert(checkpoint.number);
                }
            }
        }
        plan
    }
}

impl Stock {
    /// The contents that something names which stays.
    fn live(&self, plan: &Plan) -> BTreeSet<&str> {
        let stays = |checkpoint: &&Checkpoint| !plan.checkpoints.contains(&checkpoint.number);
        let changes = self.checkpoints.iter().filter(stays).flat_map(|one| &one.changes);
        let indexes = self.indexes.iter().filter(|(name, _)| !plan.indexes.contains(*name));
        let entries = indexes.flat_map(|(_, index)| index.files.values());
        changes
            .filter_map(|change| change.before.hash())
            .chain(entries.filter_map(|entry| entry.state.hash()))
            .collect()
    }

    fn live_bytes(&self, plan: &Plan) -> u64 {
        let sizes = self.live(plan).into_iter().filter_map(|hash| self.contents.get(hash));
        sizes.map(|(_, size)| size).sum()
    }
}

/// The indexes of folders that have a newer one.
fn superseded(indexes: &BTreeMap<String, Index>) -> BTreeSet<String> {
    let mut newest: BTreeMap<&Path, &String> = BTreeMap::new();
    // In the order of their names, the newest of a folder comes last.
    for (name, index) in indexes {
        newest.insert(&index.folder, name);
    }
    let kept: BTreeSet<&String> = newest.into_values().collect();
    indexes.keys().filter(|name| !kept.contains(name)).cloned().collect()
}

/// How many bytes the files below a folder take.
pub(super) fn size_of(folder: &Path) -> Result<u64> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(|source| Error::read(folder, source))?,
    };
    let mut size = 0;
    for entry in entries {
        let entry = entry.map_err(|source| Error::read(folder, source))?;
        let Ok(found) = entry.metadata() else { continue };
        size += if found.is_dir() { size_of(&entry.path())? } else { found.len() };
    }
    Ok(size)
}
