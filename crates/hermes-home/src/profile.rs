//! Profiles: each one a whole home of its own.

use std::fs;
use std::io;

use jiff::Timestamp;

use crate::atomic;
use crate::error::{Error, Result};
use crate::layout::Home;
use crate::name::ProfileName;

/// The names of all profiles below the root, sorted; the default one is not among them.
pub fn list(home: &Home) -> Result<Vec<ProfileName>> {
    let folder = home.profiles();
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::read(&folder, error)),
        Ok(entries) => entries,
    };
    let mut names: Vec<ProfileName> = entries
        .filter_map(|entry| entry.ok().filter(|entry| entry.path().is_dir()))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// The profile chosen with `hermes profile use`, if any.
pub fn sticky(home: &Home) -> Result<Option<ProfileName>> {
    let path = home.active_profile();
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::read(&path, error)),
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => crate::layout::parse_profile(text.trim())
            .map_err(|_| unusable(home, text.trim(), "that is not a profile name")),
    }
}

/// The error for a sticky choice that cannot be followed.
pub(crate) fn unusable(home: &Home, name: &str, why: &'static str) -> Error {
    Error::StickyProfile { path: home.active_profile(), name: name.to_owned(), why }
}

/// Remembers the profile to use from now on; none means the root home.
pub fn make_sticky(home: &Home, profile: Option<&ProfileName>) -> Result<()> {
    let Some(name) = profile else { return forget_sticky(home) };
    let target = home.sibling(Some(name.clone()));
    if !target.folder().is_dir() {
        return Err(missing(&target));
    }
    atomic::write(&home.active_profile(), format!("{name}\n").as_bytes())
}

/// Moves the profile out of sight; returns where it is kept.
pub fn set_aside(home: &Home, name: &ProfileName, now: Timestamp) -> Result<std::path::PathBuf> {
    let target = existing(home, name)?;
    let stamp = now.strftime("%Y%m%dT%H%M%SZ");
    let kept = home.deleted_profiles().join(format!("{name}-{stamp}"));
    atomic::make_folder(&home.deleted_profiles())?;
    fs::rename(target.folder(), &kept).map_err(|source| Error::write(&kept, source))?;
    forget_sticky_if(home, name)?;
    Ok(kept)
}

/// Brings the profile of this name back that was taken away last; returns where it was kept.
pub fn restore(home: &Home, name: &ProfileName) -> Result<std::path::PathBuf> {
    let target = home.sibling(Some(name.clone()));
    if target.folder().symlink_metadata().is_ok() {
        return Err(Error::ProfileExists { name: name.to_string() });
    }
    let aside = home.deleted_profiles();
    let kept = fs::read_dir(&aside).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_it = |path: &std::path::PathBuf| {
        let kept = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        kept.rsplit_once('-').is_some_and(|(kept, _)| kept == name.as_str()) && path.is_dir()
    };
    let Some(kept) = kept.filter(is_it).max() else { return Err(missing(&target)) };
    atomic::make_folder(&home.profiles())?;
    fs::rename(&kept, target.folder()).map_err(|source| Error::write(target.folder(), source))?;
    Ok(kept)
}

/// Removes the profile and everything in it, for ever.
pub fn erase(home: &Home, name: &ProfileName) -> Result<()> {
    let target = existing(home, name)?;
    fs::remove_dir_all(target.folder()).map_err(|source| Error::write(target.folder(), source))?;
    forget_sticky_if(home, name)
}

/// Gives a profile another name; `hermes profile use` follows it.
pub fn rename(home: &Home, from: &ProfileName, to: &ProfileName) -> Result<()> {
    let old = existing(home, from)?;
    let new = home.sibling(Some(to.clone()));
    if new.folder().exists() {
        return Err(Error::ProfileExists { name: to.to_string() });
    }
    fs::rename(old.folder(), new.folder()).map_err(|source| Error::write(new.folder(), source))?;
    if sticky(home)?.as_ref() == Some(from) {
        make_sticky(home, Some(to))?;
    }
    Ok(())
}

/// The home of a profile that must be there.
pub fn existing(home: &Home, name: &ProfileName) -> Result<Home> {
    let target = home.sibling(Some(name.clone()));
    if target.folder().is_dir() { Ok(target) } else { Err(missing(&target)) }
}

/// The error for a profile that is not there, with the nearest name that is.
pub(crate) fn missing(wanted: &Home) -> Error {
    const NEAR: f64 = 0.75;
    let name = wanted.profile_name().to_owned();
    let names = list(wanted).unwrap_or_default();
    let likeness = |candidate: &ProfileName| strsim::jaro_winkler(candidate.as_str(), &name);
    let nearest = names
        .iter()
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
        .filter(|candidate| likeness(candidate) >= NEAR)
        .map(ProfileName::to_string);
    Error::NoProfile { name, nearest }
}

fn forget_sticky_if(home: &Home, name: &ProfileName) -> Result<()> {
    if sticky(home)?.as_ref() == Some(name) { forget_sticky(home) } else { Ok(()) }
}

fn forget_sticky(home: &Home) -> Result<()> {
    let path = home.active_profile();
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(&path, error)),
        _ => Ok(()),
    }
}
