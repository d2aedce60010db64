//! Why a skill cannot be used or changed as asked, with the next command for each.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

use super::{Error, ErrorKind};
use crate::text::thousands;

/// The most characters a SKILL.md may have.
pub const LONGEST_SKILL_FILE: usize = 100_000;
/// The most bytes any file of a skill may have.
pub const LARGEST_FILE: u64 = 1024 * 1024;
/// The most characters a description may have.
pub const LONGEST_DESCRIPTION: usize = 1024;

/// The most bytes of frontmatter that are read.
pub(crate) const LONGEST_HEAD: usize = 64 * 1024;

/// What is in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// No skill has this name.
    Missing {
        /// Among which skills it was looked for.
        state: State,
        /// An existing name that looks like it.
        nearest: Option<String>,
        /// Whether the name is among the other skills.
        is_elsewhere: bool,
    },
    /// There is something of this name already.
    Exists {
        /// Where.
        path: PathBuf,
    },
    /// None of this name was taken away.
    NotKept,
    /// The user locked it.
    Locked,
    /// The skill in use may not be replaced.
    Kept {
        /// Why.
        why: Refusal,
    },
    /// It is not a valid skill.
    Bad {
        /// The file.
        path: PathBuf,
        /// Everything that is wrong with it.
        problems: Vec<Problem>,
    },
    /// Its frontmatter cannot be changed without risk to the rest of it.
    NotEditable {
        /// The file, unchanged.
        path: PathBuf,
        /// What is in the way.
        why: &'static str,
    },
    /// A file beside its SKILL.md cannot be taken.
    NotPlain {
        /// The file.
        path: PathBuf,
        /// The rule it breaks.
        why: &'static str,
    },
}

impl Trouble {
    pub(crate) fn of(self, name: &str) -> Error {
        Error::Skill { name: name.to_owned(), trouble: self }
    }

    pub(crate) fn message(&self, name: &str) -> String {
        match self {
            Trouble::Missing { state: State::Active, .. } => {
                format!("there is no skill named {name}")
            }
            Trouble::Missing { state: State::Pending, .. } => {
                format!("no skill named {name} is waiting for approval")
            }
            Trouble::Exists { path } => {
                format!("could not add the skill {name}: {} already exists", path.display())
            }
            Trouble::NotKept => format!("no skill named {name} was deleted or rejected"),
            Trouble::Locked => format!("could not change the skill {name}: it is locked"),
            Trouble::Kept { why } => format!("could not replace the skill {name}: {why}"),
            Trouble::Bad { path, problems } => {
                format!("could not use {}:{}", path.display(), listed(problems))
            }
            Trouble::NotEditable { path, why } => {
                format!("could not change {}: {why}", path.display())
            }
            Trouble::NotPlain { path, why } => format!("could not add {}: {why}", path.display()),
        }
    }

    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Trouble::Missing { .. } | Trouble::NotKept => ErrorKind::NotFound,
            _ => ErrorKind::Refused,
        }
    }

    pub(crate) fn hint(&self, name: &str) -> Option<String> {
        let hint = match self {
            Trouble::Missing { state: State::Active, is_elsewhere: true, .. } => {
                format!("it is waiting for approval: `hermes skills approve {name}`")
            }
            Trouble::Missing { state: State::Pending, is_elsewhere: true, .. } => {
                format!("it is already in use: `hermes skills show {name}`")
            }
            Trouble::Missing { nearest: Some(nearest), .. } => {
                format!("did you mean `{nearest}`? `hermes skills list --all` shows all")
            }
            Trouble::Missing { .. } | Trouble::NotKept => {
                "`hermes skills list --all` shows all".to_owned()
            }
            Trouble::Exists { .. } => {
                format!("delete the old one with `hermes skills delete {name}`; it can be restored")
            }
            Trouble::Locked | Trouble::Kept { why: Refusal::Locked } => {
                format!("unlock it with `hermes skills unlock {name}`")
            }
            Trouble::Kept { .. } => {
                format!("delete it first with `hermes skills delete {name}`; it can be restored")
            }
            Trouble::Bad { path, .. } => {
                format!(
                    "repair it in an editor, then run `hermes skills validate {}`",
                    path.display()
                )
            }
            Trouble::NotEditable { .. } => {
                "edit `hermes-locked` below `metadata` by hand".to_owned()
            }
            Trouble::NotPlain { .. } => {
                "remove it from the folder, then add the skill again".to_owned()
            }
        };
        Some(hint)
    }
}

/// Whether a skill is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// In `skills/`.
    Active,
    /// Waits for the user's word.
    Pending,
}

/// What stands against a skill that is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The one that is there is locked.
    Locked,
    /// The one that is there was changed by a person since it was made.
    Edited,
    /// The one that is there was not made from finished work.
    NotGenerated,
    /// The user rejected one that says the same.
    Rejected,
    /// Something that is no skill has its name: a category, a file, a broken skill.
    InTheWay,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Refusal::Locked => "the existing one is locked",
            Refusal::Edited => "the existing one was edited since it was created",
            Refusal::NotGenerated => "the existing one was not learned from finished work",
            Refusal::Rejected => "the same skill was rejected",
            Refusal::InTheWay => "its name is taken by something that is not a valid skill",
        })
    }
}

/// One thing that is wrong with a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line of SKILL.md, from 1.
    pub line: usize,
    /// What is wrong.
    pub fault: Fault,
}

/// What is wrong with a skill.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is no SKILL.md.
    #[error("there is no SKILL.md in it")]
    NoFile,
    /// SKILL.md cannot be read.
    #[error("it cannot be read: {why}")]
    Unreadable {
        /// What the system says.
        why: String,
    },
    /// A link, a device or something else that is not a regular file stands there.
    #[error("{what} is not a regular file; links are not followed")]
    NotPlain {
        /// Which file.
        what: String,
    },
    /// A file is too big.
    #[error("{what} has {} bytes; at most {} are allowed", thousands(*size), thousands(LARGEST_FILE))]
    TooBig {
        /// Which file.
        what: String,
        /// Its bytes.
        size: u64,
    },
    /// A file beside SKILL.md cannot be taken.
    #[error("{what}: {why}")]
    Support {
        /// Which file.
        what: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// SKILL.md is no text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// SKILL.md is too long.
    #[error("it has {} characters; at most {} are allowed", thousands(*chars as u64), thousands(LONGEST_SKILL_FILE as u64))]
    TooLong {
        /// Its characters.
        chars: usize,
    },
    /// The file does not begin with frontmatter.
    #[error("the first line must be `---`, with `name:` and `description:` below it")]
    NoFrontmatter,
    /// The frontmatter has no end.
    #[error("the frontmatter is not closed: no line `---` follows")]
    Unclosed,
    /// The frontmatter is too long.
    #[error("the frontmatter has {} bytes; at most {} are read", thousands(*bytes as u64), thousands(LONGEST_HEAD as u64))]
    HeadTooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// The frontmatter is not YAML.
    #[error("the frontmatter is not YAML: {why}")]
    Syntax {
        /// What the parser says.
        why: String,
    },
    /// A key that every skill needs is not there.
    #[error("`{key}` is missing")]
    Missing {
        /// The key.
        key: &'static str,
    },
    /// A key holds something else than text.
    #[error("`{key}` must be {wanted}")]
    WrongKind {
        /// The key.
        key: &'static str,
        /// What it may hold.
        wanted: &'static str,
    },
    /// The name breaks the rule for names.
    #[error("{name:?} is not a valid skill name: {why}")]
    BadName {
        /// The name.
        name: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// The name is not that of the folder.
    #[error("the name is {name}, but the folder is called {folder:?}")]
    OtherFolder {
        /// The name in the frontmatter.
        name: String,
        /// The name of the folder.
        folder: String,
    },
    /// The description is too long.
    #[error("the description has {} characters; at most {} are allowed", thousands(*chars as u64), thousands(LONGEST_DESCRIPTION as u64))]
    LongDescription {
        /// Its characters.
        chars: usize,
    },
    /// Another skill has the same name.
    #[error("{other} has the same name and is used instead")]
    SameName {
        /// The folder of the other one.
        other: String,
    },
}

impl Fault {
    pub(crate) fn at(self, line: usize) -> Problem {
        Problem { line, fault: self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.fault)
    }
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}
