//! A person gives a skill another text: checked first, and over no other version than the one they read.

use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::error::skill::{Problem, Trouble};
use crate::error::{Error, Result};
use crate::layout::Home;
use crate::lock;
use crate::skill::{Catalog, State, frontmatter};
use crate::text_file::WholeText;
use crate::versions::{self, Replacement};

/// A SKILL.md as it is on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillText {
    /// The file.
    pub path: PathBuf,
    /// All of it.
    pub text: String,
    /// By which it is known again.
    pub hash: String,
}

/// What an edit came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The file.
    pub path: PathBuf,
    /// False when it said so already.
    pub changed: bool,
    /// The hash of what it said before.
    pub before: String,
}

/// Reads the SKILL.md of a skill, also of one that something is wrong with.
pub fn read_text(home: &Home, name: &str, state: State) -> Result<SkillText> {
    home.must_exist()?;
    let catalog = match state {
        State::Active => Catalog::read(home)?,
        State::Pending => Catalog::pending(home)?,
    };
    let path = match (catalog.get(name), catalog.get_broken(name)) {
        (Some(skill), _) => skill.file.clone(),
        (None, Some(broken)) => broken.folder.join(crate::layout::SKILL_FILE),
        (None, None) => return Err(missing(home, name, state)?),
    };
    let bytes = fs::read(&path).map_err(|source| Error::read(&path, source))?;
    let hash = versions::hash(&bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(SkillText { path, text, hash })
}

/// Everything that is wrong with a text as the SKILL.md of this skill.
pub fn check_text(name: &str, text: &str) -> Vec<Problem> {
    frontmatter::read(text.as_bytes(), Some(name)).problems
}

/// Writes the text of a skill, if it is a valid one and the file is still what was read; the one before is
/// kept as a version.
pub fn edit(
    home: &Home,
    name: &str,
    state: State,
    whole: &WholeText<'_>,
    now: Timestamp,
) -> Result<Edited> {
    read_text(home, name, state)?;
    let _guard = lock::hold(&home.skills_guard())?;
    let old = read_text(home, name, state)?;
    if old.hash != whole.expected_hash {
        return Err(Error::ChangedMeanwhile { path: old.path });
    }
    let problems = check_text(name, whole.text);
    if !problems.is_empty() {
        return Err(Trouble::Bad { path: old.path, problems }.of(name));
    }
    if old.text == whole.text {
        return Ok(Edited { path: old.path, changed: false, before: old.hash });
    }
    let bytes = fs::read(&old.path).map_err(|source| Error::read(&old.path, source))?;
    let replacement = Replacement {
        old: Some(&bytes),
        new: whole.text.as_bytes(),
        reason: "edited",
        now,
        format: None,
    };
    versions::replace(home, &old.path, &replacement)?;
    Ok(Edited { path: old.path, changed: true, before: old.hash })
}

fn missing(home: &Home, name: &str, state: State) -> Result<Error> {
    let (active, pending) = (Catalog::read(home)?, Catalog::pending(home)?);
    Ok(match state {
        State::Active => super::catalog::missing(name, state, &active, &pending),
        State::Pending => super::catalog::missing(name, state, &pending, &active),
    })
}
