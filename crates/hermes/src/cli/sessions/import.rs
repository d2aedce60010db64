//! hermes sessions import

use crate::terminal::Terminal;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hermes_home::Home;
use hermes_store::sessions::ImportReport;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::sessions;
use hermes_app::text::counted;

/// A file that is something else altogether has a fault in every line.
const MOST_SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File of JSON lines; `-` is standard input
    file: PathBuf,
}

#[derive(Debug, Serialize)]
struct Imported {
    #[serde(flatten)]
    report: ImportReport,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let mut lines: Box<dyn BufRead> = match arguments.file.as_path() {
        path if path == Path::new("-") => Box::new(io::stdin().lock()),
        path => {
            let failed = || format!("could not read {}", path.display());
            Box::new(BufReader::new(File::open(path).with_context(failed)?))
        }
    };
    let report = sessions::import(app, home, &mut lines)?;
    show(report, app)
}

/// Says what was taken in.
pub(super) fn show(report: ImportReport, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let is_partial = report.is_partial();
    app.out.show(&Imported { report })?;
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

impl Show for Imported {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let report = &self.report;
        page.line(format_args!(
            "{} added, {} extended, {} already there; {} added",
            counted(report.sessions_added, "session"),
            report.sessions_extended,
            report.sessions_unchanged,
            counted(report.messages_added, "message"),
        ))?;
        for change in &report.titles_changed {
            page.line(format_args!(
                "title {:?} is already in use: imported as {:?}",
                change.from, change.to
            ))?;
        }
        for dropped in &report.parents_dropped {
            page.line(format_args!(
                "{} continues {}, which does not exist here",
                dropped.session, dropped.parent
            ))?;
        }
        if report.messages_reduced_to_text > 0 {
            let count = counted(report.messages_reduced_to_text, "message");
            page.line(format_args!(
                "{count} imported as text only: this index of Hermes Agent cannot store pictures"
            ))?;
        }
        if !report.ignored_fields.is_empty() {
            let fields = report.ignored_fields.join(", ");
            page.line(format_args!("skipped fields that have no column here: {fields}"))?;
        }
        for problem in report.problems.iter().take(MOST_SHOWN) {
            page.line(format_args!("line {} was skipped: {}", problem.line, problem.reason))?;
        }
        if let Some(more) = report.problems.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
            page.line(format_args!("and {more} more lines: `--json` lists all of them"))?;
        }
        Ok(())
    }
}
