//! The SKILL.md of a skill that is made from finished work.

use jiff::Timestamp;

use crate::keyed_text::edit_yaml::quoted;
use crate::name::SkillName;
use crate::skill::frontmatter::{content_hash, key, trimmed};

/// A skill to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSkill {
    /// Its name.
    pub name: SkillName,
    /// What it does and when to use it.
    pub description: String,
    /// The instructions, in Markdown.
    pub body: String,
    /// The kind of task it is for.
    pub task_type: String,
    /// What it was made from, such as `episode:12`; no spaces inside.
    pub sources: Vec<String>,
    /// When it was made.
    pub made_at: Timestamp,
}

impl NewSkill {
    /// The hash by which it is known again.
    pub fn hash(&self) -> String {
        content_hash(&self.description, trimmed(&self.body))
    }
}

/// The whole text of the SKILL.md.
pub fn text_of(new: &NewSkill) -> String {
    let made = new.made_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let metadata = [
        (key::ORIGIN, key::LEARNED),
        (key::TASK_TYPE, &new.task_type),
        (key::SOURCES, &new.sources.join(" ")),
        (key::MADE, &made),
        (key::CONTENT, &new.hash()),
    ];
    let metadata: String =
        metadata.iter().map(|(name, value)| format!("  {name}: {}\n", quoted(value))).collect();
    format!(
        "---\nname: {}\ndescription: {}\nmetadata:\n{metadata}---\n\n{}\n",
        quoted(new.name.as_str()),
        quoted(&new.description),
        trimmed(&new.body),
    )
}
