//! Find the home that is meant, and the profile of it, by flag, environment and choice.

use std::path::{Path, PathBuf};

use crate::env::{self, Env};
use crate::error::{Error, Result};
use crate::layout::{ChosenBy, Home, PROFILES, Wanted, expand_tilde, parse_profile};
use crate::name::ProfileName;
use crate::profile;

impl Home {
    /// Finds the home by flag, environment, then `~/.hermes`; a named profile must exist.
    pub fn locate(wanted: &Wanted, env: &Env) -> Result<Home> {
        let given = match &wanted.home {
            Some(folder) => folder.clone(),
            None => from_environment(env)?,
        };
        let given = std::path::absolute(&given).map_err(|source| Error::read(&given, source))?;
        if given.exists() && !given.is_dir() {
            return Err(Error::HomeNotFolder { path: given });
        }
        let (root, inside) = split_profile_folder(&given);
        let (profile, chosen_by) = choose_profile(&root, inside, wanted, env)?;
        let home = Home::at(root, profile, chosen_by);
        if home.profile().is_some() && !home.folder().is_dir() {
            return Err(match home.chosen_by() {
                ChosenBy::Sticky => {
                    profile::unusable(&home, home.profile_name(), "there is no such profile")
                }
                _ => profile::missing(&home),
            });
        }
        Ok(home)
    }
}

fn from_environment(env: &Env) -> Result<PathBuf> {
    if let Some(folder) = env.text(env::HERMES_HOME)? {
        return expand_tilde(folder, env);
    }
    let user = env.user_folder()?.ok_or(Error::NoHome)?;
    let usual = user.join(".hermes");
    let is_asked_for = env.text("HERMES_XDG")? == Some("1");
    if !is_asked_for && usual.exists() {
        return Ok(usual);
    }
    let data = env.text("XDG_DATA_HOME")?.map(|folder| PathBuf::from(folder).join("hermes"));
    if is_asked_for {
        return Ok(data.unwrap_or_else(|| user.join(".local/share/hermes")));
    }
    Ok(data.filter(|data| data.is_dir()).unwrap_or(usual))
}

/// `<root>/profiles/<name>` is the folder of a profile, and its root is two levels up.
fn split_profile_folder(given: &Path) -> (PathBuf, Option<ProfileName>) {
    let name = given.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    let parent = given.parent().filter(|parent| parent.ends_with(PROFILES));
    match (name, parent.and_then(Path::parent)) {
        (Some(name), Some(root)) => (root.to_owned(), Some(name)),
        _ => (given.to_owned(), None),
    }
}

fn choose_profile(
    root: &Path,
    inside: Option<ProfileName>,
    wanted: &Wanted,
    env: &Env,
) -> Result<(Option<ProfileName>, ChosenBy)> {
    if let Some(name) = &wanted.profile {
        return Ok((parse_profile(name)?, ChosenBy::Flag));
    }
    if let Some(name) = env.text(env::HERMES_PROFILE)? {
        return Ok((parse_profile(name)?, ChosenBy::Environment));
    }
    if inside.is_some() {
        return Ok((inside, ChosenBy::Folder));
    }
    match profile::sticky(&Home::at(root.to_owned(), None, ChosenBy::Default))? {
        Some(name) => Ok((Some(name), ChosenBy::Sticky)),
        None => Ok((None, ChosenBy::Default)),
    }
}

#[cfg(test)]
#[path = "locate_tests.rs"]
mod tests;
