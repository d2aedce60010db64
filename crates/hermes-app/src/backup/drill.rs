//! Drills: a backup is restored into a scratch folder, looked at, and a receipt of that is kept.

use std::path::PathBuf;

use hermes_backup::drill::{self, Receipt, Request};
use hermes_backup::folder::{Backup, Folder};
use serde::Serialize;

use super::none_yet;
use super::opening::Opening;
use super::wanted::Wanted;
use crate::app::App;
use crate::platform;
use crate::progress::Progress;

/// A drill that was made.
#[derive(Debug, Serialize)]
pub struct Drilled {
    /// What it saw.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// Where the receipt lies.
    pub kept_in: PathBuf,
}

/// Makes a drill with the backup that is named; with any one, by chance, where none is.
pub fn drill(
    app: &App,
    wanted: &Wanted,
    named: Option<&str>,
    opening: &Opening<'_>,
) -> anyhow::Result<Drilled> {
    let (backup, folder) = match named {
        Some(id) => named_one(wanted, id)?,
        None => (any_one(wanted)?, wanted.folder.clone()),
    };
    folder.make(wanted.home.root())?;
    let (host, temporary) = (platform::host(), std::env::temp_dir());
    let progress = Progress::of(app);
    let (receipt, kept_in) = opening.with(app, wanted, |keys| {
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        let (folder, backup, host) = (&folder, &backup, host.as_str());
        let (home, temporary) = (Some(&wanted.home), temporary.as_path());
        drill::drill(&Request { folder, backup, keys, host, now: app.now, home, temporary }, tell)
    })?;
    Ok(Drilled { receipt, kept_in })
}

/// The backup, and the folder that the receipt goes to.
fn named_one(wanted: &Wanted, id: &str) -> anyhow::Result<(Backup, Folder)> {
    let (backup, is_of_folder) = wanted.backup(id)?;
    let mut folder = wanted.folder.clone();
    if !is_of_folder {
        // The drill of another home's backup says nothing of this one's.
        folder = folder.of_home(Some(backup.home().unwrap_or("unknown").to_owned()));
    }
    Ok((backup, folder))
}

fn any_one(wanted: &Wanted) -> anyhow::Result<Backup> {
    let mut good: Vec<Backup> =
        wanted.folder.list()?.into_iter().filter(|one| !one.name.damaged).collect();
    good.retain(|one| one.counts_in(&wanted.folder));
    if good.is_empty() {
        return Err(none_yet().into());
    }
    let number = platform::random_number()? as usize % good.len();
    Ok(good.swap_remove(number))
}
