//! hermes backup push, pull

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_backup::folder::{Backup, Event, Folder, Happened};
use hermes_backup::name::Format;
use hermes_backup::push;
use hermes_backup::remote::Target;
use hermes_backup::whose::{Whose, are_of_several};
use serde::Serialize;

use super::create::none_yet;
use crate::cli::progress::Progress;
use crate::failure::Outcome;
use crate::output::{BAD, CARE, DIM, GOOD, Listing, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::problem::{Kind, Problem, hint, message};
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Push {
    /// The place [default: all of the settings]
    target: Option<String>,
    /// The folder of backups [default: the one of the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Pull {
    /// Its id, a unique beginning of it, or `latest`
    #[arg(default_value = "latest")]
    id: String,
    /// The place [default: the first of the settings]
    #[arg(long, value_name = "PLACE")]
    target: Option<String>,
    /// List what is there, and fetch nothing
    #[arg(long, conflicts_with = "id")]
    list: bool,
    /// The folder to put it in [default: the one of the settings]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Sent {
    place: String,
    sent: Vec<String>,
    there: Vec<String>,
    /// Not sent because of what is here.
    skipped: Vec<String>,
    pruned: Vec<String>,
    /// What the rules of the place were not applied to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_alone: Vec<String>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct There {
    place: String,
    name: String,
    size: u64,
    /// Whether it was sent to the end.
    whole: bool,
}

#[derive(Debug, Serialize)]
struct Fetched {
    id: String,
    path: PathBuf,
    size: u64,
}

pub(crate) fn run(arguments: &Push, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read(app, arguments.from.as_deref())?;
    if wanted.folder.list()?.is_empty() {
        return Err(none_yet().into());
    }
    if arguments.target.is_none() && wanted.settings.targets.is_empty() {
        return Err(no_place().into());
    }
    to_all(app, &wanted, arguments.target.as_deref())
}

fn no_place() -> Problem {
    Problem::usage("no place off this host is set up").hint(
        "name one: `hermes backup push /mnt/disk/hermes`, or keep it: `hermes config set backup.targets ssh://user@host/srv/hermes`",
    )
}

/// Sends what is not there yet to every place; one that cannot be reached does not stop the others.
pub(super) fn to_all(
    app: &mut Terminal,
    wanted: &Wanted,
    named: Option<&str>,
) -> anyhow::Result<Outcome> {
    let mut results = Vec::new();
    for target in wanted.targets(named)? {
        let mut progress = Progress::of(app);
        let sent = to_one(app, wanted, &target, &mut progress);
        progress.end();
        results.push(match sent {
            Ok(sent) => sent,
            Err(error) => Sent::failed(&target, &error),
        });
    }
    if results.is_empty() {
        return Ok(Outcome::Done);
    }
    let is_well = results.iter().all(|one| one.error.is_none() && one.skipped.is_empty());
    app.out.show(&Listing { results })?;
    Ok(if is_well { Outcome::Done } else { Outcome::Partial })
}

fn to_one(
    app: &App,
    wanted: &Wanted,
    target: &Target,
    progress: &mut Progress,
) -> anyhow::Result<Sent> {
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
        |one: &Backup| format!("backup {} is plain text and stays on this machine", one.name.id());
    pushed.warnings.extend(plain.iter().map(stays));
    let mut left_alone = Vec::new();
    if let Some(policy) = &target.keep {
        let zone = app.zone(&wanted.home)?;
        let plan = push::plan_prune(folder, remote.as_ref(), policy, app.now, &zone)?;
        pushed.pruned = push::prune(folder, remote.as_ref(), &plan, app.now)?;
        left_alone = plan.left.said();
    }
    Ok(Sent {
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

pub(crate) fn pull(arguments: &Pull, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.to.as_deref())?;
    let targets = wanted.targets(arguments.target.as_deref())?;
    let no_place = || {
        Problem::usage("no place off this host is set up")
            .hint("name one: `hermes backup pull --target /mnt/disk/hermes`")
    };
    let target = targets.first().ok_or_else(no_place)?;
    let remote = wanted.remote(app, target)?;
    if arguments.list {
        let there = |one: push::Placed| There {
            place: remote.place(),
            name: one.name.to_string(),
            size: one.size,
            whole: one.whole,
        };
        let results = push::placed(remote.as_ref())?.into_iter().map(there).collect();
        app.out.show(&Listing { results })?;
        return Ok(Outcome::Done);
    }
    wanted.folder.make(wanted.home.root())?;
    let mut progress = Progress::of(app);
    let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
    let fetched = push::pull(&wanted.folder, &arguments.id, remote.as_ref(), tell);
    progress.end();
    let backup = fetched.map_err(|error| match error {
        hermes_backup::Error::NotFound { .. } => Problem::new(Kind::NotFound, error.to_string())
            .hint("see what is there with `hermes backup pull --list --target PLACE`")
            .into(),
        other => anyhow::Error::from(other),
    })?;
    let id = backup.name.id();
    app.out.show(&Fetched { id: id.clone(), path: backup.path, size: backup.size })?;
    app.out.hint(format_args!("bring it back with `hermes backup restore {id}`"));
    Ok(Outcome::Done)
}

impl Sent {
    fn failed(target: &Target, error: &anyhow::Error) -> Sent {
        Sent {
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

impl Show for Listing<Sent> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            match &one.error {
                Some(error) => {
                    page.line(format_args!("{BAD}FAIL{BAD:#}  {error}"))?;
                    if let Some(hint) = &one.hint {
                        page.line(format_args!("      {DIM}next:{DIM:#} {hint}"))?;
                    }
                }
                None => page.line(format_args!(
                    "{GOOD}ok{GOOD:#}    {}: {} sent and read back, {} there already",
                    one.place,
                    one.sent.len(),
                    one.there.len()
                ))?,
            }
            if !one.pruned.is_empty() {
                page.line(format_args!(
                    "      {} deleted there",
                    counted(one.pruned.len() as u64, "backup")
                ))?;
            }
            for line in &one.left_alone {
                page.line(format_args!("      {line}"))?;
            }
            for warning in &one.warnings {
                page.line(format_args!("{CARE}warn{CARE:#}  {warning}"))?;
            }
        }
        Ok(())
    }
}

impl Show for Listing<There> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let row = |one: &There| {
            let whole = if one.whole { "whole" } else { "unfinished" };
            vec![one.name.clone(), hermes_app::text::bytes(one.size), whole.to_owned()]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["name", "size", "state"], &rows)
    }
}

impl Show for Fetched {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let size = hermes_app::text::bytes(self.size);
        page.line(format_args!("fetched {} to {} ({size})", self.id, self.path.display()))
    }
}
