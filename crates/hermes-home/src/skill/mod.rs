//! Skills: folders with a SKILL.md that says how a kind of task is done.

mod add;
mod catalog;
mod draft;
mod edit;
mod file;
mod frontmatter;
mod mark;
mod offer;
mod rejected;
mod remove;
mod restore;
mod review;
mod validate;

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod property_tests;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use crate::error::skill::{
    Fault, LARGEST_FILE, LONGEST_DESCRIPTION, LONGEST_SKILL_FILE, Problem, Refusal, State, Trouble,
};
pub use add::{Added, add, add_pending};
pub use catalog::{Broken, Catalog};
pub use draft::{NewSkill, text_of};
pub use edit::{Edited, SkillText, check_text, edit, read_text};
pub use frontmatter::{Content, Learned, parse};
pub use mark::{Marked, lock, unlock};
pub use offer::{Offered, offer};
pub use remove::{Deleted, OfLocked, delete, may_delete};
pub use restore::{Restored, restore};
pub use review::{Approved, Rejected, approve, reject};
pub use validate::check_path;

/// A skill that can be used, or could be once it is approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// What its SKILL.md says.
    pub content: Content,
    /// Whether it is in use.
    pub state: State,
    /// The folder between `skills/` and its own, where there is one.
    pub category: Option<String>,
    /// Its SKILL.md.
    pub file: PathBuf,
}

/// Where a skill comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person wrote or added it.
    User,
    /// It was made from finished work, and is as it was made.
    Learned,
    /// It was made from finished work, and a person changed it since.
    Edited,
}

/// Where a skill made from finished work goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// It waits until the user approves it.
    #[default]
    Pending,
    /// It is used at once.
    Active,
}

impl Skill {
    /// Its name.
    pub fn name(&self) -> &str {
        self.content.name.as_str()
    }

    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        self.content.origin()
    }
}
