//! hermes backup push, pull

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use crate::failure::Outcome;
use crate::output::{BAD, CARE, DIM, GOOD, Listing, Page, Show};
use clap::Args;
use hermes_app::backup::none_yet;
use hermes_app::backup::push::{self, BackupThere, FetchedBackup, SentTo};
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::problem::Problem;
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Push {
    /// Remote to send to [default: all remotes in backup.targets]
    target: Option<String>,
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Pull {
    /// Backup to fetch: its id, a unique beginning of it, or `latest`
    #[arg(default_value = "latest")]
    id: String,
    /// Remote to fetch from [default: the first one in backup.targets]
    #[arg(long, value_name = "PLACE")]
    target: Option<String>,
    /// List the backups on the remote, and fetch nothing
    #[arg(long, conflicts_with = "id")]
    list: bool,
    /// Folder to write to [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
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
    Problem::usage("no remote is set up").hint(
        "pass one: `hermes backup push /mnt/disk/hermes`, or store it: `hermes config set backup.targets ssh://user@host/srv/hermes`",
    )
}

/// Sends what is not there yet, and shows what was sent.
pub(super) fn to_all(
    app: &mut Terminal,
    wanted: &Wanted,
    named: Option<&str>,
) -> anyhow::Result<Outcome> {
    let results = push::send(app, wanted, named)?;
    if results.is_empty() {
        return Ok(Outcome::Done);
    }
    let is_well = results.iter().all(SentTo::is_well);
    app.out.show(&Listing { results })?;
    Ok(if is_well { Outcome::Done } else { Outcome::Partial })
}

pub(crate) fn pull(arguments: &Pull, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.to.as_deref())?;
    let named = arguments.target.as_deref();
    if arguments.list {
        let results = push::look(app, &wanted, named)?;
        app.out.show(&Listing { results })?;
        return Ok(Outcome::Done);
    }
    let fetched = push::fetch(app, &wanted, named, &arguments.id)?;
    app.out.show(&fetched)?;
    app.out.hint(format_args!("restore it with `hermes backup restore {}`", fetched.id));
    Ok(Outcome::Done)
}

impl Show for Listing<SentTo> {
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
                    "{GOOD}ok{GOOD:#}    {}: {} sent and verified, {} already there",
                    one.place,
                    one.sent.len(),
                    one.there.len()
                ))?,
            }
            if !one.pruned.is_empty() {
                page.line(format_args!(
                    "      {} deleted on the remote",
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

impl Show for Listing<BackupThere> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let row = |one: &BackupThere| {
            let whole = if one.whole { "complete" } else { "incomplete" };
            vec![one.name.clone(), hermes_app::text::bytes(one.size), whole.to_owned()]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["name", "size", "state"], &rows)
    }
}

impl Show for FetchedBackup {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let size = hermes_app::text::bytes(self.size);
        page.line(format_args!("fetched {} to {} ({size})", self.id, self.path.display()))
    }
}
