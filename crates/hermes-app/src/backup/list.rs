//! The backups of a home as they are listed.

use hermes_backup::folder::Backup;
use hermes_backup::name::Format;
use hermes_backup::sign::Signed;
use hermes_backup::whose::Whose;
use jiff::Timestamp;
use serde::Serialize;

use super::wanted::{self, Wanted};
use crate::app::App;

/// A backup as it is listed.
#[derive(Debug, Serialize)]
pub struct BackupSummary {
    /// Its id.
    pub id: String,
    /// What it is of: everything, or one profile.
    pub what: String,
    /// When it was made.
    pub made: Timestamp,
    /// How large it is.
    pub size: u64,
    /// What is known of it.
    pub state: BackupState,
    /// For whom it is encrypted.
    pub encrypted_to: Vec<String>,
    /// The places off this host that have it.
    pub copies: Vec<String>,
    /// What it was called with `create --label`.
    pub label: Option<String>,
    /// Whose it is, by the id of the home.
    pub home: OfHome,
    /// Who signed it.
    pub signed: String,
    /// Whether this home did not sign it.
    #[serde(skip)]
    pub is_stranger: bool,
}

/// Whose a backup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OfHome {
    /// Of this home.
    This,
    /// Of another home.
    Another,
    /// It does not say.
    Unknown,
}

/// What is known of a backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BackupState {
    /// It was read back.
    Verified,
    /// It was not read back yet.
    Unverified,
    /// It is not what it was.
    Damaged,
    /// It could not be read back.
    Failed,
}

/// Every backup of the settings' folder.
pub fn list(app: &App) -> anyhow::Result<Vec<BackupSummary>> {
    summaries(&wanted::read_anyway(app, None)?)
}

/// Every backup of a folder.
pub fn summaries(wanted: &Wanted) -> anyhow::Result<Vec<BackupSummary>> {
    Ok(wanted.folder.list()?.iter().map(BackupSummary::of).collect())
}

impl BackupSummary {
    /// What is known of an archive.
    pub fn of(backup: &Backup) -> BackupSummary {
        let state = match backup {
            Backup { failed: Some(_), .. } => BackupState::Failed,
            backup if backup.name.damaged => BackupState::Damaged,
            Backup { verified: Some(_), .. } => BackupState::Verified,
            _ => BackupState::Unverified,
        };
        BackupSummary {
            signed: backup.signed.said(),
            is_stranger: backup.signed != Signed::Ours,
            id: backup.name.id(),
            what: backup.name.what.clone(),
            made: backup.name.made,
            size: backup.size,
            state,
            encrypted_to: match (&backup.sidecar, backup.name.format) {
                (Some(sidecar), _) => sidecar.encrypted_to.clone(),
                (None, Format::Plain) => Vec::new(),
                (None, _) => vec!["unknown: the .json file beside it is missing".to_owned()],
            },
            copies: backup.copies.clone(),
            label: backup.label.clone(),
            home: match backup.whose {
                Whose::Ours => OfHome::This,
                Whose::Other => OfHome::Another,
                Whose::Unknown => OfHome::Unknown,
            },
        }
    }
}

impl BackupState {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            BackupState::Verified => "verified",
            BackupState::Unverified => "unverified",
            BackupState::Damaged => "DAMAGED",
            BackupState::Failed => "FAILED",
        }
    }
}
