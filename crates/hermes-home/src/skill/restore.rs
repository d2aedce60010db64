//! Bring a skill back that was taken away or rejected, to where it was.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic;
use crate::error::skill::Trouble;
use crate::error::{Error, Result};
use crate::layout::Home;
use crate::lock;
use crate::skill::{State, rejected};

/// A skill that is back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Where it is.
    pub folder: PathBuf,
    /// Whether it is in use, or waits again.
    pub state: State,
}

/// Brings the skill of this name back that was taken away last; a rejected one waits again, and may be
/// offered again.
pub fn restore(home: &Home, name: &str) -> Result<Restored> {
    home.must_exist()?;
    let _guard = lock::hold(&home.skills_guard())?;
    let Some(kept) = latest(home, name)? else { return Err(Trouble::NotKept.of(name)) };
    let note = note_beside(&kept);
    let from = fs::read_to_string(&note).unwrap_or_default();
    let folder = match inside(home, from.trim()) {
        Some(folder) => folder,
        None => home.skills().join(name),
    };
    if folder.symlink_metadata().is_ok() {
        return Err(Trouble::Exists { path: folder }.of(name));
    }
    let state = match folder.starts_with(home.pending_skills()) {
        true => State::Pending,
        false => State::Active,
    };
    if let Some(parent) = folder.parent() {
        atomic::make_folder(parent)?;
    }
    if state == State::Pending {
        rejected::forget(home, name)?;
    }
    fs::rename(&kept, &folder).map_err(|source| Error::write(&folder, source))?;
    for changed in [kept.parent(), folder.parent()].into_iter().flatten() {
        atomic::sync_folder(changed).map_err(|source| Error::write(changed, source))?;
    }
    // It is only a note: the skill is back.
    let _ = fs::remove_file(note);
    Ok(Restored { folder, state })
}

/// Notes where a skill was, beside the folder it is kept in.
pub(super) fn note_place(home: &Home, kept: &Path, was: &Path) -> Result<()> {
    let place = was.strip_prefix(home.folder()).unwrap_or(was).display().to_string();
    atomic::write(&note_beside(kept), format!("{place}\n").as_bytes())
}

fn note_beside(kept: &Path) -> PathBuf {
    let name = kept.file_name().unwrap_or_default().to_string_lossy();
    kept.with_file_name(format!("{name}.from"))
}

/// A place that the note names, if it is one where skills are.
fn inside(home: &Home, place: &str) -> Option<PathBuf> {
    let is_plain = |part: std::path::Component<'_>| matches!(part, std::path::Component::Normal(_));
    let place = Path::new(place);
    let folder = home.folder().join(place);
    let is_ours = folder.starts_with(home.skills()) || folder.starts_with(home.pending_skills());
    (place.components().all(is_plain) && is_ours).then_some(folder)
}

/// The folder `<time>-<name>` or `<time>-<name>-<number>` that is youngest.
fn latest(home: &Home, name: &str) -> Result<Option<PathBuf>> {
    let aside = home.deleted_skills();
    let entries = match fs::read_dir(&aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::read(&aside, error)),
        Ok(entries) => entries,
    };
    let is_it = |path: &PathBuf| {
        let kept = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rest = kept.split_once('-').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        let number = rest.strip_prefix(name).and_then(|end| end.strip_prefix('-'));
        let is_numbered = number.is_some_and(|number| number.parse::<u32>().is_ok());
        path.is_dir() && (rest == name || is_numbered)
    };
    let found = entries.flatten().map(|entry| entry.path()).filter(is_it);
    Ok(found.max_by_key(|path| {
        let kept = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stamp = kept.split('-').next().unwrap_or_default().to_owned();
        (stamp, kept.len(), kept)
    }))
}
