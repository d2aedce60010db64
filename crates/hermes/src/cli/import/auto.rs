//! hermes import auto

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_import::Found;
use serde::Serialize;

use super::bring::{self, Wanted};
use super::places;
use crate::cli::memory::whose::Whose;
use crate::failure::Outcome;
use crate::output::{Listing, Page, Show};
use hermes_app::clock;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{bytes, printable, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Import everything that was found (needs `--yes`)
    #[arg(long)]
    all: bool,
    /// Replace what looks like a password or a key
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    whose: Whose,
}

/// Something that was found, with the command that imports it.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    found: Found,
    command: String,
    #[serde(skip)]
    newest: String,
}

pub(super) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let zone = app.zone(&home)?;
    let rows: Vec<Row> = hermes_import::detect(&places::places(app, &home)?)
        .into_iter()
        .map(|found| Row {
            command: format!("hermes import {} {}", found.source.id(), quoted(&found)),
            newest: found.newest.map(|at| clock::minute(at, &zone)).unwrap_or_default(),
            found,
        })
        .collect();
    if !arguments.all {
        app.out.show(&Listing { results: rows })?;
        return Ok(Outcome::Done);
    }
    if !app.asking.yes {
        app.out.show(&Listing { results: rows })?;
        let message = "not confirmed: import everything that was found?";
        return Err(Problem::new(Kind::Refused, message).hint("add `--yes` to confirm").into());
    }
    let mut outcome = Outcome::Done;
    for row in rows {
        app.out.note(format_args!("{}", row.command));
        let arguments = super::Arguments {
            path: Some(row.found.path.clone()),
            dry_run: false,
            since: None,
            project: None,
            whose: arguments.whose.clone(),
            redact: arguments.redact,
            with_model: false,
        };
        let brought = Wanted::of(row.found.source, &arguments, app, &home)
            .and_then(|wanted| bring::bring(&wanted, app, &home));
        outcome = outcome.worst(match brought {
            Ok(outcome) => outcome,
            Err(error) => {
                app.out
                    .note(format_args!("not imported: {}", hermes_app::problem::message(&error)));
                Outcome::Partial
            }
        });
    }
    Ok(outcome)
}

fn quoted(found: &Found) -> String {
    let path = found.path.display().to_string();
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-~+".contains(c));
    if is_plain { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

impl Show for Listing<Row> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line(
                "found nothing in the usual locations; `hermes import --help` lists the sources \
                that you can import from a path",
            );
        }
        let rows = self.results.iter().map(|row| {
            let found = &row.found;
            vec![
                found.source.title().to_owned(),
                thousands(found.files),
                bytes(found.bytes),
                row.newest.clone(),
                printable(&row.command),
            ]
        });
        page.table(&["found", "files", "size", "newest", "command"], &rows.collect::<Vec<_>>())
    }
}
