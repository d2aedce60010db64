//! Brings back all of a home, or one thing of it. Nothing is overwritten: what was there is moved aside.

use std::path::{Path, PathBuf};

use hermes_home::Home;
use jiff::Timestamp;

use crate::manifest::Manifest;
use crate::seal::Keys;
use crate::{Result, Tell};

/// Where a restore reads from and how.
#[derive(Debug)]
pub struct From<'a> {
    /// The archive: one of ours, a zip of Hermes Agent, or a plain tar of a home, encrypted or not.
    pub archive: &'a Path,
    /// What its sidecar says its SHA-256 is, if there is one: compared before anything else.
    pub sha256: Option<&'a str>,
    /// What may open it.
    pub keys: &'a Keys,
    /// Now.
    pub now: Timestamp,
}

/// What was restored.
#[derive(Debug)]
pub struct Restored {
    /// Where it is now.
    pub at: PathBuf,
    /// Where what was there before is now.
    pub aside: Option<PathBuf>,
    /// How many files were brought back.
    pub files: u64,
    /// The list in the archive; none for one of another program.
    pub manifest: Option<Manifest>,
    /// What the user should know: files of another machine left out, a database that is damaged, settings.
    pub remarks: Vec<String>,
}

/// Brings back a whole home: unpacks beside it, checks all of it, then swaps the folders.
///
/// Refuses while a program holds a database of the home. An archive of one profile replaces that profile alone.
pub fn whole(from: &From<'_>, home: &Home, tell: Tell<'_>) -> Result<Restored> {
    let _ = (from, home, tell);
    unimplemented!()
}

/// Unpacks and checks everything into a new or empty folder.
pub fn to_folder(from: &From<'_>, folder: &Path, tell: Tell<'_>) -> Result<Restored> {
    let _ = (from, folder, tell);
    unimplemented!()
}

/// Puts back what the last restore moved aside; what is there now is moved aside in turn.
pub fn rollback(home: &Home, now: Timestamp) -> Result<Restored> {
    let _ = (home, now);
    unimplemented!()
}

/// One thing to bring back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A file or folder by its path below the home.
    Path(String),
    /// A skill by its name.
    Skill(String),
    /// A session by its id.
    Session(String),
}

/// What bringing back parts did, one line for each.
#[derive(Debug, Clone)]
pub struct Piece {
    /// What it is: the path, or `session <id>`.
    pub what: String,
    /// Where it is now.
    pub at: PathBuf,
    /// Where what was there before is now; only with `replace`.
    pub aside: Option<PathBuf>,
}

/// Brings back single things: beside what is there (`<name>.restored-<time>`), or in its place with `replace`,
/// what was there being moved aside. A session is added to state.db if it is not there, else written as JSON lines.
pub fn parts(
    from: &From<'_>,
    parts: &[Part],
    home: &Home,
    replace: bool,
    tell: Tell<'_>,
) -> Result<Vec<Piece>> {
    let _ = (from, parts, home, replace, tell);
    unimplemented!()
}
