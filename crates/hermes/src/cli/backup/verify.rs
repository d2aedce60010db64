//! hermes backup verify

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use super::keys::Opening;
use crate::failure::Outcome;
use crate::output::{BAD, CARE, GOOD, Listing, Page, Show};
use clap::Args;
use hermes_app::backup::verify::{CheckedBackup, Which, verify};
use hermes_app::backup::wanted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Backup to verify: its id, a unique beginning of it, its label, `latest`, or the path of any archive
    #[arg(default_value = "latest")]
    id: String,
    /// Verify every backup in the folder
    #[arg(long, conflicts_with = "id")]
    all: bool,
    #[command(flatten)]
    opening: Opening,
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    let which = if arguments.all { Which::All } else { Which::One(&arguments.id) };
    let results = arguments.opening.with(app, |opening| verify(app, &wanted, which, opening))?;
    let is_well = results.iter().all(|one| one.passed);
    let hint = results.iter().find_map(|one| one.opened_with.clone());
    app.out.show(&Listing { results })?;
    if let Some(hint) = hint {
        app.out.hint(format_args!("{hint} to compare what is inside"));
    }
    Ok(if is_well { Outcome::Done } else { Outcome::Findings })
}

impl Show for Listing<CheckedBackup> {
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
