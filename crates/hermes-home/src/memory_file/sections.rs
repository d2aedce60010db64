//! Files with a line `§` between the entries, byte for byte as Hermes Agent writes them.

use std::ops::Range;

use super::lines;
use super::parse::{Document, Entry, Style, text_start};

/// The line between two entries.
pub(super) const MARK: &str = "§";

/// The trimmed entries of a text; empty ones are left out.
pub(super) fn parse(text: &str) -> Vec<Entry> {
    let ranges = pieces(text).into_iter().map(|piece| trimmed(text, piece));
    let kept = ranges.filter(|range| !range.is_empty());
    kept.enumerate().map(|(index, range)| entry(index + 1, text, range)).collect()
}

/// The text with new entries at its end. Space at its end gives way to the separator.
pub(super) fn with_added<'a>(document: &Document, added: impl Iterator<Item = &'a str>) -> String {
    let newline = document.newline();
    let mut text = document.text().trim_end().to_owned();
    let has_open_end = lines::split(&text).last().is_some_and(|line| line.content == MARK);
    let is_empty = text.len() <= text_start(&text);
    for (index, entry) in added.enumerate() {
        if index == 0 && has_open_end {
            text.push_str(newline);
        } else if index > 0 || !is_empty {
            text.extend([newline, MARK, newline]);
        }
        text.push_str(&entry.replace('\n', newline));
    }
    text
}

/// The text with another entry in place of one.
pub(super) fn with_replaced(document: &Document, entry: &Entry, new: &str) -> String {
    let (text, new) = (document.text(), new.replace('\n', document.newline()));
    format!("{}{new}{}", &text[..entry.range.start], &text[entry.range.end..])
}

/// The text without an entry and without one of the separators beside it.
pub(super) fn with_removed(document: &Document, entry: &Entry) -> String {
    let (text, entries) = (document.text(), document.entries());
    let index = entry.number - 1;
    let gone = match (index.checked_sub(1).and_then(|i| entries.get(i)), entries.get(index + 1)) {
        (Some(before), _) => before.range.end..entry.range.end,
        (None, Some(after)) => entry.range.start..after.range.start,
        (None, None) => text_start(text)..text.len(),
    };
    format!("{}{}", &text[..gone.start], &text[gone.end..])
}

/// Whether somebody else wrote here: joining the entries again would not give this text back, or
/// one entry alone is over the limit.
pub(super) fn is_drifted(document: &Document, limit: Option<usize>) -> bool {
    let text = document.text();
    let texts: Vec<&str> = document.entries().iter().map(|entry| entry.text.as_str()).collect();
    let rejoined = texts.join("\n§\n");
    let is_other = text[text_start(text)..].trim().replace("\r\n", "\n") != rejoined;
    let is_long = |entry: &Entry| limit.is_some_and(|limit| entry.text.chars().count() > limit);
    is_other || document.entries().iter().any(is_long)
}

/// The number of characters of all entries joined.
pub(super) fn joined_chars(entries: &[Entry]) -> usize {
    let separator = MARK.chars().count() + 2;
    let texts: usize = entries.iter().map(|entry| entry.text.chars().count()).sum();
    texts + entries.len().saturating_sub(1) * separator
}

/// The pieces between the lines that are only `§`.
fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut from = text_start(text);
    for line in lines::split(text).iter().filter(|line| line.content == MARK) {
        pieces.push(from..line.start);
        from = line.next;
    }
    pieces.push(from..text.len());
    pieces
}

fn trimmed(text: &str, piece: Range<usize>) -> Range<usize> {
    let raw = &text[piece.clone()];
    let start = piece.start + (raw.len() - raw.trim_start().len());
    start..start + raw.trim().len()
}

fn entry(number: usize, text: &str, range: Range<usize>) -> Entry {
    let content = text[range.clone()].replace("\r\n", "\n");
    let style = Style::Section;
    Entry { number, section: Vec::new(), text: content, written: None, range, style }
}
