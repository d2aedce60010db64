//! Why a skill cannot be used or changed as asked, with the next command for each.

use std::path::PathBuf;

use crate::error::{Error, ErrorKind};
use crate::skill::offer::Refusal;
use crate::skill::validate::Problem;
use crate::skill::{Catalog, State};

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
                format!("no skill named {name} waits for approval")
            }
            Trouble::Exists { path } => {
                format!("could not add the skill {name}: {} is there already", path.display())
            }
            Trouble::NotKept => format!("no skill named {name} was taken away or rejected"),
            Trouble::Locked => format!("could not change the skill {name}: it is locked"),
            Trouble::Kept { why } => format!("could not replace the skill {name}: {why}"),
            Trouble::Bad { path, problems } => {
                format!("could not use {}:{}", path.display(), listed(problems))
            }
            Trouble::NotEditable { path, why } => {
                format!("could not change {}: {why}", path.display())
            }
            Trouble::NotPlain { path, why } => format!("could not take {}: {why}", path.display()),
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
                format!("it waits for approval: `hermes skills approve {name}`")
            }
            Trouble::Missing { state: State::Pending, is_elsewhere: true, .. } => {
                format!("it is in use already: `hermes skills show {name}`")
            }
            Trouble::Missing { nearest: Some(nearest), .. } => {
                format!("did you mean `{nearest}`? `hermes skills list --all` shows all")
            }
            Trouble::Missing { .. } | Trouble::NotKept => {
                "`hermes skills list --all` shows all".to_owned()
            }
            Trouble::Exists { .. } => {
                format!(
                    "take the old one away with `hermes skills delete {name}`; it is kept aside"
                )
            }
            Trouble::Locked | Trouble::Kept { why: Refusal::Locked } => {
                format!("unlock it with `hermes skills unlock {name}`")
            }
            Trouble::Kept { .. } => {
                format!("take it away first with `hermes skills delete {name}`; it is kept aside")
            }
            Trouble::Bad { path, .. } => {
                format!(
                    "mend it in an editor, then see `hermes skills validate {}`",
                    path.display()
                )
            }
            Trouble::NotEditable { .. } => {
                "change `hermes-locked` below `metadata` by hand in an editor".to_owned()
            }
            Trouble::NotPlain { .. } => "take it out of the folder, then add it again".to_owned(),
        };
        Some(hint)
    }
}

/// The error for a name that is not in a catalog, with the nearest one of both that is.
pub(crate) fn missing(name: &str, state: State, catalog: &Catalog, other: &Catalog) -> Error {
    const NEAR: f64 = 0.75;
    let likeness = |candidate: &&str| strsim::jaro_winkler(candidate, name);
    let names = catalog.names().chain(other.names());
    let nearest = names
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
        .filter(|candidate| likeness(candidate) >= NEAR)
        .map(str::to_owned);
    let is_elsewhere = other.names().any(|known| known == name);
    Trouble::Missing { state, nearest, is_elsewhere }.of(name)
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("\n  {problem}")).collect()
}
