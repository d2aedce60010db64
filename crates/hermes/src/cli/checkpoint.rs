//! hermes checkpoint list, show, restore, prune

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hermes_agent::checkpoint::{
    Checkpoint, Limits, Plan, Planned, Restored, Restoring, State, Store,
};
use hermes_home::Home;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::confirm::consent;
use crate::failure::Outcome;
use crate::output::{CARE, Page, Show};
use hermes_app::clock;
use hermes_app::text::{bytes, counted, one_line, printable};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the checkpoints, newest first
    List(List),
    /// Show the difference between the files now and before a checkpoint's change
    Show {
        /// Number of the checkpoint
        number: u32,
    },
    /// Restore files to their state before a checkpoint: undoes its change and all later ones of its session
    Restore {
        /// Number of the checkpoint
        number: u32,
        /// Also replace files that someone else changed since
        #[arg(long)]
        force: bool,
    },
    /// Delete checkpoints that are too old or take too much space, as the settings say
    Prune {
        /// Show what would be deleted, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Show only the checkpoints of this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Maximum number of checkpoints to show
    #[arg(long, default_value_t = 50, value_name = "COUNT")]
    limit: usize,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let store = Store::new(&home, Limits::from(&app.config(&home)?.config.checkpoints));
    match command {
        Command::List(arguments) => list(arguments, &home, &store, app),
        Command::Show { number } => show(*number, &home, &store, app),
        Command::Restore { number, force } => restore(*number, *force, &store, app),
        Command::Prune { dry_run } => prune(*dry_run, &store, app),
    }
}

fn list(
    arguments: &List,
    home: &Home,
    store: &Store,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let mut results = store.list(arguments.session.as_deref())?;
    let total = results.len();
    results.truncate(arguments.limit);
    let zone = app.zone(home)?;
    app.out.show(&Listed { results, total, bytes: store.size()?, zone })?;
    Ok(Outcome::Done)
}

fn show(number: u32, home: &Home, store: &Store, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let checkpoint = store.get(number)?;
    let plan = store.plan(number)?;
    let diff = store.diff(&plan)?;
    let zone = app.zone(home)?;
    app.out.show(&Shown { checkpoint, changes: plan.changes, diff, zone })?;
    Ok(Outcome::Done)
}

fn restore(number: u32, force: bool, store: &Store, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let plan = store.plan(number)?;
    let foreign = plan.foreign();
    if !force && !foreign.is_empty() {
        return Err(hermes_agent::Error::ChangedSince { paths: foreign }.into());
    }
    if plan.changes.iter().any(|change| change.stays.is_none()) {
        app.out.note(printable(store.diff(&plan)?.trim_end()));
        consent(app.asking, &question(number, &plan))?;
    }
    let newest = store.list(Some(&plan.session))?;
    let turn = newest.first().map_or(0, |newest| newest.turn);
    let restored = store.restore(&plan, &Restoring { force, turn, now: app.now })?;
    let outcome = if restored.left.is_empty() { Outcome::Done } else { Outcome::Partial };
    let undo = restored.undo;
    app.out.show(&Brought { number, restored })?;
    if let Some(undo) = undo {
        app.out.hint(format_args!("undo it with `hermes checkpoint restore {undo}`"));
    }
    Ok(outcome)
}

fn prune(dry_run: bool, store: &Store, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let pruned = if dry_run { store.prune_plan(app.now)? } else { store.prune(app.now)? };
    let shown = Pruning { dry_run, results: pruned.checkpoints, bytes: pruned.bytes };
    app.out.show(&shown)?;
    Ok(Outcome::Done)
}

fn question(number: u32, plan: &Plan) -> String {
    let todo = plan.changes.iter().filter(|change| change.stays.is_none());
    let (removed, written): (Vec<&Planned>, Vec<&Planned>) =
        todo.partition(|change| change.then == State::Missing);
    let mut deeds = Vec::new();
    if !written.is_empty() {
        deeds.push(format!("restore {}", counted(written.len() as u64, "file")));
    }
    if !removed.is_empty() {
        deeds.push(format!("remove {}", counted(removed.len() as u64, "file")));
    }
    format!("return to the state before checkpoint {number}: {}?", deeds.join(" and "))
}

#[derive(Debug, Serialize)]
struct Listed {
    results: Vec<Checkpoint>,
    total: usize,
    /// What all of them take on the disk.
    bytes: u64,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Debug, Serialize)]
struct Shown {
    checkpoint: Checkpoint,
    changes: Vec<Planned>,
    diff: String,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Debug, Serialize)]
struct Brought {
    number: u32,
    #[serde(flatten)]
    restored: Restored,
}

#[derive(Debug, Serialize)]
struct Pruning {
    dry_run: bool,
    results: Vec<u32>,
    bytes: u64,
}

impl Show for Listed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no checkpoints: the agent has not changed any file yet");
        }
        let row = |checkpoint: &Checkpoint| {
            let files = match checkpoint.pending {
                Some(_) => "interrupted".to_owned(),
                None => counted(checkpoint.changes.len() as u64, "file"),
            };
            vec![
                checkpoint.number.to_string(),
                clock::minute(checkpoint.at, &self.zone),
                one_line(&checkpoint.session, 20),
                checkpoint.turn.to_string(),
                files,
                one_line(&checkpoint.what, 60),
            ]
        };
        let rows: Vec<Vec<String>> = self.results.iter().map(row).collect();
        page.table(&["number", "time", "session", "turn", "changed", "before"], &rows)?;
        let more = match self.total - self.results.len() {
            0 => String::new(),
            more => format!("; {} older", counted(more as u64, "checkpoint")),
        };
        page.line(format_args!("{} on disk{more}", bytes(self.bytes)))
    }
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Checkpoint { number, session, turn, at, folder, what, .. } = &self.checkpoint;
        let what = printable(what);
        page.line(format_args!("checkpoint {number}, before: {what}"))?;
        let at = clock::minute(*at, &self.zone);
        page.line(format_args!("{at}, session {session}, turn {turn}, in {}", folder.display()))?;
        for change in self.changes.iter().filter(|change| change.is_foreign) {
            let path = below(&change.path, folder);
            page.line(format_args!("{CARE}changed by someone else since:{CARE:#} {path}"))?;
        }
        match self.diff.is_empty() {
            true => page.line("no difference: the files are as they were"),
            false => page.line(printable(self.diff.trim_end())),
        }
    }
}

impl Show for Brought {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Restored { written, removed, left, .. } = &self.restored;
        if written.is_empty() && removed.is_empty() && left.is_empty() {
            let number = self.number;
            return page.line(format_args!(
                "the files are already as they were before checkpoint {number}; nothing was changed"
            ));
        }
        let mut rows = |what: &str, paths: &[PathBuf]| {
            paths.iter().try_for_each(|path| page.line(format_args!("{what} {}", path.display())))
        };
        rows("restored", written)?;
        rows("removed", removed)?;
        rows("left unchanged", left)
    }
}

impl Show for Pruning {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let count = counted(self.results.len() as u64, "checkpoint");
        let size = bytes(self.bytes);
        match self.dry_run {
            true => page.line(format_args!("{count} would be deleted, {size} would be freed")),
            false => page.line(format_args!("{count} deleted, {size} freed")),
        }
    }
}

fn below(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}
