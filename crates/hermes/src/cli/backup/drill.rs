//! hermes backup drill, receipt

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hermes_backup::drill::{Receipt, import_receipt, receipts};

use super::keys::Opening;
use crate::failure::Outcome;
use crate::output::{BAD, BOLD, DIM, GOOD, Listing, Page, Show};
use hermes_app::backup::drill::{self, Drilled};
use hermes_app::backup::wanted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Backup to test: its id, a unique beginning of it, its label, `latest`, or the path of any archive
    #[arg(default_value = "latest")]
    id: String,
    /// Pick one of the backups at random
    #[arg(long, conflicts_with = "id")]
    random: bool,
    #[command(flatten)]
    opening: Opening,
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Receipts {
    /// List the receipts of restore tests
    List,
    /// Import the receipt of a restore test that was run on another machine, where the private key is
    Import {
        /// Receipt, a JSON file
        file: PathBuf,
    },
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    let named = (!arguments.random).then_some(arguments.id.as_str());
    let drilled =
        arguments.opening.with(app, |opening| drill::drill(app, &wanted, named, opening))?;
    app.out.show(&drilled)?;
    Ok(if drilled.receipt.passed { Outcome::Done } else { Outcome::Findings })
}

pub(crate) fn receipt(command: &Receipts, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, None)?;
    match command {
        Receipts::List => {
            let results = receipts(&wanted.folder)?;
            let is_empty = results.is_empty();
            app.out.show(&Listing { results })?;
            if is_empty {
                app.out.note("no restore test has been recorded yet");
                app.out.hint("run a restore test with `hermes backup drill`");
            }
        }
        Receipts::Import { file } => {
            let receipt = import_receipt(&wanted.folder, file, app.now)?;
            app.out.show(&Listing { results: vec![receipt] })?;
        }
    }
    Ok(Outcome::Done)
}

impl Show for Drilled {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for check in &self.receipt.checks {
            let (style, word) = if check.passed { (GOOD, "ok  ") } else { (BAD, "FAIL") };
            page.line(format_args!("{style}{word}{style:#}  {:<22} {}", check.name, check.seen))?;
        }
        let (style, word) = match self.receipt.passed {
            true => (GOOD, "restore test passed"),
            false => (BAD, "restore test FAILED"),
        };
        page.line(format_args!("{style}{word}{style:#}  {BOLD}{}{BOLD:#}", self.receipt.id))?;
        page.line(format_args!("{DIM}receipt:{DIM:#} {}", self.kept_in.display()))
    }
}

impl Show for Listing<Receipt> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            let (style, word) = if one.passed { (GOOD, "ok  ") } else { (BAD, "FAIL") };
            page.line(format_args!(
                "{style}{word}{style:#}  {}  {}  on {}",
                one.at, one.id, one.host
            ))?;
        }
        Ok(())
    }
}
