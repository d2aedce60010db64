//! Take a skill away; it is kept aside, never just unlinked.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::atomic;
use crate::error::skill::Trouble;
use crate::error::{Error, Result};
use crate::layout::Home;
use crate::lock;
use crate::skill::catalog::missing;
use crate::skill::{Catalog, State, restore};

/// What happens to a skill that is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfLocked {
    /// It stays.
    Refuse,
    /// It goes like any other, because the user said so.
    Take,
}

/// A skill that was taken away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// Where it was.
    pub folder: PathBuf,
    /// Where it is kept.
    pub kept_in: PathBuf,
}

/// Takes the skill in use of this name away, also one that something is wrong with.
pub fn delete(home: &Home, name: &str, locked: OfLocked, now: Timestamp) -> Result<Deleted> {
    home.must_exist()?;
    may_delete(home, name, locked)?;
    let _guard = lock::hold(&home.skills_guard())?;
    let folder = may_delete(home, name, locked)?;
    let kept_in = set_aside(home, &folder, now)?;
    Ok(Deleted { folder, kept_in })
}

/// The folder of a skill that may be taken away; fails just as [`delete`] would.
pub fn may_delete(home: &Home, name: &str, locked: OfLocked) -> Result<PathBuf> {
    let (folder, is_locked) = locate(home, name)?;
    if is_locked && locked == OfLocked::Refuse {
        return Err(Trouble::Locked.of(name));
    }
    Ok(folder)
}

fn locate(home: &Home, name: &str) -> Result<(PathBuf, bool)> {
    let active = Catalog::read(home)?;
    if let Some(skill) = active.get(name) {
        let folder = skill.file.parent().unwrap_or(&skill.file).to_owned();
        return Ok((folder, skill.content.is_locked));
    }
    match active.get_broken(name) {
        Some(broken) => Ok((broken.folder.clone(), broken.is_locked)),
        None => Err(missing(name, State::Active, &active, &Catalog::pending(home)?)),
    }
}

/// Moves the folder of a skill to the deleted ones; returns where it is.
pub(super) fn set_aside(home: &Home, folder: &Path, now: Timestamp) -> Result<PathBuf> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let stamp = now.strftime("%Y%m%dT%H%M%SZ");
    let aside = home.deleted_skills();
    atomic::make_folder(&aside)?;
    let mut kept = aside.join(format!("{stamp}-{name}"));
    let mut number = 2;
    while kept.symlink_metadata().is_ok() {
        kept = aside.join(format!("{stamp}-{name}-{number}"));
        number += 1;
    }
    restore::note_place(home, &kept, folder)?;
    fs::rename(folder, &kept).map_err(|source| Error::write(&kept, source))?;
    for changed in [Some(aside.as_path()), folder.parent()].into_iter().flatten() {
        atomic::sync_folder(changed).map_err(|source| Error::write(changed, source))?;
    }
    Ok(kept)
}
