//! What is done to skills: let in, rejected, locked, taken away, brought back; the memory hears of it.

use std::path::PathBuf;

use hermes_home::Home;
use hermes_home::skill::{self, Marked, OfLocked, State};
use hermes_memory::learn;
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::embedding;

/// What was done to a skill.
#[derive(Debug, Serialize)]
pub struct SkillChange {
    /// Its name.
    pub skill: String,
    /// Whether anything is other than before.
    pub changed: bool,
    /// What was done, in a sentence.
    #[serde(skip)]
    pub done: String,
    /// Where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Where it is kept aside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<PathBuf>,
    /// Whether it is locked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<bool>,
}

impl SkillChange {
    /// A change in a sentence.
    pub fn new(skill: &str, done: String) -> SkillChange {
        let skill = skill.to_owned();
        SkillChange { skill, changed: true, done, file: None, kept_in: None, locked: None }
    }
}

/// Uses a skill that waits.
pub fn approve(app: &App, home: &Home, name: &str) -> anyhow::Result<SkillChange> {
    let approved = skill::approve(home, name, app.now)?;
    note_in_memory(app, home);
    let before = if approved.replaced { "; the previous one is kept as a version" } else { "" };
    let done = format!("{name} is now in use{before}");
    Ok(SkillChange { file: Some(approved.path), ..SkillChange::new(name, done) })
}

/// Takes a skill that waits away.
pub fn reject(app: &App, home: &Home, name: &str) -> anyhow::Result<SkillChange> {
    let rejected = skill::reject(home, name, app.now)?;
    let again = if rejected.remembered { "; the same skill is not proposed again" } else { "" };
    let done = format!("{name} is rejected{again}");
    Ok(SkillChange { kept_in: Some(rejected.kept_in), ..SkillChange::new(name, done) })
}

/// Locks a skill, or lets it be rewritten again.
pub fn lock(app: &App, home: &Home, name: &str, locks: bool) -> anyhow::Result<SkillChange> {
    let Marked { changed, is_locked, path, .. } = match locks {
        true => skill::lock(home, name, app.now)?,
        false => skill::unlock(home, name, app.now)?,
    };
    let already = if changed { "" } else { " already" };
    let done = match is_locked {
        true => format!("{name} is locked{already}: Hermes never rewrites it"),
        false => format!("{name} is not locked{already}"),
    };
    let file = Some(path);
    Ok(SkillChange { changed, locked: Some(is_locked), file, ..SkillChange::new(name, done) })
}

/// Takes a skill away; it is kept aside.
pub fn delete(app: &App, home: &Home, name: &str, locked: OfLocked) -> anyhow::Result<SkillChange> {
    let deleted = skill::delete(home, name, locked, app.now)?;
    note_in_memory(app, home);
    let done = format!("{name} was removed; a copy is kept in {}", deleted.kept_in.display());
    Ok(SkillChange { kept_in: Some(deleted.kept_in), ..SkillChange::new(name, done) })
}

/// Brings back what was taken away or rejected last.
pub fn restore(app: &App, home: &Home, name: &str) -> anyhow::Result<SkillChange> {
    let restored = skill::restore(home, name)?;
    note_in_memory(app, home);
    let done = match restored.state {
        State::Active => format!("{name} is restored and in use"),
        State::Pending => format!("{name} is restored and waits for your approval"),
    };
    Ok(SkillChange { file: Some(restored.folder), ..SkillChange::new(name, done) })
}

/// Lets the context of a task name the skills in use. The skill itself is in place, so this never
/// fails the change: what is missed is made up for at the next `hermes memory reflect`.
pub fn note_in_memory(app: &App, home: &Home) {
    let note = || -> anyhow::Result<()> {
        if !app.has_memory(home) {
            return Ok(());
        }
        let mut memory = app.memory(home, Access::Write)?;
        let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
        learn::note_skills(home, &mut memory.store, vectors, app.change())?;
        Ok(())
    };
    if let Err(error) = note() {
        app.note(format_args!("the memory was not updated yet: {error}"));
    }
}
