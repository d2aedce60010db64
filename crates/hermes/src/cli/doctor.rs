//! hermes doctor: every check has a name, a status, evidence and the command that repairs it

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_app::doctor::{Check, Status, checks, deep, find_home, fix, machine};
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{BAD, CARE, DIM, GOOD, Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Make the safe repairs: file modes, missing folders, left-over temporary files, the vector index
    #[arg(long)]
    fix: bool,
    /// Check everything: every database page, every row against its checksum, every stored version against its hash
    #[arg(long)]
    deep: bool,
    /// Accept the databases as they are although data is missing; with --deep, also accept damaged rows
    #[arg(long, conflicts_with = "fix")]
    accept: bool,
}

#[derive(Debug, Serialize)]
struct Examined {
    results: Vec<Check>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fixed: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
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
            "{} checks: {} ok, {} warnings, {} failed",
            self.results.len(),
            count(Status::Ok),
            count(Status::Warn),
            count(Status::Fail)
        ))
    }
}
