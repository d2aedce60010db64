//! hermes backup list, show

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_backup::manifest::Sidecar;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{BAD, CARE, DIM, GOOD, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::list::{self, BackupState, BackupSummary, OfHome};
use hermes_app::backup::wanted;
use hermes_app::clock;
use hermes_app::text::{bytes, one_line, thousands};

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// Backup to show: its id, a unique beginning of it, its label, or `latest`
    #[arg(default_value = "latest")]
    id: String,
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Listed {
    results: Vec<BackupSummary>,
    folder: PathBuf,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    row: BackupSummary,
    path: PathBuf,
    verified: Option<Timestamp>,
    failed: Option<String>,
    sidecar: Option<Sidecar>,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(arguments: &List, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    let results = list::summaries(&wanted)?;
    let is_empty = results.is_empty();
    let zone = zone(app, &wanted);
    app.out.show(&Listed { results, folder: wanted.folder.path().to_owned(), zone })?;
    if is_empty {
        app.out.note(format_args!("no backup in {}", wanted.folder.path().display()));
        app.out.hint("create one with `hermes backup create`");
    }
    Ok(Outcome::Done)
}

pub(crate) fn show(arguments: &One, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    let found = wanted.folder.find(&arguments.id)?;
    let zone = zone(app, &wanted);
    app.out.show(&Shown {
        row: BackupSummary::of(&found),
        path: found.path,
        verified: found.verified,
        failed: found.failed,
        sidecar: found.sidecar,
        zone,
    })?;
    Ok(Outcome::Done)
}

/// The zone of the home, or the system's where there is no home yet.
fn zone(app: &App, wanted: &wanted::Wanted) -> TimeZone {
    let found = wanted.home.folder().is_dir().then(|| app.zone(&wanted.home).ok()).flatten();
    found.unwrap_or_else(|| hermes_app::platform::system_zone(&app.env))
}

/// For whom a backup is encrypted, as people read it.
fn encrypted(to: &[String]) -> String {
    let short = |id: &String| match id.len() {
        40.. => id[id.len().saturating_sub(16)..].to_owned(),
        _ => id.clone(),
    };
    if to.is_empty() {
        "plain text".to_owned()
    } else {
        to.iter().map(short).collect::<Vec<_>>().join(" ")
    }
}

impl Show for Listed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return Ok(());
        }
        let rows: Vec<Vec<String>> = self
            .results
            .iter()
            .map(|row| {
                vec![
                    row.id.clone(),
                    clock::minute(row.made, &self.zone),
                    match row.home {
                        OfHome::Another => format!("{} of another home", row.what),
                        OfHome::This | OfHome::Unknown => row.what.clone(),
                    },
                    bytes(row.size),
                    match row.is_stranger {
                        true => format!("{}, {}", row.state.word(), row.signed),
                        false => row.state.word().to_owned(),
                    },
                    encrypted(&row.encrypted_to),
                    row.copies.join(" "),
                    one_line(row.label.as_deref().unwrap_or_default(), 60),
                ]
            })
            .collect();
        page.table(
            &["id", "created", "what", "size", "state", "encrypted to", "also at", "label"],
            &rows,
        )
    }
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let style = match self.row.state {
            BackupState::Verified => GOOD,
            BackupState::Unverified => CARE,
            BackupState::Damaged | BackupState::Failed => BAD,
        };
        page.line(format_args!("backup        {}", self.row.id))?;
        if let Some(label) = &self.row.label {
            page.line(format_args!("label         {}", one_line(label, 200)))?;
        }
        page.line(format_args!("file          {}", self.path.display()))?;
        page.line(format_args!("created       {}", clock::minute(self.row.made, &self.zone)))?;
        let home = match self.row.home {
            OfHome::This => "",
            OfHome::Another => " of another home",
            OfHome::Unknown => " of an unknown home",
        };
        page.line(format_args!("what          {}{home}", self.row.what))?;
        page.line(format_args!("size          {}", bytes(self.row.size)))?;
        page.line(format_args!("state         {style}{}{style:#}", self.row.state.word()))?;
        page.line(format_args!("signed        {}", self.row.signed))?;
        if let Some(at) = self.verified {
            page.line(format_args!("verified      {}", clock::minute(at, &self.zone)))?;
        }
        if let Some(why) = &self.failed {
            page.line(format_args!("{BAD}failed{BAD:#}        {why}"))?;
        }
        page.line(format_args!(
            "encrypted to  {}",
            if self.row.encrypted_to.is_empty() {
                "nobody (not encrypted)".to_owned()
            } else {
                self.row.encrypted_to.join(", ").replace("passphrase", "a passphrase")
            }
        ))?;
        for place in &self.row.copies {
            page.line(format_args!("also at       {place}"))?;
        }
        let Some(sidecar) = &self.sidecar else {
            return page
                .line(format_args!("{DIM}the .json file beside the archive is missing{DIM:#}"));
        };
        page.line(format_args!(
            "contains      {} files, {} databases, {}",
            thousands(sidecar.files),
            sidecar.databases,
            bytes(sidecar.bytes)
        ))?;
        page.line(format_args!("sha256        {}", sidecar.sha256))?;
        page.line(format_args!("open with     {}", sidecar.open_with))
    }
}
