//! hermes backup verify

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_backup::Error;
use hermes_backup::error::opened_with;
use hermes_backup::folder::Backup;
use hermes_backup::sign::Signed;
use hermes_backup::verify::{self, Verified};
use serde::Serialize;

use super::create::none_yet;
use super::keys::Opening;
use crate::cli::progress::Progress;
use crate::failure::Outcome;
use crate::output::{BAD, CARE, GOOD, Listing, Page, Show};
use hermes_app::backup::wanted;
use hermes_app::problem::message;
use hermes_app::text::thousands;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Its id, a unique beginning of it, its label, `latest`, or a file anywhere
    #[arg(default_value = "latest")]
    id: String,
    /// Every backup in the folder
    #[arg(long, conflicts_with = "id")]
    all: bool,
    #[command(flatten)]
    opening: Opening,
    /// The folder of backups [default: the one of the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Checked {
    id: String,
    passed: bool,
    /// Whether every member was compared, or the hash of the encrypted archive alone.
    members: bool,
    seen: String,
    /// Who signed it.
    signed: String,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    let backups = match arguments.all {
        true => wanted.folder.list()?.into_iter().map(|one| (one, true)).collect(),
        false => vec![wanted.backup(&arguments.id)?],
    };
    if backups.is_empty() {
        return Err(none_yet().into());
    }
    let mut results = Vec::new();
    for (backup, is_of_folder) in &backups {
        let mut progress = Progress::of(app);
        let tried = arguments.opening.with(app, &wanted, |keys| {
            let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
            // What a copy elsewhere is like says nothing of the one in the folder.
            let seen = match is_of_folder {
                true => verify::verify(&wanted.folder, backup, keys, app.now, tell),
                false => verify::check(backup, (keys, wanted.folder.signers()), app.now, tell),
            };
            match seen {
                Ok(seen) => Ok(Checked::of(backup, &seen)),
                Err(error @ (Error::Tampered { .. } | Error::Ahead { .. })) => {
                    Ok(Checked::failed(backup, &error))
                }
                Err(error) => Err(error),
            }
        });
        progress.end();
        results.push(match tried {
            Ok(checked) => checked,
            // One that cannot be opened does not keep the others from being checked.
            Err(error) if arguments.all => Checked::unopened(backup, message(&error)),
            Err(error) => return Err(error),
        });
    }
    let is_well = results.iter().all(|one| one.passed);
    let by_hash = results.iter().position(|one| one.passed && !one.members);
    app.out.show(&Listing { results })?;
    if let Some((backup, _)) = by_hash.and_then(|at| backups.get(at)) {
        let to = backup.sidecar.as_ref().map(|sidecar| sidecar.encrypted_to.join(", "));
        let hint = opened_with(&to.unwrap_or_default());
        app.out.hint(format_args!("{hint} to compare what is inside"));
    }
    Ok(if is_well { Outcome::Done } else { Outcome::Findings })
}

impl Checked {
    fn of(backup: &Backup, seen: &Verified) -> Checked {
        let signed = match (&backup.signed, seen) {
            // What stands beside it may be gone; the list inside tells as well.
            (Signed::No, Verified::Members { signed, .. }) => signed.said(),
            (signed, _) => signed.said(),
        };
        let (members, seen) = match seen {
            Verified::Members { files, .. } => {
                (true, format!("decrypted, {} files compared one by one", thousands(*files)))
            }
            Verified::HashOnly => {
                (false, "ciphertext hash only: nothing was given that opens it".to_owned())
            }
        };
        Checked { id: backup.name.id(), passed: true, members, seen, signed }
    }

    fn unopened(backup: &Backup, why: String) -> Checked {
        Checked {
            id: backup.name.id(),
            passed: false,
            members: false,
            seen: why,
            signed: backup.signed.said(),
        }
    }

    fn failed(backup: &Backup, error: &Error) -> Checked {
        Checked {
            id: backup.name.id(),
            passed: false,
            members: false,
            seen: error.to_string(),
            signed: backup.signed.said(),
        }
    }
}

impl Show for Listing<Checked> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            let (style, word) = match (one.passed, one.members) {
                (true, true) => (GOOD, "ok  "),
                (true, false) => (CARE, "hash"),
                (false, _) => (BAD, "FAIL"),
            };
            page.line(format_args!(
                "{style}{word}{style:#}  {}  {}; {}",
                one.id, one.seen, one.signed
            ))?;
        }
        Ok(())
    }
}
