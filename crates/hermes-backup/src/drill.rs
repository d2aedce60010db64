//! Restores into a scratch folder and checks that everything opens.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::folder::{Backup, Folder};
use crate::seal::Keys;
use crate::{Result, Tell};

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

/// Restores the backup into a scratch folder inside the folder of backups, checks hashes, databases, full-text
/// indexes, counts, the persona and three searches, writes a receipt and takes the scratch folder away.
///
/// A failed check is in the receipt, not an error.
pub fn drill(
    folder: &Folder,
    backup: &Backup,
    keys: &Keys,
    host: &str,
    now: Timestamp,
    tell: Tell<'_>,
) -> Result<(Receipt, PathBuf)> {
    let _ = (folder, backup, keys, host, now, tell);
    unimplemented!()
}

/// Takes in the receipt of a drill that was made on another machine: its archive must be one of this folder.
pub fn import_receipt(folder: &Folder, file: &Path) -> Result<Receipt> {
    let _ = (folder, file);
    unimplemented!()
}

/// Every receipt, newest first.
pub fn receipts(folder: &Folder) -> Result<Vec<Receipt>> {
    let _ = folder;
    unimplemented!()
}
