//! hermes memory show

use crate::terminal::Terminal;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use hermes_home::Home;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, Format, MemoryText};
use hermes_home::places;
use jiff::civil::Date;
use serde::Serialize;

use crate::cli::memory::Which;
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, Listing, Page, Show};
use hermes_app::app::App;
use hermes_app::clock;
use hermes_app::rules;
use hermes_app::text::{printable, thousands};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Print the raw file
    #[arg(long)]
    raw: bool,
    /// Show only entries written since then (2d, 1w, 2026-05-31, "last week"), by their date comment
    #[arg(long, value_name = "TIME", conflicts_with = "raw")]
    since: Option<String>,
}

/// One file with its entries.
#[derive(Debug, Serialize)]
struct Shown {
    file: PathBuf,
    exists: bool,
    /// False for a file in another place: it is read, never written.
    writable: bool,
    format: &'static str,
    chars: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    char_limit: Option<usize>,
    tokens: usize,
    entries: Vec<Item>,
}

#[derive(Debug, Serialize)]
struct Item {
    number: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    section: Vec<String>,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<Date>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let which = &arguments.which;
    if arguments.raw {
        let target = which.target(app)?;
        let read = memory_file::read(&home, &target, rules::of_file(app, &home, &target)?)?;
        app.out.raw().write_all(read.document.text().as_bytes())?;
        app.out.raw().flush()?;
        return Ok(Outcome::Done);
    }
    let targets = match (which.file, &which.user) {
        (None, None) => vec![MemoryTarget::Memory, MemoryTarget::User(None)],
        _ => vec![which.target(app)?],
    };
    let mut results = Vec::new();
    for target in &targets {
        results.extend(files(app, &home, target)?);
    }
    if let Some(since) = &arguments.since {
        let zone = app.zone(&home)?;
        let first = clock::parse_moment(since, app.now, &zone)?.to_zoned(zone).date();
        for file in &mut results {
            file.entries.retain(|entry| entry.written.is_some_and(|day| day >= first));
        }
    }
    app.out.show(&Listing { results })?;
    Ok(Outcome::Done)
}

fn files(app: &App, home: &Home, target: &MemoryTarget) -> anyhow::Result<Vec<Shown>> {
    let rules = rules::of_file(app, home, target)?;
    let mut shown = vec![Shown::of(memory_file::read(home, target, rules)?)];
    for place in places::find(home, target, rules.owner)? {
        shown.push(Shown {
            file: place.path,
            exists: true,
            writable: false,
            format: name(place.document.format()),
            chars: place.document.chars(),
            char_limit: None,
            tokens: place.tokens,
            entries: items(&place.document),
        });
    }
    Ok(shown)
}

fn items(document: &memory_file::Document) -> Vec<Item> {
    let item = |entry: &memory_file::Entry| Item {
        number: entry.number,
        section: entry.section.clone(),
        text: entry.text.clone(),
        written: entry.written,
    };
    document.entries().iter().map(item).collect()
}

fn name(format: Format) -> &'static str {
    match format {
        Format::Markdown => "markdown",
        Format::Sections => "sections",
    }
}

impl Shown {
    fn of(read: MemoryText) -> Shown {
        Shown {
            exists: read.exists,
            writable: true,
            format: name(read.document.format()),
            chars: read.usage.chars,
            char_limit: read.usage.limit,
            tokens: read.tokens,
            entries: items(&read.document),
            file: read.path,
        }
    }
}

impl Show for Listing<Shown> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for (place, file) in self.results.iter().enumerate() {
            if place > 0 {
                page.line("")?;
            }
            show_file(file, page)?;
        }
        Ok(())
    }
}

fn show_file(file: &Shown, page: &mut Page) -> io::Result<()> {
    let limit = file.char_limit.map(|limit| format!(" of {}", thousands(limit as u64)));
    let note = match (file.exists, file.writable) {
        (false, _) => ", no file yet",
        (true, false) => ", read-only: merge it with `hermes memory merge`",
        (true, true) => "",
    };
    page.line(format_args!(
        "{BOLD}{}{BOLD:#} {DIM}(about {} tokens, {}{} characters{note}){DIM:#}",
        file.file.display(),
        thousands(file.tokens as u64),
        thousands(file.chars as u64),
        limit.unwrap_or_default(),
    ))?;
    let mut section: &[String] = &[];
    for entry in &file.entries {
        if entry.section != section {
            page.line(format_args!("  {DIM}{}{DIM:#}", entry.section.join(" › ")))?;
            section = &entry.section;
        }
        let written = entry.written.map(|date| format!("  {DIM}{date}{DIM:#}")).unwrap_or_default();
        let text = printable(&entry.text).replace('\n', "\n       ");
        page.line(format_args!("{:>5}  {text}{written}", entry.number))?;
    }
    if file.entries.is_empty() {
        page.line(format_args!("  {DIM}no entries{DIM:#}"))?;
    }
    Ok(())
}
