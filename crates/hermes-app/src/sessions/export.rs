//! Sessions written out whole: JSON lines that can be taken in again, Markdown or HTML to read.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use hermes_home::Home;
use hermes_store::sessions::{SessionId, SessionStore};
use jiff::tz::TimeZone;
use serde_json::Value;

use super::conversation::Conversation;
use super::{html, markdown};
use crate::problem::{Kind, Problem};

/// The form in which sessions are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One session a line, every column and every row.
    Jsonl,
    /// Markdown to read.
    Markdown,
    /// One HTML page to read.
    Html,
}

/// Writes the sessions to a private file that appears only when it is whole.
pub fn save_lines(store: &SessionStore, ids: &[SessionId], path: &Path) -> anyhow::Result<()> {
    refuse_existing(path)?;
    to_file(Format::Jsonl, store, ids, &TimeZone::UTC, path)
}

/// Streams into a device or pipe; a file appears under its name only when it is whole.
pub fn to_file(
    format: Format,
    store: &SessionStore,
    ids: &[SessionId],
    zone: &TimeZone,
    path: &Path,
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
pub fn refuse_existing(path: &Path) -> Result<(), Problem> {
    if path.is_file() {
        return Err(Problem::new(Kind::Refused, format!("{} already exists", path.display()))
            .hint("choose another name"));
    }
    Ok(())
}

/// Refuses to write over a file of the home, whatever the user said.
pub fn refuse_home(path: &Path, home: &Home) -> Result<(), Problem> {
    let (Ok(target), Ok(root)) = (path.canonicalize(), home.root().canonicalize()) else {
        return Ok(());
    };
    if target.is_file() && target.starts_with(root) {
        let message = format!("{} belongs to the home and is not overwritten", path.display());
        return Err(Problem::new(Kind::Refused, message).hint("choose a name outside the home"));
    }
    Ok(())
}

/// Writes sessions one after the other.
pub fn write(
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
        if format == Format::Markdown && place > 0 {
            out.write_all(b"\n---\n\n")?;
        }
        match format {
            Format::Jsonl => store.export_session(id, out)?,
            Format::Markdown | Format::Html => page(format, store, id, zone, out)?,
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
    zone: &TimeZone,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut line = Vec::new();
    store.export_session(id, &mut line)?;
    let session: Value = serde_json::from_slice(&line)?;
    let conversation = Conversation::of(&session, zone);
    let text = match format {
        Format::Html => html::section(&conversation),
        _ => markdown::page(&conversation),
    };
    Ok(io::Write::write_all(out, text.as_bytes())?)
}
