//! What can be wrong with a skill, each with its line.

use std::fmt;
use std::path::Path;

use crate::error::Result;
use crate::layout::SKILL_FILE;
use crate::skill::{LARGEST_FILE, LONGEST_DESCRIPTION, LONGEST_SKILL_FILE, add, file, frontmatter};
use crate::text::thousands;

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
    #[error("{what} has {} bytes, at most {} are taken", thousands(*size), thousands(LARGEST_FILE))]
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
    #[error("it has {} characters, at most {} are taken", thousands(*chars as u64), thousands(LONGEST_SKILL_FILE as u64))]
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
    #[error("the frontmatter has {} bytes, at most {} are read", thousands(*bytes as u64), thousands(frontmatter::LONGEST_HEAD as u64))]
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
    #[error("the description has {} characters, at most {} are taken", thousands(*chars as u64), thousands(LONGEST_DESCRIPTION as u64))]
    LongDescription {
        /// Its characters.
        chars: usize,
    },
    /// Another skill has the same name.
    #[error("{other} has the same name and is the one that is used")]
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

/// Everything that is wrong with the skill in a folder, or with a SKILL.md by itself.
///
/// The folder of a lone SKILL.md, and files beside it, do not count.
pub fn check_path(path: &Path) -> Result<Vec<Problem>> {
    let found = path.metadata().map_err(|source| crate::Error::read(path, source))?;
    if !found.is_dir() {
        return Ok(check_file(path, None));
    }
    let whole = path.canonicalize().map_err(|source| crate::Error::read(path, source))?;
    let folder = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut problems = check_file(&whole.join(SKILL_FILE), Some(&folder));
    let refused = add::plan(&whole).err().map(|(file, why)| {
        let what = file.strip_prefix(&whole).unwrap_or(&file).display().to_string();
        Fault::Support { what, why }.at(1)
    });
    problems.extend(refused);
    Ok(problems)
}

fn check_file(path: &Path, folder: Option<&str>) -> Vec<Problem> {
    match file::read(path) {
        Err(problem) => vec![problem],
        Ok(bytes) => frontmatter::read(&bytes, folder).problems,
    }
}
