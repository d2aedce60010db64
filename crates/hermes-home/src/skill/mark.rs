//! Lock a skill so that Hermes never rewrites it; only the lines of the lock change.

use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use crate::error::skill::{LONGEST_HEAD, Trouble};
use crate::error::{Error, Result};
use crate::keyed_text::document::{self, Content, Node};
use crate::keyed_text::edit_yaml;
use crate::layout::Home;
use crate::lock as file_lock;
use crate::skill::frontmatter::{self, LOCKS};
use crate::skill::{Catalog, Skill, file};
use crate::versions::{self, Replacement};

/// What a lock or unlock came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// The SKILL.md.
    pub path: PathBuf,
    /// Whether it is locked now, as read back from the disk.
    pub is_locked: bool,
    /// False when it was so already.
    pub changed: bool,
}

/// Locks a skill, in use or waiting: nothing but the user's own word changes it from now on.
pub fn lock(home: &Home, name: &str, now: Timestamp) -> Result<Marked> {
    mark(home, name, Wanted::Locked, now)
}

/// Takes the lock of a skill away, however it is written.
pub fn unlock(home: &Home, name: &str, now: Timestamp) -> Result<Marked> {
    mark(home, name, Wanted::Unlocked, now)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Locked,
    Unlocked,
}

fn mark(home: &Home, name: &str, wanted: Wanted, now: Timestamp) -> Result<Marked> {
    home.must_exist()?;
    Catalog::find_any(home, name)?;
    let _guard = file_lock::hold(&home.skills_guard())?;
    let skill = Catalog::find_any(home, name)?;
    let path = skill.file.clone();
    let is_wanted = wanted == Wanted::Locked;
    if skill.content.is_locked == is_wanted {
        return Ok(Marked { path, is_locked: is_wanted, changed: false });
    }
    let refused = |why| Trouble::NotEditable { path: path.clone(), why }.of(name);
    let old = read(&skill)?;
    let new = with_lock(&old, wanted).map_err(refused)?;
    let replacement = Replacement {
        old: Some(old.as_bytes()),
        new: new.as_bytes(),
        reason: if is_wanted { "locked" } else { "unlocked" },
        now,
        format: None,
    };
    versions::replace(home, &path, &replacement)?;
    let is_locked = Catalog::find_any(home, name)?.content.is_locked;
    if is_locked != is_wanted {
        return Err(refused("it was written, but cannot be read back as expected"));
    }
    Ok(Marked { path, is_locked, changed: true })
}

fn read(skill: &Skill) -> Result<String> {
    let bad = |problems| Trouble::Bad { path: skill.file.clone(), problems }.of(skill.name());
    let bytes = file::read(&skill.file).map_err(|problem| bad(vec![problem]))?;
    String::from_utf8(bytes)
        .map_err(|error| Error::read(&skill.file, std::io::Error::other(error.utf8_error())))
}

/// The text with or without the lock; what it says otherwise is proven to be the same.
pub(super) fn with_lock(text: &str, wanted: Wanted) -> Result<String, &'static str> {
    const NO_HEAD: &str = "its frontmatter cannot be read";
    let (range, _) = frontmatter::split(text).map_err(|_| NO_HEAD)?;
    let head = &text[range.clone()];
    let before = tree(head).ok_or(NO_HEAD)?;
    let changed = match wanted {
        Wanted::Locked => edit_yaml::put(head, &owned(LOCKS[0]), &Value::from("true"))?,
        Wanted::Unlocked => without(head, &locks(&before))?,
    };
    let after = tree(&changed).ok_or(NO_HEAD)?;
    let whole = [&text[..range.start], &changed, &text[range.end..]].concat();
    let ends_alike =
        frontmatter::split(&whole).is_ok_and(|(found, _)| found.len() == changed.len());
    if elsewhere(&before.leaves()) != elsewhere(&after.leaves()) || !ends_alike {
        return Err("something else in its frontmatter would change too");
    }
    let is_locked = !locks(&after).is_empty();
    if is_locked == (wanted == Wanted::Locked) { Ok(whole) } else { Err(NO_HEAD) }
}

fn without(head: &str, locks: &[&[&str]]) -> Result<String, &'static str> {
    let mut changed = head.to_owned();
    for path in locks {
        changed = edit_yaml::remove(&changed, &owned(path))?.unwrap_or(changed);
    }
    Ok(changed)
}

type Leaves = Vec<(Vec<String>, Value)>;

fn tree(head: &str) -> Option<Node> {
    let is_bounded = head.len() <= LONGEST_HEAD;
    is_bounded.then(|| document::parse_foreign_yaml(head).ok()).flatten()
}

fn locks(root: &Node) -> Vec<&'static [&'static str]> {
    match &root.content {
        Content::Section(entries) => frontmatter::locks_in(entries),
        _ => Vec::new(),
    }
}

/// All values but the locks, and an empty `metadata` that one could stand in.
fn elsewhere(leaves: &Leaves) -> Vec<&(Vec<String>, Value)> {
    let is_hollow =
        |value: &Value| value.is_null() || value.as_object().is_some_and(|map| map.is_empty());
    let is_lock = |path: &[String]| LOCKS.iter().any(|lock| path == owned(lock));
    let is_about_locks = |(path, value): &(Vec<String>, Value)| {
        is_lock(path) || path[..] == ["metadata"] && is_hollow(value)
    };
    leaves.iter().filter(|leaf| !is_about_locks(leaf)).collect()
}

fn owned(path: &[&str]) -> Vec<String> {
    path.iter().map(|part| (*part).to_owned()).collect()
}
