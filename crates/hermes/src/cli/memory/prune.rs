//! hermes memory prune

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::memory_file::{self, Entry, edit};
use serde::Serialize;

use crate::cli::memory::{Which, change};
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::clock;
use hermes_app::rules;
use hermes_app::text::one_line;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Remove entries written longer ago than this (180d, 1y), or before this date
    #[arg(long, value_name = "TIME")]
    older_than: String,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Serialize)]
struct Plan {
    file: PathBuf,
    dry_run: bool,
    results: Vec<Entry>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let target = arguments.which.target(app)?;
    let context = rules::of_change(app, &home, &target, "memory prune")?;
    let zone = app.zone(&home)?;
    let cutoff = clock::parse_moment(&arguments.older_than, app.now, &zone)?.to_zoned(zone).date();
    let read = memory_file::read(&home, &target, context.rules)?;
    let plan = edit::prune_plan(&read.document, cutoff);
    if !app.asking.yes || plan.is_empty() {
        let found = !plan.is_empty();
        app.out.show(&Plan { file: read.path, dry_run: true, results: plan })?;
        if found {
            app.out.hint("nothing was changed yet; add `--yes` to remove them");
        }
        return Ok(Outcome::Done);
    }
    let outcome =
        memory_file::change(&home, &target, &context, |document| edit::prune(document, &plan))?;
    change::finish(outcome, &target, app)
}

impl Show for Plan {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no entry is that old; entries without a date are never pruned");
        }
        for entry in &self.results {
            let written = entry.written.map(|date| date.to_string()).unwrap_or_default();
            page.line(format_args!(
                "{:>5}  {written}  {}",
                entry.number,
                one_line(&entry.text, 72)
            ))?;
        }
        Ok(())
    }
}
