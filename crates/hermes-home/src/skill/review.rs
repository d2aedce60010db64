//! The user's word on a skill that waits: approve it or reject it.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::error::skill::Trouble;
use crate::error::{Error, Result};
use crate::layout::Home;
use crate::lock;
use crate::skill::catalog::missing;
use crate::skill::frontmatter::key;
use crate::skill::offer::Place;
use crate::skill::{Catalog, State, add, rejected, remove};
use crate::versions::{self, Replacement};

/// A skill that is used from now on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    /// Its SKILL.md.
    pub path: PathBuf,
    /// Whether an older one was there, which is kept as a version.
    pub replaced: bool,
}

/// A skill that the user did not want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// Where it is kept.
    pub kept_in: PathBuf,
    /// Whether it will be known again when it is offered.
    pub remembered: bool,
}

/// Puts a skill that waits into use; one that is there goes only when it was generated and untouched.
pub fn approve(home: &Home, name: &str, now: Timestamp) -> Result<Approved> {
    home.must_exist()?;
    Catalog::find_pending(home, name)?;
    let _guard = lock::hold(&home.skills_guard())?;
    let waiting = Catalog::find_pending(home, name)?;
    let place = Place::of(&Catalog::read(home)?, &home.skills(), name);
    if let Some(why) = place.refusal() {
        return Err(Trouble::Kept { why }.of(name));
    }
    let from = waiting.file.parent().unwrap_or(&waiting.file).to_owned();
    let Some(old) = place.replaced() else {
        let path = add::install(home, &from, name)?;
        fs::remove_dir_all(&from).map_err(|source| Error::write(&from, source))?;
        return Ok(Approved { path, replaced: false });
    };
    replace(home, old, &waiting.file, now)?;
    // Its text is in use and kept as a version; a folder that holds more stays.
    fs::remove_file(&waiting.file).map_err(|source| Error::write(&waiting.file, source))?;
    let _ = fs::remove_dir(&from);
    Ok(Approved { path: old.to_owned(), replaced: true })
}

fn replace(home: &Home, path: &Path, with: &Path, now: Timestamp) -> Result<()> {
    let read = |path: &Path| fs::read(path).map_err(|source| Error::read(path, source));
    let (old, new) = (read(path)?, read(with)?);
    let replacement =
        Replacement { old: Some(&old), new: &new, reason: "approved", now, format: None };
    versions::replace(home, path, &replacement)
}

/// Takes a skill that waits away, and never offers one again that says the same.
pub fn reject(home: &Home, name: &str, now: Timestamp) -> Result<Rejected> {
    home.must_exist()?;
    locate(home, name)?;
    let _guard = lock::hold(&home.skills_guard())?;
    let (folder, hashes) = locate(home, name)?;
    let remembered = !hashes.is_empty();
    if remembered {
        rejected::remember(home, name, &hashes, now)?;
    }
    let kept_in = remove::set_aside(home, &folder, now)?;
    Ok(Rejected { kept_in, remembered })
}

/// The folder of a skill that waits, with the hashes of what it says and of what it said when made.
fn locate(home: &Home, name: &str) -> Result<(PathBuf, Vec<String>)> {
    let pending = Catalog::pending(home)?;
    if let Some(skill) = pending.get(name) {
        let folder = skill.file.parent().unwrap_or(&skill.file).to_owned();
        let mut hashes = vec![skill.content.hash()];
        hashes.extend(skill.content.metadata.get(key::CONTENT).cloned());
        hashes.dedup();
        return Ok((folder, hashes));
    }
    match pending.get_broken(name) {
        Some(broken) => Ok((broken.folder.clone(), Vec::new())),
        None => Err(missing(name, State::Pending, &pending, &Catalog::read(home)?)),
    }
}
