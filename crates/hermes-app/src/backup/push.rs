//! Sending backups to places off this host, and fetching them back.

use std::path::PathBuf;

use hermes_backup::folder::{Backup, Event, Folder, Happened};
use hermes_backup::name::Format;
use hermes_backup::push;
use hermes_backup::remote::Target;
use hermes_backup::whose::{Whose, are_of_several};
use serde::Serialize;

use super::wanted::Wanted;
use crate::app::App;
use crate::problem::{Kind, Problem, hint, message};
use crate::progress::Progress;

/// What was sent to a place, or why nothing was.
#[derive(Debug, Serialize)]
pub struct SentTo {
    /// The place.
    pub place: String,
    /// What was sent and read back.
    pub sent: Vec<String>,
    /// What was there already.
    pub there: Vec<String>,
    /// Not sent because of what is here.
    pub skipped: Vec<String>,
    /// What the rules of the place let go.
    pub pruned: Vec<String>,
    /// What the rules of the place were not applied to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_alone: Vec<String>,
    /// What people should know.
    pub warnings: Vec<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What to do about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A backup at a place off this host.
#[derive(Debug, Serialize)]
pub struct BackupThere {
    /// The place.
    pub place: String,
    /// The name of its archive.
    pub name: String,
    /// Its length.
    pub size: u64,
    /// Whether it was sent to the end.
    pub whole: bool,
}

/// A backup that was fetched.
#[derive(Debug, Serialize)]
pub struct FetchedBackup {
    /// Its id.
    pub id: String,
    /// Where it lies now.
    pub path: PathBuf,
    /// Its length.
    pub size: u64,
}

impl SentTo {
    /// Whether everything that should be there is there.
    pub fn is_well(&self) -> bool {
        self.error.is_none() && self.skipped.is_empty()
    }
}

/// Sends what is not there yet to every place, or to the one that is named; one that cannot be reached does not stop
/// the others.
pub fn send(app: &App, wanted: &Wanted, named: Option<&str>) -> anyhow::Result<Vec<SentTo>> {
    let mut results = Vec::new();
    for target in wanted.targets(named)? {
        let sent = to_one(app, wanted, &target);
        results.push(sent.unwrap_or_else(|error| SentTo::failed(&target, &error)));
    }
    Ok(results)
}

fn to_one(app: &App, wanted: &Wanted, target: &Target) -> anyhow::Result<SentTo> {
    let progress = Progress::of(app);
    let folder: &Folder = &wanted.folder;
    let remote = wanted.remote(app, target).inspect_err(|error| {
        let (id, place, detail) = (None, Some(target.place()), message(error));
        let what = Happened::PushFailed;
        // The failure itself is what is told.
        let _ = folder.note(&Event { at: app.now, what, id, place, detail });
    })?;
    // What is not encrypted stays on this machine, and other homes send their own.
    let mut ours = folder.list()?;
    // Who cannot say who it is, in a folder of several homes, sends only what it surely made.
    let is_mixed = folder.home().is_none() && are_of_several(ours.iter().map(Backup::home));
    ours.retain(|one| one.whose == Whose::Ours || (one.whose == Whose::Unknown && !is_mixed));
    let (plain, backups): (Vec<_>, Vec<_>) =
        ours.into_iter().partition(|one| one.name.format == Format::Plain);
    let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
    let mut pushed = push::push(folder, &backups, remote.as_ref(), app.now, tell)?;
    let stays =
        |one: &Backup| format!("backup {} is plain text and is not sent to remotes", one.name.id());
    pushed.warnings.extend(plain.iter().map(stays));
    let mut left_alone = Vec::new();
    if let Some(policy) = &target.keep {
        let zone = app.zone(&wanted.home)?;
        let plan = push::plan_prune(folder, remote.as_ref(), policy, app.now, &zone)?;
        pushed.pruned = push::prune(folder, remote.as_ref(), &plan, app.now)?;
        left_alone = plan.left.said();
    }
    Ok(SentTo {
        place: remote.place(),
        sent: pushed.sent,
        there: pushed.there,
        skipped: pushed.skipped,
        pruned: pushed.pruned,
        left_alone,
        warnings: pushed.warnings,
        error: None,
        hint: None,
    })
}

/// What is at a place: the one that is named, else the first of the settings.
pub fn look(app: &App, wanted: &Wanted, named: Option<&str>) -> anyhow::Result<Vec<BackupThere>> {
    let remote = wanted.remote(app, &place(wanted, named)?)?;
    let there = |one: push::Placed| BackupThere {
        place: remote.place(),
        name: one.name.to_string(),
        size: one.size,
        whole: one.whole,
    };
    Ok(push::placed(remote.as_ref())?.into_iter().map(there).collect())
}

/// Fetches a backup from a place into the folder of backups.
pub fn fetch(
    app: &App,
    wanted: &Wanted,
    named: Option<&str>,
    id: &str,
) -> anyhow::Result<FetchedBackup> {
    let remote = wanted.remote(app, &place(wanted, named)?)?;
    wanted.folder.make(wanted.home.root())?;
    let progress = Progress::of(app);
    let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
    let fetched = push::pull(&wanted.folder, id, remote.as_ref(), tell);
    let backup = fetched.map_err(|error| match error {
        hermes_backup::Error::NotFound { .. } => Problem::new(Kind::NotFound, error.to_string())
            .hint("`hermes backup pull --list --target PLACE` shows what is there")
            .into(),
        other => anyhow::Error::from(other),
    })?;
    Ok(FetchedBackup { id: backup.name.id(), path: backup.path, size: backup.size })
}

fn place(wanted: &Wanted, named: Option<&str>) -> anyhow::Result<Target> {
    wanted.targets(named)?.into_iter().next().ok_or_else(|| {
        Problem::usage("no remote is set up")
            .hint("give one: `hermes backup pull --target /mnt/disk/hermes`")
            .into()
    })
}

impl SentTo {
    fn failed(target: &Target, error: &anyhow::Error) -> SentTo {
        SentTo {
            place: target.name.clone(),
            sent: Vec::new(),
            there: Vec::new(),
            skipped: Vec::new(),
            pruned: Vec::new(),
            left_alone: Vec::new(),
            warnings: Vec::new(),
            error: Some(message(error)),
            hint: hint(error),
        }
    }
}
