//! Write a skill made from finished work, unless the user's own work or word stands against it.

use std::path::{Path, PathBuf};

use crate::atomic;
use crate::error::Result;
use crate::layout::{Home, SKILL_FILE};
use crate::lock;
use crate::skill::draft::{NewSkill, text_of};
use crate::skill::{Catalog, Keep, Origin, Refusal, Skill, State, Trouble, frontmatter, rejected};
use crate::versions::{self, Replacement};

/// What became of an offered skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offered {
    /// It was written.
    Written {
        /// Its SKILL.md.
        path: PathBuf,
        /// Whether it is used, or waits.
        state: State,
        /// Whether an older one was there, which is kept as a version.
        replaced: bool,
    },
    /// A skill that says the same is there already.
    Same {
        /// Its SKILL.md.
        path: PathBuf,
    },
    /// It was not written, and nothing was changed.
    Refused {
        /// What stands against it.
        why: Refusal,
    },
}

/// Writes a skill to `skills/`, or to where it waits for the user's word.
///
/// It is an error when the draft itself is no valid skill.
pub fn offer(home: &Home, new: &NewSkill, keep: Keep) -> Result<Offered> {
    home.must_exist()?;
    let name = new.name.as_str();
    let text = text_of(new);
    let reading = frontmatter::read(text.as_bytes(), Some(name));
    if !reading.problems.is_empty() {
        let path = home.pending_skills().join(name).join(SKILL_FILE);
        return Err(Trouble::Bad { path, problems: reading.problems }.of(name));
    }
    let _guard = lock::hold(&home.skills_guard())?;
    if rejected::is_rejected(home, &new.hash())? {
        return Ok(Offered::Refused { why: Refusal::Rejected });
    }
    let active = Place::of(&Catalog::read(home)?, &home.skills(), name);
    let place = match (keep, active.verdict(&new.hash())) {
        (_, Some(decided)) => return Ok(decided),
        (Keep::Active, None) => active,
        (Keep::Pending, None) => {
            let waiting = Place::of(&Catalog::pending(home)?, &home.pending_skills(), name);
            if let Some(decided) = waiting.verdict(&new.hash()) {
                return Ok(decided);
            }
            waiting
        }
    };
    write(home, &place, &text, new)
}

/// Where a skill of some name is or would be.
pub(super) struct Place {
    skill: Option<Skill>,
    file: PathBuf,
    is_taken: bool,
}

impl Place {
    pub(super) fn of(catalog: &Catalog, root: &Path, name: &str) -> Place {
        let skill = catalog.get(name).cloned();
        let folder = root.join(name);
        let usual = folder.join(SKILL_FILE);
        let is_taken =
            skill.is_none() && (catalog.get_broken(name).is_some() || holds_work(&folder));
        let file = skill.as_ref().map_or(usual, |skill| skill.file.clone());
        Place { skill, file, is_taken }
    }

    /// What is decided without writing: none means that it may be written.
    fn verdict(&self, hash: &str) -> Option<Offered> {
        if let Some(why) = self.refusal() {
            return Some(Offered::Refused { why });
        }
        let same = self.skill.as_ref().filter(|skill| skill.content.hash() == hash)?;
        Some(Offered::Same { path: same.file.clone() })
    }

    /// Why what is there must stay as it is.
    pub(super) fn refusal(&self) -> Option<Refusal> {
        let Some(skill) = &self.skill else {
            return self.is_taken.then_some(Refusal::InTheWay);
        };
        match skill.origin() {
            _ if skill.content.is_locked => Some(Refusal::Locked),
            Origin::User => Some(Refusal::NotGenerated),
            Origin::Edited => Some(Refusal::Edited),
            Origin::Learned => None,
        }
    }

    /// The SKILL.md that is replaced, if there is one.
    pub(super) fn replaced(&self) -> Option<&Path> {
        self.skill.as_ref().map(|skill| skill.file.as_path())
    }
}

fn write(home: &Home, place: &Place, text: &str, new: &NewSkill) -> Result<Offered> {
    let old = match place.replaced() {
        None => None,
        Some(path) => Some(std::fs::read(path).map_err(|source| crate::Error::read(path, source))?),
    };
    let replacement = Replacement {
        old: old.as_deref(),
        new: text.as_bytes(),
        reason: "learned",
        now: new.made_at,
        format: None,
    };
    versions::replace(home, &place.file, &replacement)?;
    let is_pending = place.file.starts_with(home.pending_skills());
    Ok(Offered::Written {
        path: place.file.clone(),
        state: if is_pending { State::Pending } else { State::Active },
        replaced: old.is_some(),
    })
}

/// Whether something is there that a new skill would cover up; an empty folder is nothing.
pub(super) fn holds_something(folder: &Path) -> bool {
    match folder.symlink_metadata() {
        Err(_) => false,
        Ok(found) if found.is_dir() => {
            std::fs::read_dir(folder).map_or(true, |mut inside| inside.next().is_some())
        }
        Ok(_) => true,
    }
}

/// The same, but what a write that was cut short left behind is nothing either.
fn holds_work(folder: &Path) -> bool {
    let is_left_over = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.is_ok_and(|entry| atomic::is_temporary(&entry.file_name()))
    };
    let is_only_left_over =
        || std::fs::read_dir(folder).is_ok_and(|mut inside| inside.all(is_left_over));
    holds_something(folder) && !is_only_left_over()
}
