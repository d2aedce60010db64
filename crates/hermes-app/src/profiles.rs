//! Profiles: each one a whole home of its own, made, listed, renamed, taken away and brought back.

use std::path::PathBuf;

use hermes_home::init::Owner;
use hermes_home::layout::{MemoryTarget, parse_profile};
use hermes_home::memory_file::Document;
use hermes_home::{Error as HomeError, Home, ProfileName, profile};
use hermes_store::memory::{Memory, Wanted};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::prepare::{self, Prepared};

/// A profile as it is listed.
#[derive(Debug, Serialize)]
pub struct ProfileSummary {
    /// Its name.
    pub name: String,
    /// Whether it is the one in use.
    pub in_use: bool,
    /// Its folder.
    pub home: PathBuf,
    /// How large its state.db is.
    pub sessions_bytes: u64,
    /// How many tokens its memory files take.
    pub memory_tokens: usize,
}

/// Makes a profile with files and databases of its own.
pub fn create(app: &App, name: &str) -> anyhow::Result<Prepared> {
    let name: ProfileName = name.parse()?;
    let root = app.root_home()?;
    root.must_exist()?;
    let home = root.sibling(Some(name.clone()));
    if home.folder().exists() {
        return Err(HomeError::ProfileExists { name: name.to_string() }.into());
    }
    prepare::prepare(app, &home).inspect_err(|_| {
        // It was not there before, so nothing but our own half-made files goes.
        let _ = std::fs::remove_dir_all(home.folder());
    })
}

/// All profiles.
pub fn list(app: &App) -> anyhow::Result<Vec<ProfileSummary>> {
    let root = app.root_home()?;
    root.must_exist()?;
    let used = app.home()?;
    let mut results = vec![describe(&root, used.profile().is_none())];
    for name in profile::list(&root)? {
        let in_use = used.profile() == Some(&name);
        results.push(describe(&root.sibling(Some(name)), in_use));
    }
    Ok(results)
}

/// Gives a profile another name.
pub fn rename(app: &App, from: &str, to: &str) -> anyhow::Result<()> {
    let root = app.root_home()?;
    let Some(from) = parse_profile(from)? else {
        return Err(HomeError::DefaultProfile { action: "renamed" }.into());
    };
    let new: ProfileName = to.parse()?;
    let home = profile::existing(&root, &from)?;
    rename_memory(app, &home, from.as_str(), to)?;
    if let Err(error) = profile::rename(&root, &from, &new) {
        rename_memory(app, &home, to, from.as_str())?;
        return Err(error.into());
    }
    Ok(())
}

/// A profile that can be taken away, and its folder.
pub fn removable(app: &App, name: &str) -> anyhow::Result<(ProfileName, PathBuf)> {
    let root = app.root_home()?;
    let Some(name) = parse_profile(name)? else {
        return Err(HomeError::DefaultProfile { action: "deleted" }.into());
    };
    let folder = profile::existing(&root, &name)?.folder().to_owned();
    Ok((name, folder))
}

/// Takes a profile away; its files are kept in the folder that is returned.
pub fn set_aside(app: &App, name: &ProfileName) -> anyhow::Result<PathBuf> {
    Ok(profile::set_aside(&app.root_home()?, name, app.now)?)
}

/// Brings back the profile of this name that was taken away last.
pub fn restore(app: &App, name: &str) -> anyhow::Result<()> {
    let Some(name) = parse_profile(name)? else {
        return Err(HomeError::DefaultProfile { action: "restored" }.into());
    };
    profile::restore(&app.root_home()?, &name)?;
    Ok(())
}

/// A memory names its profile, so that no other one opens it.
fn rename_memory(app: &App, home: &Home, from: &str, to: &str) -> anyhow::Result<()> {
    let wait = app.lock_wait(home)?;
    if app.is_on_server(home)? {
        let mut store = app.server_memory_of(home, from, Access::Write, wait)?;
        return Ok(store.rename_profile(to)?);
    }
    let path = app.memory_path(home)?;
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let wanted = Wanted { path: &path, profile: from };
    Ok(Memory::open(wanted, Access::Write, wait)?.rename_profile(to)?)
}

/// A profile as it is listed.
pub fn describe(home: &Home, in_use: bool) -> ProfileSummary {
    let size = |path: PathBuf| std::fs::metadata(path).map(|found| found.len()).unwrap_or(0);
    let tokens = [MemoryTarget::Memory, MemoryTarget::User(None), MemoryTarget::Soul]
        .iter()
        .filter_map(|target| std::fs::read_to_string(home.memory_file(target)).ok())
        .map(|text| Document::parse(&text, Owner::Ours).tokens())
        .sum();
    ProfileSummary {
        name: home.profile_name().to_owned(),
        in_use,
        home: home.folder().to_owned(),
        sessions_bytes: size(home.state_db()),
        memory_tokens: tokens,
    }
}
