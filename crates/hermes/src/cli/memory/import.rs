//! hermes memory import

use crate::terminal::Terminal;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hermes_memory::Error;
use hermes_memory::transfer::{self, Ending, ImportReport, ImportSettings};
use hermes_store::sqlite::Access;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::embedding;
use hermes_app::later;
use hermes_app::problem::{Kind, Problem};
use hermes_app::progress::Progress;
use hermes_app::text::{bytes, counted, printable, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File written by `hermes memory export`; `-` is standard input
    file: PathBuf,
    /// Show what is in the file, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Imported {
    dry_run: bool,
    #[serde(flatten)]
    report: ImportReport,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut file: Box<dyn BufRead> = match arguments.file.as_path() {
        path if path == Path::new("-") => Box::new(BufReader::new(io::stdin().lock())),
        path => {
            let failed = || format!("could not read {}", path.display());
            Box::new(BufReader::new(File::open(path).with_context(failed)?))
        }
    };
    let failed = || format!("could not read {}", arguments.file.display());
    let beginning = file.fill_buf().with_context(failed)?.to_vec();
    refuse_other(&beginning, &arguments.file)?;
    let zone = app.zone(&home)?;
    let access = if arguments.dry_run { Access::Read } else { Access::Write };
    let mut memory = app.memory(&home, access)?;
    let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
    let profile = home.profile_name();
    let settings = ImportSettings { profile, zone: &zone, now: app.now, vectors };
    let progress = Progress::of(app);
    let mut say = |items: u64, size: u64| {
        progress.say(format_args!("{} items, {}", thousands(items), bytes(size)));
    };
    let read = match arguments.dry_run {
        true => transfer::look(&memory.store, &mut file, &settings, &mut say),
        false => transfer::import(&mut memory.store, &mut file, &settings, &mut say),
    };
    drop(progress);
    let report = read.map_err(|error| named(error, &arguments.file))?;
    if report.is_of_another_profile {
        let theirs = printable(&report.profile);
        app.out.note(format_args!(
            "the export comes from profile {theirs}; its items are imported into profile {profile}"
        ));
    }
    let is_partial = report.is_partial();
    app.out.show(&Imported { dry_run: arguments.dry_run, report })?;
    if !arguments.dry_run {
        later::fill_in(&home, app, &mut memory.store)?;
    }
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

/// Says what a file is that is no export, and which command takes it.
fn refuse_other(beginning: &[u8], file: &Path) -> Result<(), Problem> {
    let name = file.display();
    let Some((what, hint)) = looks_like(beginning, &name.to_string()) else { return Ok(()) };
    let message = format!("could not import {name}: it looks like {what}");
    Err(Problem::new(Kind::Refused, message).hint(hint))
}

fn looks_like(beginning: &[u8], name: &str) -> Option<(&'static str, String)> {
    let own = "only files written by `hermes memory export` can be imported".to_owned();
    if beginning.starts_with(b"SQLite format 3\0") {
        return Some(("a database", own));
    }
    if beginning.starts_with(b"PK") || beginning.starts_with(b"\x1f\x8b") {
        return Some(("an archive", "unpack it first".to_owned()));
    }
    let text = String::from_utf8_lossy(beginning);
    let first = text.trim_start_matches('\u{feff}').trim_start().lines().next()?;
    if first.starts_with("# ") || first.starts_with("- ") || text.contains("\n§\n") {
        let hint =
            "add its entries with `hermes memory add TEXT`, or save it as memories/MEMORY.md";
        return Some(("a memory file", hint.to_owned()));
    }
    let line: Value = serde_json::from_str(first).ok()?;
    match (line.get("session_id"), line.get("role"), line.get("messages")) {
        (Some(_), Some(_), None) => Some((
            "messages, one per line",
            format!("record them with `hermes memory record {name}`"),
        )),
        (_, _, Some(_)) => {
            let hint = format!("import them with `hermes sessions import {name}`");
            Some(("sessions, one per line", hint))
        }
        _ => None,
    }
}

/// The error with the name of the file it is about.
fn named(error: Error, file: &Path) -> anyhow::Error {
    match error {
        Error::NotExport { why } => {
            let message = format!("could not import {}: {why}", file.display());
            let hint = "only files written by `hermes memory export` can be imported";
            Problem::new(Kind::Refused, message).hint(hint).into()
        }
        Error::NewerExport { found, known } => {
            let message = format!(
                "could not import {}: its format version is {found}, this build supports {known}",
                file.display()
            );
            let hint = "upgrade hermes, then import again";
            Problem::new(Kind::Refused, message).hint(hint).into()
        }
        other => other.into(),
    }
}

impl Show for Imported {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let report = &self.report;
        match self.dry_run {
            true => self.show_counts(page)?,
            false => self.show_tallies(page)?,
        }
        for reason in &report.imported.reasons {
            page.line(format_args!("skipped: {}", printable(reason)))?;
        }
        match &report.ending {
            Ending::Whole => Ok(()),
            Ending::Cut => page.line("the file is truncated: everything before the end was read"),
            Ending::Damaged { line, why } => {
                let why = printable(why);
                page.line(format_args!("the file is damaged at line {line}: {why}"))
            }
            Ending::Short { part, said, found } => {
                let part = printable(part);
                page.line(format_args!(
                    "the file should contain {said} {part}, but contains {found}"
                ))
            }
        }
    }
}

impl Imported {
    fn show_counts(&self, page: &mut Page) -> io::Result<()> {
        let report = &self.report;
        let by = printable(&report.made_by);
        page.line(format_args!("exported at {} by {by}", report.exported_at))?;
        let rows =
            report.items.iter().map(|(name, count)| vec![(*name).to_owned(), thousands(*count)]);
        page.table(&["part", "items"], &rows.collect::<Vec<_>>())?;
        let known = thousands(report.here_already);
        page.line(format_args!("{known} known already; nothing was imported"))
    }

    fn show_tallies(&self, page: &mut Page) -> io::Result<()> {
        let total = self.report.imported.total();
        let rows = self.report.imported.tallies.iter().map(|(name, tally)| {
            let counts = [tally.added, tally.known, tally.forgotten, tally.refused];
            std::iter::once((*name).to_owned()).chain(counts.map(thousands)).collect()
        });
        let head = ["part", "added", "known", "forgotten", "skipped"];
        page.table(&head, &rows.collect::<Vec<Vec<String>>>())?;
        let (added, known) = (counted(total.added, "item"), thousands(total.known));
        page.line(format_args!("{added} added, {known} known already"))
    }
}
