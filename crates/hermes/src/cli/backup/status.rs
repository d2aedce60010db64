//! hermes backup status

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_app::backup::status::{self, BackupStatus};
use hermes_app::backup::wanted;
use hermes_app::clock;
use hermes_backup::status::Colour;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{BAD, BOLD, CARE, DIM, GOOD, Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// If the state is bad, send the alert that the settings configure
    #[arg(long)]
    alert: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    status: BackupStatus,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read(app, None)?;
    wanted.home.must_exist()?;
    if arguments.alert {
        status::alert(app, &wanted, None)?;
    }
    let status = status::status(app, &wanted)?;
    let colour = status.standing.colour;
    let zone = app.zone(&wanted.home)?;
    app.out.show(&Shown { status, zone })?;
    Ok(if colour == Colour::Green { Outcome::Done } else { Outcome::Findings })
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let (style, word) = match self.status.standing.colour {
            Colour::Green => (GOOD, "green"),
            Colour::Amber => (CARE, "amber"),
            Colour::Red => (BAD, "red"),
        };
        page.line(format_args!("backups     {style}{BOLD}{word}{BOLD:#}{style:#}"))?;
        let at = |moment: Option<jiff::Timestamp>| {
            moment.map_or_else(|| "never".to_owned(), |at| clock::minute(at, &self.zone))
        };
        page.line(format_args!("newest      {}", at(self.status.standing.newest)))?;
        page.line(format_args!("last test   {}", at(self.status.standing.drilled)))?;
        page.line(format_args!("schedule    {}", self.status.schedule))?;
        page.line(format_args!("encryption  {}", self.status.encryption))?;
        if let Some(key) = &self.status.signed_with {
            page.line(format_args!("signed      with key {key}"))?;
        }
        page.line(format_args!("folder      {}", self.status.folder.display()))?;
        for place in &self.status.places {
            page.line(format_args!("sent to     {place}"))?;
        }
        for reason in &self.status.standing.reasons {
            let style = if reason.colour == Colour::Red { BAD } else { CARE };
            page.line(format_args!("{style}!{style:#} {}", reason.what))?;
            page.line(format_args!("  {DIM}next:{DIM:#} {}", reason.hint))?;
        }
        Ok(())
    }
}
