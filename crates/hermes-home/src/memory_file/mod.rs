//! MEMORY.md and USER.md: read, and change without losing a byte.

mod accept;
mod date_mark;
pub mod edit;
mod lines;
mod markdown;
pub mod parse;
mod render;
mod sections;
pub mod select;

#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod file_tests;
#[cfg(test)]
mod parse_tests;
#[cfg(test)]
mod property_tests;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::atomic;
use crate::error::{Error, Result};
use crate::init::Owner;
use crate::layout::{Home, MemoryTarget};
use crate::lock;
use crate::text_file::{check_size, read_text};
use crate::versions::{self, Replacement};

pub use crate::text::Usage;
pub use crate::text_file::{Format, LARGEST_FILE, WholeText};
pub use accept::LONGEST_ENTRY;
pub use edit::{Change, Edited};
pub use parse::{Document, Entry, Heading};
pub use select::Selector;

/// What holds for a memory file in this home.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Whose home it is.
    pub owner: Owner,
    /// The most characters it may hold.
    pub limit: Option<usize>,
}

/// When and why a file is changed.
#[derive(Debug, Clone)]
pub struct Context<'a> {
    /// What holds for the file.
    pub rules: Rules,
    /// The time of the change.
    pub now: Timestamp,
    /// A few words for the list of versions.
    pub reason: &'a str,
}

/// A memory file as it was read.
#[derive(Debug, Clone)]
pub struct MemoryText {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Whether there is such a file.
    pub exists: bool,
    /// Its text and entries.
    pub document: Document,
    /// The hash of its bytes, to be given back to `replace_whole`.
    pub hash: String,
    /// About how many tokens it costs in each session.
    pub tokens: usize,
    /// Its characters and the limit.
    pub usage: Usage,
}

/// What a change came to.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The file.
    pub path: PathBuf,
    /// Whether anything was written.
    pub changed: bool,
    /// What was done.
    pub change: Change,
    /// The same in one sentence.
    pub message: String,
    /// The entry it was about, when it was one.
    pub entry: Option<Entry>,
    /// The file as it is now.
    pub document: Document,
    /// Its characters and the limit.
    pub usage: Usage,
}

/// Reads a memory file; a missing one is empty.
pub fn read(home: &Home, target: &MemoryTarget, rules: Rules) -> Result<MemoryText> {
    let path = home.memory_file(target);
    let found = read_text(&path)?;
    let exists = found.is_some();
    let document = document(home, &path, found.as_deref(), rules.owner)?;
    let usage = Usage { chars: document.chars(), limit: rules.limit };
    let tokens = document.tokens();
    let hash = versions::hash(document.text().as_bytes());
    Ok(MemoryText { path, exists, hash, tokens, usage, document })
}

/// Changes a memory file under its lock; the content before is kept as a version.
///
/// Nothing is written when the edit fails, changes nothing or goes over the limit; for a file that
/// is missing, the edit is tried first without the lock, so that not even its folder is made.
pub fn change(
    home: &Home,
    target: &MemoryTarget,
    context: &Context<'_>,
    edit: impl Fn(&Document) -> Result<Edited>,
) -> Result<Outcome> {
    home.must_exist()?;
    let path = home.memory_file(target);
    if read_text(&path)?.is_none() {
        let edited = edit(&Document::parse("", context.rules.owner))?;
        if edited.document.text().is_empty() {
            return Ok(outcome(path, false, edited, context.rules.limit));
        }
    }
    let _lock = lock::hold(&path)?;
    let old = read_text(&path)?;
    let before = document(home, &path, old.as_deref(), context.rules.owner)?;
    let edited = edit(&before)?;
    let changed = edited.document.text() != before.text();
    if changed {
        guard_drift(&path, &before, &edited, context)?;
        check_limit(&before, &edited.document, context.rules.limit)?;
        write(home, &path, old.as_deref(), &edited.document, context)?;
    }
    Ok(outcome(path, changed, edited, context.rules.limit))
}

/// Replaces the whole text of a file that still is what the editor began with.
pub fn replace_whole(
    home: &Home,
    target: &MemoryTarget,
    context: &Context<'_>,
    whole: &WholeText<'_>,
) -> Result<Outcome> {
    home.must_exist()?;
    let path = home.memory_file(target);
    let _lock = lock::hold(&path)?;
    let old = read_text(&path)?;
    let before = document(home, &path, old.as_deref(), context.rules.owner)?;
    if versions::hash(before.text().as_bytes()) != whole.expected_hash {
        return Err(Error::ChangedMeanwhile { path });
    }
    if whole.text.contains('\0') {
        return Err(Error::NotText { path, why: "the new text contains a NUL character" });
    }
    let mut document = Document::parse(whole.text, context.rules.owner);
    if document.shows_no_format() && before.format() == Format::Sections {
        document = Document::parse_as(whole.text, Format::Sections);
    }
    let changed = before.text() != whole.text;
    if changed {
        write(home, &path, old.as_deref(), &document, context)?;
    }
    let change = if changed { Change::Rewritten } else { Change::Nothing };
    Ok(outcome(path, changed, Edited { document, change, entry: None }, context.rules.limit))
}

/// Reads a text; one that shows no format, such as the last entry of a file with `§`, is read as
/// it was written.
fn document(home: &Home, path: &Path, text: Option<&str>, owner: Owner) -> Result<Document> {
    let document = Document::parse(text.unwrap_or_default(), owner);
    let Some(text) = text.filter(|_| owner == Owner::Ours && document.shows_no_format()) else {
        return Ok(document);
    };
    match versions::format_written(home, path, text.as_bytes())? {
        Some(Format::Sections) => Ok(Document::parse_as(text, Format::Sections)),
        _ => Ok(document),
    }
}

fn write(
    home: &Home,
    path: &Path,
    old: Option<&str>,
    document: &Document,
    context: &Context<'_>,
) -> Result<()> {
    check_size(path, document.text().len() as u64)?;
    let replacement = Replacement {
        old: old.map(str::as_bytes),
        new: document.text().as_bytes(),
        reason: context.reason,
        now: context.now,
        format: Some(document.format()),
    };
    versions::replace(home, path, &replacement)
}

fn outcome(path: PathBuf, changed: bool, edited: Edited, limit: Option<usize>) -> Outcome {
    let Edited { document, change, entry } = edited;
    let usage = Usage { chars: document.chars(), limit };
    Outcome { path, changed, change, message: change.message(), entry, document, usage }
}

/// A text that is over the limit may still shrink.
fn check_limit(before: &Document, after: &Document, limit: Option<usize>) -> Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let (old, new) = (before.chars(), after.chars());
    if new <= limit || new <= old {
        return Ok(());
    }
    Err(Error::OverLimit {
        usage: Usage { chars: old, limit: Some(limit) },
        needed: new,
        entries: before.entries().len(),
    })
}

/// Refuses to rewrite a file with `§` that somebody wrote other text into, and keeps a copy of it.
fn guard_drift(
    path: &Path,
    before: &Document,
    edited: &Edited,
    context: &Context<'_>,
) -> Result<()> {
    let is_guarded = before.format() == Format::Sections && edited.change.rewrites();
    if !is_guarded || !sections::is_drifted(before, context.rules.limit) {
        return Ok(());
    }
    let copy = keep_copy(path, before.text().as_bytes(), context.now)?;
    Err(Error::Drifted { path: path.to_owned(), copy })
}

fn keep_copy(path: &Path, bytes: &[u8], now: Timestamp) -> Result<PathBuf> {
    let mut second = now.as_second();
    loop {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".bak.{second}"));
        let copy = PathBuf::from(name);
        let is_kept =
            atomic::create(&copy, bytes)? || std::fs::read(&copy).is_ok_and(|b| b == bytes);
        if is_kept {
            return Ok(copy);
        }
        second += 1;
    }
}
