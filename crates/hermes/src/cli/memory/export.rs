//! hermes memory export

use crate::terminal::Terminal;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use hermes_home::Home;
use hermes_home::name::UserId;
use hermes_memory::transfer::{self, ExportSettings, Written};
use hermes_store::memory::{Memory, Section, UserNumber};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::problem::{Kind, Problem};
use hermes_app::progress::Progress;
use hermes_app::text::{bytes, counted, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File to write; `-` is standard output
    #[arg(long, short = 'o', default_value = "-", value_name = "FILE")]
    output: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
    /// Export only what belongs to this user [default: all users]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// Export only this type; can be given several times
    #[arg(long = "type", value_enum, value_name = "TYPE")]
    types: Vec<Type>,
    /// Export only what was recorded since then (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Replace what looks like a password or a key
    #[arg(long)]
    redact: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Type {
    /// Conversations with their messages
    Episodes,
    /// Facts
    Facts,
    /// Lessons: how to do things well
    Procedures,
    /// Events: what happened when
    Events,
}

#[derive(Debug, Serialize)]
struct Exported {
    file: PathBuf,
    #[serde(flatten)]
    written: Written,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let memory = app.memory(&home, Access::Read)?;
    let since = app.moment(&home, arguments.since.as_deref())?;
    let sections: Vec<Section> =
        arguments.types.iter().flat_map(|one| one.sections()).copied().collect();
    let settings = ExportSettings {
        made_by: concat!("hermes ", env!("CARGO_PKG_VERSION")),
        now: app.now,
        user: user(arguments, &memory.store)?,
        since,
        sections: (!sections.is_empty()).then_some(&sections),
        redact: arguments.redact,
    };
    let progress = Progress::of(app);
    let mut say = |items: u64, size: u64| {
        progress.say(format_args!("{} items, {}", thousands(items), bytes(size)));
    };
    if arguments.output == Path::new("-") {
        // What is on the terminal already needs no line about how far it is.
        transfer::export(&memory.store, app.out.raw(), &settings, &mut |_, _| {})?;
        return Ok(Outcome::Done);
    }
    refuse(arguments, &home)?;
    let written = to_file(&memory.store, &arguments.output, &settings, &mut say)?;
    drop(progress);
    app.out.show(&Exported { file: arguments.output.clone(), written })?;
    if !arguments.redact {
        app.out.note(
            "this file contains everything that was said: keep it as private as the memory itself",
        );
    }
    Ok(Outcome::Done)
}

impl Type {
    fn sections(self) -> &'static [Section] {
        match self {
            Type::Episodes => &[Section::Episodes],
            Type::Facts => &[Section::Facts, Section::Conflicts],
            Type::Procedures => &[Section::Procedures],
            Type::Events => &[Section::Events],
        }
    }
}

fn user(arguments: &Arguments, store: &Memory) -> anyhow::Result<Option<UserNumber>> {
    let Some(name) = &arguments.user else { return Ok(None) };
    let id: UserId = name.parse()?;
    let found = store.user(id.as_str())?.map(|user| user.number);
    let missing = || {
        Problem::new(Kind::NotFound, format!("could not find user {name} in the memory"))
            .hint("list the users with `hermes memory status --verbose`")
    };
    Ok(Some(found.ok_or_else(missing)?))
}

/// Refuses to write over a file, and over anything of the home even when told to.
fn refuse(arguments: &Arguments, home: &Home) -> Result<(), Problem> {
    let path = &arguments.output;
    if let (Ok(target), Ok(root)) = (path.canonicalize(), home.root().canonicalize())
        && target.is_file()
        && target.starts_with(root)
    {
        let message = format!("{} belongs to the home and is never overwritten", path.display());
        return Err(Problem::new(Kind::Refused, message).hint("choose a path outside the home"));
    }
    if path.is_file() && !arguments.force {
        return Err(Problem::new(Kind::Refused, format!("{} already exists", path.display()))
            .hint("add `--force` to replace it"));
    }
    Ok(())
}

/// Streams into a device or pipe; a file, readable by its owner only, appears when it is whole.
fn to_file(
    store: &Memory,
    path: &Path,
    settings: &ExportSettings<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> anyhow::Result<Written> {
    let failed = || format!("could not write {}", path.display());
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let file = File::options().write(true).open(path).with_context(failed)?;
        let mut writer = BufWriter::with_capacity(1 << 18, file);
        return Ok(transfer::export(store, &mut writer, settings, progress)?);
    }
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let file = tempfile::Builder::new()
        .prefix(".hermes-export-")
        .suffix(".partial")
        .tempfile_in(folder)
        .with_context(failed)?;
    let mut writer: BufWriter<&File> = BufWriter::with_capacity(1 << 18, file.as_file());
    let written = transfer::export(store, &mut writer, settings, progress)?;
    writer.flush().with_context(failed)?;
    drop(writer);
    file.as_file().sync_all().with_context(failed)?;
    file.persist(&target).map_err(|error| error.error).with_context(failed)?;
    hermes_home::atomic::sync_folder(folder).with_context(failed)?;
    Ok(written)
}

impl Show for Exported {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Written { items, bytes: size } = &self.written;
        let count = counted(items.values().sum(), "item");
        page.line(format_args!("{count} ({}) written to {}", bytes(*size), self.file.display()))
    }
}
