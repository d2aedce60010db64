//! The folder that backups are kept in: archives, what is known of them, and what happened.

use std::path::{Path, PathBuf};

use hermes_home::lock::Held;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::manifest::Sidecar;
use crate::name::ArchiveName;

/// A folder of backups. It is beside the home, never in it.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

/// One archive that is there.
#[derive(Debug, Clone)]
pub struct Backup {
    /// Its name, taken apart.
    pub name: ArchiveName,
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub size: u64,
    /// What stands beside it; none if that file is gone.
    pub sidecar: Option<Sidecar>,
    /// The newest check of it that went well, member by member.
    pub verified: Option<Timestamp>,
    /// Whether the newest check of it found something wrong.
    pub failed: Option<String>,
    /// The places off this host that have it, as they were noted.
    pub copies: Vec<String>,
}

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

impl Folder {
    /// The folder at `path`, whether it is there or not.
    pub fn at(path: &Path) -> Folder {
        Folder { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes it, readable by its owner alone; refuses one that is inside `home`.
    pub fn make(&self, home: &Path) -> Result<()> {
        let _ = home;
        unimplemented!()
    }

    /// Takes the lock of all work on backups, signed with who holds it; fails at once if it is taken.
    pub fn lock(&self, who: &str) -> Result<Held> {
        let _ = who;
        unimplemented!()
    }

    /// Takes away what a killed run left: partial archives and staging folders. Only while the lock is held.
    pub fn sweep(&self, held: &Held) -> Result<Vec<PathBuf>> {
        let _ = held;
        unimplemented!()
    }

    /// Every archive, newest first.
    pub fn list(&self) -> Result<Vec<Backup>> {
        unimplemented!()
    }

    /// The one that is meant: an id or a unique beginning of it, a file name, `latest`.
    pub fn find(&self, id: &str) -> Result<Backup> {
        let _ = id;
        unimplemented!()
    }

    /// Everything that happened, oldest first; a line that is cut short is passed over.
    pub fn history(&self) -> Result<Vec<Event>> {
        unimplemented!()
    }

    /// Adds to the history, durably.
    pub fn note(&self, event: &Event) -> Result<()> {
        let _ = event;
        unimplemented!()
    }

    /// Where receipts of drills are kept.
    pub fn receipts(&self) -> PathBuf {
        self.path.join("receipts")
    }

    /// Deletes an archive with what stands beside it, durably.
    pub fn delete(&self, backup: &Backup) -> Result<()> {
        let _ = backup;
        unimplemented!()
    }
}
