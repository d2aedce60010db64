//! Change a memory file in memory: only the lines meant, every other byte stays.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use jiff::civil::Date;

use super::parse::{Document, Entry, Style};
use super::render::{self, Item};
use super::select::{self, Selector};
use super::{accept, lines, sections};
use crate::error::{Error, Result};
use crate::text::preview;
use crate::text_file::Format;

/// What an edit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// An entry was added.
    Added,
    /// The same text was there already; nothing changed.
    AlreadyThere,
    /// An entry got another text.
    Replaced,
    /// An entry was taken out.
    Removed,
    /// Old entries were taken out.
    Pruned {
        /// How many.
        entries: usize,
    },
    /// Entries of another file were added.
    Merged {
        /// How many.
        entries: usize,
    },
    /// The whole text was replaced.
    Rewritten,
    /// Nothing had to be done.
    Nothing,
}

/// A changed document, not yet written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The document as it is now.
    pub document: Document,
    /// What was done.
    pub change: Change,
    /// The entry that was added, changed, taken out or already there, when it was one.
    pub entry: Option<Entry>,
}

/// A new entry with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEntry<'a> {
    /// What it says.
    pub text: &'a str,
    /// The heading to put it under.
    pub section: Option<&'a str>,
    /// The day for its date comment; none writes no comment.
    pub written: Option<Date>,
}

impl Change {
    /// One sentence for the user, in the words of Hermes Agent where it has them.
    pub fn message(&self) -> String {
        let entries = |count: usize| if count == 1 { "entry" } else { "entries" };
        match self {
            Change::Added => "Entry added.".into(),
            Change::AlreadyThere => "Entry already exists (no duplicate added).".into(),
            Change::Replaced => "Entry replaced.".into(),
            Change::Removed => "Entry removed.".into(),
            Change::Pruned { entries: count } => {
                format!("{count} old {} removed.", entries(*count))
            }
            Change::Merged { entries: count } => format!("{count} {} merged.", entries(*count)),
            Change::Rewritten => "File replaced.".into(),
            Change::Nothing => "Nothing to change.".into(),
        }
    }

    /// Whether an existing entry was changed or taken out.
    pub fn rewrites(&self) -> bool {
        matches!(self, Change::Replaced | Change::Removed | Change::Pruned { .. })
    }
}

/// Adds an entry at the end of the section or of the file, unless its text is there already.
pub fn add(document: &Document, text: &str, section: Option<&str>, today: Date) -> Result<Edited> {
    insert(document, &NewEntry { text, section, written: Some(today) })
}

/// Adds an entry with a date of its own, or with none.
pub fn insert(document: &Document, new: &NewEntry<'_>) -> Result<Edited> {
    let text = accept::entry_text(new.text, document.format())?;
    if let Some(same) = document.entries().iter().find(|entry| entry.text == text) {
        let entry = Some(same.clone());
        return Ok(Edited { document: document.clone(), change: Change::AlreadyThere, entry });
    }
    let (document, come) = with_added(document, &[item(new, text, document.format())?])?;
    let entry = come.first().and_then(|number| document.entries().get(number - 1)).cloned();
    Ok(Edited { document, change: Change::Added, entry })
}

/// Adds many entries in one go; those whose text is there already are left out.
pub fn insert_all(document: &Document, new: &[NewEntry<'_>]) -> Result<Edited> {
    let mut known: HashSet<String> =
        document.entries().iter().map(|entry| entry.text.clone()).collect();
    let mut items = Vec::new();
    for new in new {
        let text = accept::entry_text(new.text, document.format())?;
        if known.insert(text.clone()) {
            items.push(item(new, text, document.format())?);
        }
    }
    if items.is_empty() {
        return Ok(Edited { document: document.clone(), change: Change::Nothing, entry: None });
    }
    let (document, come) = with_added(document, &items)?;
    Ok(Edited { document, change: Change::Merged { entries: come.len() }, entry: None })
}

fn item(new: &NewEntry<'_>, text: String, format: Format) -> Result<Item> {
    let section = match format {
        Format::Sections => None,
        Format::Markdown => new.section.map(accept::heading_text).transpose()?,
    };
    Ok(Item { text, section, written: new.written })
}

/// The document with new entries, and their numbers; no two have the same text, and none is in
/// the document yet.
fn with_added(document: &Document, items: &[Item]) -> Result<(Document, Vec<usize>)> {
    let changed = match document.format() {
        Format::Sections => {
            sections::with_added(document, items.iter().map(|item| item.text.as_str()))
        }
        Format::Markdown => render::with_added(document, items),
    };
    let after = Document::parse_as(&changed, document.format());
    let mut expected: HashSet<&str> = items.iter().map(|item| item.text.as_str()).collect();
    let is_new = |entry: &&Entry| expected.remove(entry.text.as_str());
    let come: Vec<usize> = after.entries().iter().filter(is_new).map(|new| new.number).collect();
    if !expected.is_empty() {
        return Err(Error::WouldDisturb);
    }
    check_rest(document, &[], &after, &come)?;
    Ok((after, come))
}

/// Gives an entry another text; bullet and indentation stay, the date is renewed.
pub fn replace(
    document: &Document,
    selector: &Selector,
    text: &str,
    today: Date,
) -> Result<Edited> {
    let old = select::find(document, selector)?;
    let text = accept::entry_text(text, document.format())?;
    let candidates = match &old.style {
        Style::Section => vec![sections::with_replaced(document, old, &text)],
        Style::Bullet { prefix } => {
            vec![render::with_replaced(document, old, prefix, &text, today)]
        }
        // What cannot stay plain, such as two paragraphs, becomes a list item.
        Style::Plain => ["", "- "]
            .map(|prefix| render::with_replaced(document, old, prefix, &text, today))
            .into(),
    };
    for candidate in candidates {
        let after = Document::parse_as(&candidate, document.format());
        let is_right = |entry: &&Entry| entry.text == text;
        let replaced = after.entries().get(old.number - 1).filter(is_right).cloned();
        if replaced.is_some() && check_rest(document, &[old.number], &after, &[old.number]).is_ok()
        {
            return Ok(Edited { document: after, change: Change::Replaced, entry: replaced });
        }
    }
    Err(Error::WouldDisturb)
}

/// Takes an entry out, with its lines and its date comment; headings stay.
pub fn remove(document: &Document, selector: &Selector) -> Result<Edited> {
    let old = select::find(document, selector)?;
    let candidates = match document.format() {
        // Without the space behind it, the entry before might be read as a separator: then the separator stays.
        Format::Sections => {
            vec![sections::with_removed(document, old), splice(document.text(), &old.range, "")]
        }
        // An empty line in its place keeps two paragraphs apart that it stood between.
        Format::Markdown => ["", document.newline()]
            .map(|between| splice(document.text(), &old.range, between))
            .into(),
    };
    for candidate in candidates {
        let after = Document::parse_as(&candidate, document.format());
        if check_rest(document, &[old.number], &after, &[]).is_ok() {
            let entry = Some(old.clone());
            return Ok(Edited { document: after, change: Change::Removed, entry });
        }
    }
    Err(Error::WouldDisturb)
}

/// The entries dated before `cutoff`; those without a date are never among them.
pub fn prune_plan(document: &Document, cutoff: Date) -> Vec<Entry> {
    let is_old = |entry: &&Entry| entry.written.is_some_and(|written| written < cutoff);
    document.entries().iter().filter(is_old).cloned().collect()
}

/// Takes out the planned entries; fails when one of them is no longer as it was planned.
pub fn prune(document: &Document, plan: &[Entry]) -> Result<Edited> {
    for planned in plan {
        let found = document.entries().get(planned.number.wrapping_sub(1));
        if found.is_none_or(|found| !is_same(found, planned)) {
            return Err(Error::PlanOutdated { entry: preview(&planned.text) });
        }
    }
    let gone: BTreeSet<usize> = plan.iter().map(|planned| planned.number).collect();
    let change = match gone.len() {
        0 => Change::Nothing,
        entries => Change::Pruned { entries },
    };
    let gone: Vec<usize> = gone.into_iter().collect();
    Ok(Edited { document: without(document, &gone)?, change, entry: None })
}

/// The document without the entries of these numbers, which rise: in one cut, or else one by one.
fn without(document: &Document, gone: &[usize]) -> Result<Document> {
    if document.format() == Format::Markdown {
        // An empty line keeps a paragraph apart from what it would join.
        for between in ["", document.newline()] {
            let after = Document::parse_as(&cut(document, gone, between), Format::Markdown);
            if check_rest(document, gone, &after, &[]).is_ok() {
                return Ok(after);
            }
        }
    }
    gone.iter().rev().try_fold(document.clone(), |document, number| {
        remove(&document, &Selector::Number(*number)).map(|edited| edited.document)
    })
}

/// The text without some entries; `between` goes before plain lines that stood below one of them.
fn cut(document: &Document, gone: &[usize], between: &str) -> String {
    let text = document.text();
    let (mut rest, mut at) = (String::with_capacity(text.len()), 0);
    for entry in gone.iter().filter_map(|number| document.entries().get(number - 1)) {
        rest.push_str(&text[at..entry.range.start]);
        at = entry.range.end;
        let is_blank = |line: &str| line.trim().is_empty();
        let below = text[at..].lines().next().unwrap_or_default();
        let is_plain = !is_blank(below)
            && !rest.lines().next_back().is_some_and(is_blank)
            && lines::bullet(below).is_none()
            && lines::heading(below).is_none();
        rest.push_str(if is_plain { between } else { "" });
    }
    rest.push_str(&text[at..]);
    rest
}

pub(super) fn splice(text: &str, range: &Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// Every entry but those meant must be read as before: an unclosed comment or fence elsewhere in
/// the file could otherwise swallow it once the new text closes it.
///
/// `gone` and `come` are numbers of entries before and after, in rising order.
fn check_rest(before: &Document, gone: &[usize], after: &Document, come: &[usize]) -> Result<()> {
    let but = |entry: &&Entry, meant: &[usize]| meant.binary_search(&entry.number).is_err();
    let kept = before.entries().iter().filter(|entry| but(entry, gone));
    let mut found = after.entries().iter().filter(|entry| but(entry, come));
    for kept in kept {
        if found.next().is_none_or(|found| !is_same(kept, found)) {
            return Err(Error::WouldDisturb);
        }
    }
    if found.next().is_some() { Err(Error::WouldDisturb) } else { Ok(()) }
}

fn is_same(left: &Entry, right: &Entry) -> bool {
    (&left.text, &left.section, left.written) == (&right.text, &right.section, right.written)
}
