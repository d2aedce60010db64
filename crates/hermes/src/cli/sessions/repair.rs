//! hermes sessions repair

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::Home;
use hermes_home::databases::Database;
use hermes_store::sessions::{CheckReport, Cure, Depth, RepairReport, check, repair};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{BAD, GOOD, Page, Show};
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Only check, and change nothing
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Serialize)]
struct Checked {
    #[serde(flatten)]
    report: CheckReport,
}

#[derive(Debug, Serialize)]
struct Repaired {
    #[serde(flatten)]
    report: RepairReport,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let path = home.state_db();
    let wait = app.lock_wait(home)?;
    app.refuse_lost(home, Database::State)?;
    if arguments.check {
        let report = check(&path, Depth::Full, wait)?;
        let healthy = report.is_healthy();
        app.out.show(&Checked { report })?;
        return Ok(if healthy { Outcome::Done } else { Outcome::Findings });
    }
    if !check(&path, Depth::Full, wait)?.is_healthy() {
        let question =
            format!("repair {}? (a copy of the current file is kept beside it)", path.display());
        confirm::consent(app.asking, &question)?;
    }
    let report = repair(&path, app.now, wait)?;
    if report.salvaged.is_some() {
        // What could not be read is gone, and is said here: it is not to be missed again.
        app.sessions(home, Access::Write)?.accept_as_is(&app.high_water(home))?;
    }
    let is_partial = report
        .salvaged
        .as_ref()
        .is_some_and(|salvaged| salvaged.messages_lost + salvaged.sessions_lost > 0);
    app.out.show(&Repaired { report })?;
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

impl Show for Checked {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.report.is_healthy() {
            let messages = self.report.messages.and_then(|count| u64::try_from(count).ok());
            page.line(format_args!(
                "{GOOD}ok{GOOD:#}  {} checked",
                counted(messages.unwrap_or(0), "message")
            ))?;
        }
        for finding in &self.report.findings {
            page.line(format_args!("{BAD}problem{BAD:#}  {}", finding.text))?;
        }
        for gap in &self.report.not_checked {
            page.line(format_args!("not checked: {gap}"))?;
        }
        Ok(())
    }
}

impl Show for Repaired {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let done = match self.report.cure {
            Cure::Nothing => "no problems found; nothing was changed",
            Cure::RebuildFullText => "the full-text index was rebuilt",
            Cure::Reindex => "the indexes were rebuilt",
            Cure::Salvage => "the database was rebuilt from the rows that could be read",
        };
        page.line(done)?;
        if let Some(salvaged) = &self.report.salvaged {
            page.line(format_args!(
                "{} and {} saved, {} and {} lost",
                counted(salvaged.sessions, "session"),
                counted(salvaged.messages, "message"),
                counted(salvaged.sessions_lost, "session"),
                counted(salvaged.messages_lost, "message"),
            ))?;
        }
        if let Some(kept) = &self.report.kept {
            page.line(format_args!("the original file is kept as {}", kept.display()))?;
        }
        Ok(())
    }
}
