//! What a disk may hold after the power went: all that was synced, and any part of what was not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::vfs::Event;

/// Files by their path; a file that is not there has no content.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Numbers that look random and are the same in every run.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x706f_7765_7220_6f66)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % (end.max(1) as u64)).unwrap_or(0)
    }
}

/// The smallest part of a write that reaches the disk by itself.
const SECTOR: usize = 512;

/// Everything as it happened: what another process would find.
pub(crate) fn as_it_happened(before: &Files, events: &[Event]) -> Files {
    let mut files = before.clone();
    events.iter().for_each(|event| apply(&mut files, event));
    files
}

/// The disk after the power went: each change that was not synced is there, or is not, or is there in part.
pub(crate) fn after_power_loss(before: &Files, events: &[Event], chance: &mut Chance) -> Files {
    let mut synced = before.clone();
    let mut unsynced: Vec<Event> = Vec::new();
    for event in events {
        match event {
            Event::Synced { path } => settle(&mut synced, &mut unsynced, path),
            Event::Deleted { path, synced: true } => {
                settle(&mut synced, &mut unsynced, path);
                apply(&mut synced, event);
            }
            other => unsynced.push(other.clone()),
        }
    }
    // A whole range of outcomes from "nothing of it" to "all of it".
    let kept_of_eight = chance.below(9);
    for event in &unsynced {
        if chance.below(8) < kept_of_eight {
            apply(&mut synced, event);
        } else if let Event::Written { path, at, bytes } = event {
            tear(&mut synced, (path, *at, bytes), chance);
        }
    }
    synced
}

/// What was done to a file until it was synced stays, and so does its name.
fn settle(synced: &mut Files, unsynced: &mut Vec<Event>, path: &Path) {
    unsynced.retain(|event| {
        let is_of_it = path_of(event) == path;
        if is_of_it {
            apply(synced, event);
        }
        !is_of_it
    });
}

fn path_of(event: &Event) -> &Path {
    match event {
        Event::Made { path }
        | Event::Written { path, .. }
        | Event::Cut { path, .. }
        | Event::Synced { path }
        | Event::Deleted { path, .. } => path,
    }
}

/// Some sectors of a write, the others as they were.
fn tear(files: &mut Files, (path, at, bytes): (&Path, usize, &[u8]), chance: &mut Chance) {
    for (number, sector) in bytes.chunks(SECTOR).enumerate() {
        if files.contains_key(path) && chance.below(4) == 0 {
            put(files, path, at + number * SECTOR, sector);
        }
    }
}

fn apply(files: &mut Files, event: &Event) {
    match event {
        Event::Made { path } => {
            files.entry(path.clone()).or_default();
        }
        Event::Written { path, at, bytes } => put(files, path, *at, bytes),
        Event::Cut { path, size } => {
            if let Some(content) = files.get_mut(path) {
                content.truncate(*size);
            }
        }
        Event::Synced { .. } => {}
        Event::Deleted { path, .. } => {
            files.remove(path);
        }
    }
}

fn put(files: &mut Files, path: &Path, at: usize, bytes: &[u8]) {
    let content = files.entry(path.to_owned()).or_default();
    content.resize(content.len().max(at + bytes.len()), 0);
    content[at..at + bytes.len()].copy_from_slice(bytes);
}

/// The files of a folder.
pub(crate) fn read_folder(folder: &Path) -> Files {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect()
}

/// Puts the files into another folder, which holds nothing else then.
#[expect(clippy::disallowed_methods, reason = "a disk is made up, as a crash would leave it")]
pub(crate) fn lay_out(files: &Files, folder: &Path) {
    for left in std::fs::read_dir(folder).unwrap() {
        std::fs::remove_file(left.unwrap().path()).unwrap();
    }
    for (path, content) in files {
        std::fs::write(folder.join(path.file_name().unwrap()), content).unwrap();
    }
}
