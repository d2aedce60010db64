//! hermes sessions export

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use hermes_home::Home;
use hermes_store::sessions::{SessionFilter, SessionId, SessionStore, Whose};
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;

use super::conversation::Conversation;
use super::narrow::Narrow;
use super::{html, markdown, reading};
use crate::app::App;
use crate::failure::{Kind, Outcome, Problem};
use crate::output::{Page, Show, counted};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Which sessions [default: all of them]
    sessions: Vec<String>,
    /// The form
    #[arg(long, value_enum, default_value = "jsonl")]
    format: Format,
    /// The file to write; `-` is standard output
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
    /// One session a line, every column and every row: what `import` takes
    Jsonl,
    /// Markdown to read
    #[value(alias = "markdown")]
    Md,
    /// One HTML page to read
    Html,
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

pub(crate) fn run(arguments: &Arguments, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let store = reading(app, home)?;
    let zone = app.zone(home)?;
    let ids = chosen(arguments, &store, app, &zone)?;
    if arguments.output == Path::new("-") {
        write(arguments.format, &store, &ids, &zone, app.out.raw())?;
        app.out.raw().flush()?;
        return Ok(Outcome::Done);
    }
    refuse_home(&arguments.output, home)?;
    if !arguments.force {
        refuse_existing(&arguments.output)
            .map_err(|problem| problem.hint("add `--force` to replace it"))?;
    }
    to_file(arguments.format, &store, &ids, (&zone, &arguments.output))?;
    app.out.show(&Exported { file: arguments.output.clone(), sessions: ids.len() })?;
    Ok(Outcome::Done)
}

/// Writes the sessions to a private file that appears only when it is whole.
pub(crate) fn save_lines(
    store: &SessionStore,
    ids: &[SessionId],
    path: &Path,
) -> anyhow::Result<()> {
    refuse_existing(path)?;
    to_file(Format::Jsonl, store, ids, (&TimeZone::UTC, path))
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

/// Streams into a device or pipe; a file appears under its name only when it is whole.
fn to_file(
    format: Format,
    store: &SessionStore,
    ids: &[SessionId],
    (zone, path): (&TimeZone, &Path),
) -> anyhow::Result<()> {
    let failed = || format!("could not write {}", path.display());
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let file = File::options().write(true).open(path).with_context(failed)?;
        let mut writer = BufWriter::new(file);
        write(format, store, ids, zone, &mut writer)?;
        return writer.flush().with_context(failed);
    }
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let file = tempfile::Builder::new()
        .prefix(".hermes-export-")
        .suffix(".partial")
        .tempfile_in(folder)
        .with_context(failed)?;
    let mut writer: BufWriter<&File> = BufWriter::new(file.as_file());
    write(format, store, ids, zone, &mut writer)?;
    writer.flush().with_context(failed)?;
    drop(writer);
    file.as_file().sync_all().with_context(failed)?;
    file.persist(&target).map_err(|error| error.error).with_context(failed)?;
    // What is about to be deleted must be on the disk here first.
    hermes_home::atomic::sync_folder(folder).with_context(failed)
}

/// Refuses to write over a file, which may be the only copy of something.
fn refuse_existing(path: &Path) -> Result<(), Problem> {
    if path.is_file() {
        return Err(Problem::new(Kind::Refused, format!("{} exists already", path.display()))
            .hint("choose another name"));
    }
    Ok(())
}

/// Refuses to write over a file of the home, whatever the user said.
fn refuse_home(path: &Path, home: &Home) -> Result<(), Problem> {
    let (Ok(target), Ok(root)) = (path.canonicalize(), home.root().canonicalize()) else {
        return Ok(());
    };
    if target.is_file() && target.starts_with(root) {
        let message = format!("{} belongs to the home and is not written over", path.display());
        return Err(Problem::new(Kind::Refused, message).hint("choose a name outside of the home"));
    }
    Ok(())
}

fn write(
    format: Format,
    store: &SessionStore,
    ids: &[SessionId],
    zone: &TimeZone,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if format == Format::Html {
        out.write_all(html::head().as_bytes())?;
    }
    for (place, id) in ids.iter().enumerate() {
        match format {
            Format::Jsonl => store.export_session(id, out)?,
            Format::Md | Format::Html => page(format, store, id, (zone, place), out)?,
        }
    }
    if format == Format::Html {
        out.write_all(html::foot().as_bytes())?;
    }
    Ok(())
}

fn page(
    format: Format,
    store: &SessionStore,
    id: &SessionId,
    (zone, place): (&TimeZone, usize),
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut line = Vec::new();
    store.export_session(id, &mut line)?;
    let session: Value = serde_json::from_slice(&line)?;
    let conversation = Conversation::of(&session, zone);
    let text = match format {
        Format::Html => html::section(&conversation),
        _ if place > 0 => format!("\n---\n\n{}", markdown::page(&conversation)),
        _ => markdown::page(&conversation),
    };
    Ok(io::Write::write_all(out, text.as_bytes())?)
}
