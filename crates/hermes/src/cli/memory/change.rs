//! hermes memory add, replace, remove

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, Change, Format, Selector, edit};
use serde::Serialize;

use crate::cli::memory::Which;
use crate::failure::Outcome;
use crate::input;
use crate::output::{Page, Show};
use hermes_app::rules;
use hermes_app::text::{entries, one_line};

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Text of the entry; `-` reads it from standard input
    text: String,
    /// Heading to add it under; created if it does not exist
    #[arg(long, value_name = "HEADING")]
    section: Option<String>,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
pub(crate) struct Replace {
    /// Number of the entry, or a piece of text that no other entry contains
    entry: String,
    /// New text; `-` reads it from standard input
    text: String,
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// Number of the entry, or a piece of text that no other entry contains
    entry: String,
    #[command(flatten)]
    which: Which,
}

/// What came of a change.
#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    file: PathBuf,
    changed: bool,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    entries: usize,
    usage: String,
    tokens: usize,
}

/// What came of saving the persona, which has no entries.
#[derive(Debug, Serialize)]
struct Saved {
    file: PathBuf,
    changed: bool,
    tokens: usize,
}

pub(crate) fn add(arguments: &Add, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let target = arguments.which.target(app)?;
    let text = input::text(&arguments.text)?;
    let today = app.today(&home)?;
    let context = rules::of_change(app, &home, &target, "memory add")?;
    let section = arguments.section.as_deref();
    let outcome = memory_file::change(&home, &target, &context, |document| {
        edit::add(document, &text, section, today)
    })?;
    if section.is_some() && outcome.document.format() == Format::Sections {
        app.out.note("a file with § lines has no headings; `--section` was not used");
    }
    finish(outcome, &target, app)
}

pub(crate) fn replace(arguments: &Replace, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let target = arguments.which.target(app)?;
    let text = input::text(&arguments.text)?;
    let today = app.today(&home)?;
    let context = rules::of_change(app, &home, &target, "memory replace")?;
    let selector = Selector::typed(&arguments.entry);
    let outcome = memory_file::change(&home, &target, &context, |document| {
        edit::replace(document, &selector, &text, today)
    })?;
    finish(outcome, &target, app)
}

pub(crate) fn remove(arguments: &Remove, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let target = arguments.which.target(app)?;
    let context = rules::of_change(app, &home, &target, "memory remove")?;
    let selector = Selector::typed(&arguments.entry);
    let outcome = memory_file::change(&home, &target, &context, |document| {
        edit::remove(document, &selector)
    })?;
    finish(outcome, &target, app)
}

/// Shows the outcome and how to undo it.
pub(crate) fn finish(
    outcome: memory_file::Outcome,
    target: &MemoryTarget,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let can_undo = outcome.changed && outcome.change != Change::Added;
    let usage = outcome.usage;
    if *target == MemoryTarget::Soul {
        app.out.show(&Saved {
            changed: outcome.changed,
            tokens: outcome.document.tokens(),
            file: outcome.path,
        })?;
    } else {
        app.out.show(&Changed::of(outcome))?;
    }
    if usage.limit.is_some_and(|limit| usage.chars > limit) {
        app.out.note(format_args!("the file is now over its limit: {usage}"));
    }
    if can_undo {
        let (noun, flags) = match target {
            MemoryTarget::Soul => ("soul", String::new()),
            MemoryTarget::Memory => ("memory", String::new()),
            MemoryTarget::User(None) => ("memory", " --file user".to_owned()),
            MemoryTarget::User(Some(id)) => ("memory", format!(" --user {id}")),
        };
        app.out.hint(format_args!(
            "undo it with `hermes {noun} versions{flags}` and `hermes {noun} restore NUMBER{flags}`"
        ));
    }
    Ok(Outcome::Done)
}

impl Changed {
    fn of(outcome: memory_file::Outcome) -> Changed {
        Changed {
            changed: outcome.changed,
            message: outcome.message,
            entry: outcome.entry.map(|entry| entry.text),
            entries: outcome.document.entries().len(),
            usage: outcome.usage.to_string(),
            tokens: outcome.document.tokens(),
            file: outcome.path,
        }
    }
}

impl Show for Changed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        match &self.entry {
            Some(entry) => {
                let done = self.message.trim_end_matches('.');
                page.line(format_args!("{done}: {}", one_line(entry, 72)))?;
            }
            None => page.line(&self.message)?,
        }
        page.line(format_args!(
            "{} now has {}, {} (about {} tokens)",
            self.file.display(),
            entries(self.entries),
            self.usage,
            self.tokens
        ))
    }
}

impl Show for Saved {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{} was saved (about {} tokens)", self.file.display(), self.tokens))
    }
}
