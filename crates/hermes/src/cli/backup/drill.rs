//! hermes backup drill, receipt

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hermes_backup::drill::{self, Receipt, Request};
use hermes_backup::folder::{Backup, Folder};
use serde::Serialize;

use super::create::none_yet;
use super::keys::Opening;
use crate::cli::progress::Progress;
use crate::failure::Outcome;
use crate::output::{BAD, BOLD, DIM, GOOD, Listing, Page, Show};
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::platform;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Its id, a unique beginning of it, its label, `latest`, or a file anywhere
    #[arg(default_value = "latest")]
    id: String,
    /// Any one of the backups, by chance
    #[arg(long, conflicts_with = "id")]
    random: bool,
    #[command(flatten)]
    opening: Opening,
    /// The folder of backups [default: the one of the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Receipts {
    /// List the receipts of drills
    List,
    /// Take in the receipt of a drill that was made where the private key is
    Import {
        /// The receipt, a JSON file
        file: PathBuf,
    },
}

#[derive(Debug, Serialize)]
struct Drilled {
    #[serde(flatten)]
    receipt: Receipt,
    kept_in: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    let (backup, folder) = chosen(arguments, &wanted)?;
    folder.make(wanted.home.root())?;
    let host = platform::host();
    let temporary = std::env::temp_dir();
    let mut progress = Progress::of(app);
    let (receipt, kept_in) = arguments.opening.with(app, &wanted, |keys| {
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        let (folder, backup, host) = (&folder, &backup, host.as_str());
        let (home, temporary) = (Some(&wanted.home), temporary.as_path());
        drill::drill(&Request { folder, backup, keys, host, now: app.now, home, temporary }, tell)
    })?;
    progress.end();
    let passed = receipt.passed;
    app.out.show(&Drilled { receipt, kept_in })?;
    Ok(if passed { Outcome::Done } else { Outcome::Findings })
}

/// The backup, and the folder that the receipt goes to.
fn chosen(arguments: &Arguments, wanted: &Wanted) -> anyhow::Result<(Backup, Folder)> {
    if !arguments.random {
        let (backup, is_of_folder) = wanted.backup(&arguments.id)?;
        let mut folder = wanted.folder.clone();
        if !is_of_folder {
            // The drill of another home's backup says nothing of this one's.
            folder = folder.of_home(Some(backup.home().unwrap_or("unknown").to_owned()));
        }
        return Ok((backup, folder));
    }
    let mut good: Vec<Backup> =
        wanted.folder.list()?.into_iter().filter(|one| !one.name.damaged).collect();
    good.retain(|one| one.counts_in(&wanted.folder));
    if good.is_empty() {
        return Err(none_yet().into());
    }
    let number = platform::random_number()? as usize % good.len();
    Ok((good.swap_remove(number), wanted.folder.clone()))
}

pub(crate) fn receipt(command: &Receipts, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, None)?;
    match command {
        Receipts::List => {
            let results = drill::receipts(&wanted.folder)?;
            let is_empty = results.is_empty();
            app.out.show(&Listing { results })?;
            if is_empty {
                app.out.note("no receipt of a drill yet");
                app.out.hint("make a drill with `hermes backup drill`");
            }
        }
        Receipts::Import { file } => {
            let receipt = drill::import_receipt(&wanted.folder, file, app.now)?;
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
            true => (GOOD, "the backup restores"),
            false => (BAD, "the backup does NOT restore as it should"),
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
