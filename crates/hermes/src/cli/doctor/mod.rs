//! hermes doctor: every check has a name, a status, evidence and the command that repairs it

mod backups;
pub(crate) mod behind;
mod daemon;
mod databases;
pub(crate) mod deep;
mod files;
mod fix;
mod integrations;
mod machine;
mod memory;
mod secrets;
mod server;
mod users;

use std::io;

use clap::Args;
use hermes_home::{Error as HomeError, Home};
use serde::Serialize;

use crate::app::App;
use crate::failure::Outcome;
use crate::output::{BAD, CARE, DIM, GOOD, Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Repair what can be repaired safely: modes, missing folders, left-over temporary files, the
    /// index of vectors
    #[arg(long)]
    fix: bool,
    /// Look at everything: every page, every row against its checksum, every kept version against its hash
    #[arg(long)]
    deep: bool,
    /// Take the databases as they are, though something that was kept is missing; with --deep also rows
    /// that are not what was written
    #[arg(long, conflicts_with = "fix")]
    accept: bool,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Warn,
    Fail,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) status: Status,
    pub(crate) evidence: String,
    /// The command that repairs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repair: Option<String>,
}

#[derive(Debug, Serialize)]
struct Examined {
    results: Vec<Check>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixed: Vec<String>,
}

impl Check {
    fn ok(name: &'static str, evidence: impl Into<String>) -> Check {
        Check { name, status: Status::Ok, evidence: evidence.into(), repair: None }
    }

    fn warn(name: &'static str, evidence: impl Into<String>) -> Check {
        Check { status: Status::Warn, ..Check::ok(name, evidence) }
    }

    fn fail(name: &'static str, evidence: impl Into<String>) -> Check {
        Check { status: Status::Fail, ..Check::ok(name, evidence) }
    }

    /// Whether it says only that no daemon runs.
    pub(crate) fn is_about_daemon(&self) -> bool {
        self.name == "daemon"
    }

    fn repair(mut self, command: impl Into<String>) -> Check {
        self.repair = Some(command.into());
        self
    }
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = find_home(app)?;
    let mut results = Vec::new();
    let mut fixed = Vec::new();
    if home.folder().is_dir() {
        if arguments.fix {
            fixed = fix::safely(app, &home)?;
        }
        if arguments.fix && arguments.deep {
            fixed.extend(deep::fix(app, &home)?);
        }
        if arguments.accept {
            fixed.extend(deep::accept(app, &home, arguments.deep)?);
        }
        results.extend(checks(app, &home));
        if arguments.deep {
            results.extend(deep::checks(app, &home));
        }
    } else {
        let missing = format!("there is no home at {}", home.folder().display());
        results.push(Check::fail("home", missing).repair("hermes init"));
        results.extend(machine::checks(app, &home));
    }
    let worst = results.iter().map(|check| check.status).max().unwrap_or(Status::Ok);
    app.out.show(&Examined { results, fixed })?;
    Ok(if worst == Status::Fail { Outcome::Findings } else { Outcome::Done })
}

/// Every check of an existing home.
pub(crate) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let mut results = machine::checks(app, home);
    results.extend(files::checks(app, home));
    results.extend(databases::checks(app, home));
    results.extend(memory::checks(app, home));
    results.extend(secrets::checks(app, home));
    results.extend(behind::checks(app, home));
    results.extend(daemon::checks(app, home));
    results.extend(backups::checks(app, home));
    results.extend(integrations::checks(app, home));
    results
}

/// The home to examine; a sticky profile that is gone must not keep doctor from working.
fn find_home(app: &App) -> anyhow::Result<Home> {
    match app.home() {
        Ok(home) => Ok(home),
        // The check of the profiles says what is wrong with it.
        Err(HomeError::StickyProfile { .. }) => Ok(app.root_home()?),
        Err(error) => Err(error.into()),
    }
}

/// One check as people read it.
pub(crate) fn show_check(check: &Check, page: &mut Page) -> io::Result<()> {
    let (style, word) = match check.status {
        Status::Ok => (GOOD, "ok  "),
        Status::Warn => (CARE, "warn"),
        Status::Fail => (BAD, "FAIL"),
    };
    page.line(format_args!("{style}{word}{style:#}  {:<12} {}", check.name, check.evidence))?;
    match &check.repair {
        Some(command) => {
            page.line(format_args!("                    {DIM}repair:{DIM:#} {command}"))
        }
        None => Ok(()),
    }
}

impl Show for Examined {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for line in &self.fixed {
            page.line(format_args!("{GOOD}fixed{GOOD:#} {line}"))?;
        }
        for check in &self.results {
            show_check(check, page)?;
        }
        let count = |status| self.results.iter().filter(|check| check.status == status).count();
        page.line("")?;
        page.line(format_args!(
            "{} checks: {} ok, {} to look at, {} failed",
            self.results.len(),
            count(Status::Ok),
            count(Status::Warn),
            count(Status::Fail)
        ))
    }
}
