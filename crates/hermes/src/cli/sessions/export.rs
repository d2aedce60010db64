//! hermes sessions export

use crate::terminal::Terminal;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hermes_home::Home;
use hermes_store::sessions::{SessionFilter, SessionId, SessionStore, Whose};
use jiff::tz::TimeZone;
use serde::Serialize;

use super::narrow::Narrow;
use super::reading;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::app::App;
use hermes_app::sessions::export::{self, refuse_existing, refuse_home};
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Sessions to export [default: all]
    sessions: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// File to write; `-` is standard output
    #[arg(long, short = 'o', default_value = "-", value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    narrow: Narrow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// JSON lines: one session per line with every column and message, for `import`
    Jsonl,
    /// Markdown, for reading
    #[value(alias = "markdown")]
    Md,
    /// One HTML page, for reading
    Html,
}

impl From<Format> for export::Format {
    fn from(format: Format) -> export::Format {
        match format {
            Format::Jsonl => export::Format::Jsonl,
            Format::Md => export::Format::Markdown,
            Format::Html => export::Format::Html,
        }
    }
}

#[derive(Debug, Serialize)]
struct Exported {
    file: PathBuf,
    sessions: usize,
}

impl Show for Exported {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let count = counted(self.sessions as u64, "session");
        page.line(format_args!("{count} written to {}", self.file.display()))
    }
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let store = reading(app, home)?;
    let zone = app.zone(home)?;
    let ids = chosen(arguments, &store, app, &zone)?;
    if arguments.output == Path::new("-") {
        export::write(arguments.format.into(), &store, &ids, &zone, app.out.raw())?;
        app.out.raw().flush()?;
        return Ok(Outcome::Done);
    }
    refuse_home(&arguments.output, home)?;
    if !arguments.force {
        refuse_existing(&arguments.output)
            .map_err(|problem| problem.hint("add `--force` to replace it"))?;
    }
    export::to_file(arguments.format.into(), &store, &ids, &zone, &arguments.output)?;
    app.out.show(&Exported { file: arguments.output.clone(), sessions: ids.len() })?;
    Ok(Outcome::Done)
}

fn chosen(
    arguments: &Arguments,
    store: &SessionStore,
    app: &App,
    zone: &TimeZone,
) -> anyhow::Result<Vec<SessionId>> {
    let span = arguments.narrow.span(app, zone)?;
    if !arguments.sessions.is_empty() {
        return Ok(arguments
            .sessions
            .iter()
            .map(|name| store.find(name))
            .collect::<Result<_, _>>()?);
    }
    if arguments.narrow.is_all() {
        return Ok(store.every_id()?);
    }
    let filter = SessionFilter {
        source: arguments.narrow.source.clone(),
        user: arguments.narrow.user.as_deref().map(Whose::called),
        since: span.since,
        until: span.until,
        include_archived: true,
        include_hidden: true,
        ..SessionFilter::default()
    };
    Ok(store.list(&filter)?.into_iter().map(|session| session.id).collect())
}
