//! Restores into a scratch folder and checks that everything opens.

mod checks;
mod receipts;

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::folder::{Backup, Folder, STAGING};
use crate::restore::unpack;
use crate::seal::Keys;
use crate::{Error, Result, Tell};

pub use receipts::{import_receipt, receipts};

/// What a drill found; kept as JSON and as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The form of this list.
    pub format: u32,
    /// The backup.
    pub id: String,
    /// The SHA-256 of the archive.
    pub sha256: String,
    /// When.
    pub at: Timestamp,
    /// On which host.
    pub host: String,
    /// Whether all checks went well.
    pub passed: bool,
    /// Each check.
    pub checks: Vec<Check>,
}

/// One check of a drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// Whether it went well.
    pub passed: bool,
    /// What was seen.
    pub seen: String,
}

/// What is to be drilled.
#[derive(Debug)]
pub struct Request<'a> {
    /// The folder of backups.
    pub folder: &'a Folder,
    /// One of them.
    pub backup: &'a Backup,
    /// What may open it.
    pub keys: &'a Keys,
    /// The name of this host.
    pub host: &'a str,
    /// Now.
    pub now: Timestamp,
}

impl Receipt {
    /// The receipt as a person reads it.
    pub fn text(&self) -> String {
        receipts::text(self)
    }
}

/// The newest form of a receipt.
const FORMAT: u32 = 1;

/// Restores the backup into a scratch folder inside the folder of backups, checks hashes, databases, full-text
/// indexes, counts, the persona and three searches, writes a receipt and takes the scratch folder away.
///
/// A failed check is in the receipt, not an error; the path is that of the receipt as JSON, with the text beside it.
/// Holds the lock of the folder: a backup that begins meanwhile would sweep the scratch folder away.
pub fn drill(request: &Request<'_>, tell: Tell<'_>) -> Result<(Receipt, PathBuf)> {
    let Request { folder, backup, host, now, .. } = *request;
    let held = folder.lock(&format!("drill, process {}, {now}", std::process::id()))?;
    // What a killed drill left is a home in plain text.
    folder.sweep(&held)?;
    let scratch = tempfile::Builder::new()
        .prefix(&format!("{STAGING}drill-"))
        .tempdir_in(folder.path())
        .map_err(|error| Error::file("make a folder in", folder.path(), error))?;
    let sha256 = unpack::sha256_of(&backup.path, tell)?;
    let drilled = checks::Drilled { request, sha256: &sha256, scratch: scratch.path() };
    let checks = checks::every(&drilled, tell)?;
    let passed = checks.iter().all(|check| check.passed);
    let id = backup.name.id();
    let receipt =
        Receipt { format: FORMAT, id, sha256, at: now, host: host.to_owned(), passed, checks };
    let path = receipts::keep(folder, &receipt)?;
    receipts::note(folder, &receipt)?;
    scratch.close().map_err(|error| Error::file("remove", folder.path(), error))?;
    Ok((receipt, path))
}
