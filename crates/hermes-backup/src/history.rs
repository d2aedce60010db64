//! What happened to the backups in a folder: one line for each event.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hermes_home::atomic;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Something that happened, one line of `history.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: Happened,
    /// The backup it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The place off this host it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happened {
    /// A backup was made and read back.
    Created,
    /// A backup was made of a damaged database.
    CreatedDamaged,
    /// Making one failed.
    CreateFailed,
    /// Every member was compared and is right.
    Verified,
    /// Only the hash of the encrypted archive was compared.
    HashVerified,
    /// A check found something wrong.
    VerifyFailed,
    /// It was sent to a place and read back.
    Pushed,
    /// A place was reached, and had everything already.
    Reached,
    /// Sending failed.
    PushFailed,
    /// It was deleted because newer ones are kept.
    Pruned,
    /// It was deleted at a place.
    PrunedAt,
    /// A drill went well.
    Drilled,
    /// A drill found something wrong.
    DrillFailed,
    /// A home was restored from it.
    Restored,
    /// An alert was sent.
    Alerted,
}

/// A line of the history: what happened, and which home it happened to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Line {
    #[serde(flatten)]
    pub(crate) event: Event,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) home: Option<String>,
}

const HISTORY: &str = "history.jsonl";

/// All lines of the history in a folder, oldest first; one that is cut short is passed over.
pub(crate) fn read(folder: &Path) -> Result<Vec<Line>> {
    let path = folder.join(HISTORY);
    let text = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::file("read", &path, source)),
    };
    let lines = text.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Adds a line to the history in a folder, durably.
pub(crate) fn add(folder: &Path, line: &Line) -> Result<()> {
    let path = folder.join(HISTORY);
    let failed = |source| Error::file("write to", &path, source);
    let mut line = serde_json::to_string(line).map_err(io::Error::from).map_err(failed)?;
    line.push('\n');
    append(&path, &line).map_err(failed)
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true).mode(0o600);
    let mut file = options.open(path)?;
    let separate = if atomic::is_torn(&mut file)? { "\n" } else { "" };
    file.write_all(format!("{separate}{line}").as_bytes())?;
    file.sync_all()
}
