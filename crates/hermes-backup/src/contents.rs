//! What goes into a backup and what stays out. The rules are anchored to paths.

use std::path::{Path, PathBuf};

use hermes_home::layout::Home;

use crate::Result;
use crate::manifest::LeftOut;

/// Which part of a home is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The root home with all its profiles.
    All,
    /// One profile alone; `default` is the root home without `profiles/`.
    Profile(String),
}

/// Something that goes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its path below the root home, with `/`.
    pub path: String,
    /// Where it is.
    pub from: PathBuf,
    /// What it is.
    pub what: What,
    /// Its size now.
    pub size: u64,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A folder.
    Folder,
    /// A regular file, or a link to one.
    File,
    /// A SQLite database, told by its first bytes.
    Database,
    /// A file that must be a database by its name and is none: empty, or overwritten.
    Damaged,
}

/// What is in and what is out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// What goes in, sorted by path; folders before what is in them.
    pub entries: Vec<Entry>,
    /// What stays out, with the reason.
    pub left_out: Vec<LeftOut>,
}

/// Looks through a home; `exclude` are paths below the root that the user wants out, `outside` files of the
/// home that are kept elsewhere (such as a `memory.path`), with the path they get.
pub fn list(
    home: &Home,
    scope: &Scope,
    exclude: &[String],
    outside: &[(String, PathBuf)],
) -> Result<Contents> {
    let _ = (home, scope, exclude, outside, Path::new(""));
    Ok(Contents::default())
}
