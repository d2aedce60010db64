//! Checking backups: are they what was written, and who signed them?

use hermes_backup::Error;
use hermes_backup::error::opened_with;
use hermes_backup::folder::Backup;
use hermes_backup::sign::Signed;
use hermes_backup::verify::{self, Verified};
use serde::Serialize;

use super::none_yet;
use super::opening::Opening;
use super::wanted::Wanted;
use crate::app::App;
use crate::problem::message;
use crate::progress::Progress;
use crate::text::thousands;

/// Which backups are meant.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    /// The one of this id, label or file, or `latest`.
    One(&'a str),
    /// Every one in the folder.
    All,
}

/// What a check saw.
#[derive(Debug, Serialize)]
pub struct CheckedBackup {
    /// The backup.
    pub id: String,
    /// Whether it is what was written.
    pub passed: bool,
    /// Whether every member was compared, or the hash of the encrypted archive alone.
    pub members: bool,
    /// What was seen, in words.
    pub seen: String,
    /// Who signed it.
    pub signed: String,
    /// What would open it, where it was compared by its hash alone.
    #[serde(skip)]
    pub opened_with: Option<String>,
}

/// Checks backups; one that cannot be opened does not keep others from being checked.
pub fn verify(
    app: &App,
    wanted: &Wanted,
    which: Which<'_>,
    opening: &Opening<'_>,
) -> anyhow::Result<Vec<CheckedBackup>> {
    match which {
        Which::One(id) => {
            let (backup, is_of_folder) = wanted.backup(id)?;
            Ok(vec![check(app, wanted, &backup, is_of_folder, opening)?])
        }
        Which::All => {
            let all = wanted.folder.list()?;
            if all.is_empty() {
                return Err(none_yet().into());
            }
            let checked = |backup: &Backup| {
                check(app, wanted, backup, true, opening)
                    .unwrap_or_else(|error| CheckedBackup::failed(backup, message(&error)))
            };
            Ok(all.iter().map(checked).collect())
        }
    }
}

fn check(
    app: &App,
    wanted: &Wanted,
    backup: &Backup,
    is_of_folder: bool,
    opening: &Opening<'_>,
) -> anyhow::Result<CheckedBackup> {
    let progress = Progress::of(app);
    opening.with(app, wanted, |keys| {
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        // What a copy elsewhere is like says nothing of the one in the folder.
        let seen = match is_of_folder {
            true => verify::verify(&wanted.folder, backup, keys, app.now, tell),
            false => verify::check(backup, keys, wanted.folder.signers(), app.now, tell),
        };
        match seen {
            Ok(seen) => Ok(CheckedBackup::of(backup, &seen)),
            Err(error @ (Error::Tampered { .. } | Error::Ahead { .. })) => {
                Ok(CheckedBackup::failed(backup, error.to_string()))
            }
            Err(error) => Err(error),
        }
    })
}

impl CheckedBackup {
    fn of(backup: &Backup, seen: &Verified) -> CheckedBackup {
        let signed = match (&backup.signed, seen) {
            // What stands beside it may be gone; the list inside tells as well.
            (Signed::No, Verified::Members { signed, .. }) => signed.said(),
            (signed, _) => signed.said(),
        };
        let (members, seen) = match seen {
            Verified::Members { files, .. } => {
                (true, format!("decrypted, {} files compared one by one", thousands(*files)))
            }
            Verified::HashOnly => (
                false,
                "only the hash of the encrypted file: no key or passphrase was given".to_owned(),
            ),
        };
        let to = backup.sidecar.as_ref().map(|sidecar| sidecar.encrypted_to.join(", "));
        let opened_with = (!members).then(|| opened_with(&to.unwrap_or_default()).to_owned());
        CheckedBackup { id: backup.name.id(), passed: true, members, seen, signed, opened_with }
    }

    fn failed(backup: &Backup, why: String) -> CheckedBackup {
        CheckedBackup {
            id: backup.name.id(),
            passed: false,
            members: false,
            seen: why,
            signed: backup.signed.said(),
            opened_with: None,
        }
    }
}
