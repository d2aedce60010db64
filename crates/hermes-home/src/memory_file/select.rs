//! Which entry is meant: by its number or by a piece of its text.

use super::parse::{Document, Entry};
use crate::error::{Error, Result};
use crate::text::preview;

/// How an entry is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The number that a listing shows, from 1.
    Number(usize),
    /// A piece of text that only one entry holds, or the whole text of one.
    Text(String),
}

impl Selector {
    /// What a person typed: up to four digits, or `#` and digits, are a number.
    pub fn typed(text: &str) -> Selector {
        const MOST_DIGITS: usize = 4;
        let digits = text.trim().strip_prefix('#').unwrap_or(text.trim());
        match digits.parse() {
            Ok(number) if digits.len() <= MOST_DIGITS => Selector::Number(number),
            _ => Selector::Text(text.to_owned()),
        }
    }
}

/// The one entry that is meant.
pub fn find<'a>(document: &'a Document, selector: &Selector) -> Result<&'a Entry> {
    match selector {
        Selector::Text(text) => find_text(document, text),
        Selector::Number(number) => number
            .checked_sub(1)
            .and_then(|index| document.entries().get(index))
            .ok_or_else(|| no_entry(document, format!("number {number}"))),
    }
}

fn find_text<'a>(document: &'a Document, text: &str) -> Result<&'a Entry> {
    let wanted = text.trim().replace("\r\n", "\n");
    if wanted.is_empty() {
        return Err(Error::EmptySelector);
    }
    if let Some(whole) = document.entries().iter().find(|entry| entry.text == wanted) {
        return Ok(whole);
    }
    let matches: Vec<&Entry> =
        document.entries().iter().filter(|entry| entry.text.contains(&wanted)).collect();
    match matches.first() {
        None => Err(no_entry(document, format!("{:?}", preview(&wanted)))),
        Some(first) if matches.iter().all(|entry| entry.text == first.text) => Ok(first),
        Some(_) => Err(ambiguous(&wanted, &matches)),
    }
}

fn no_entry(document: &Document, wanted: String) -> Error {
    Error::NoEntry { wanted, entries: document.entries().len() }
}

fn ambiguous(wanted: &str, matches: &[&Entry]) -> Error {
    const LISTED: usize = 5;
    let listed = matches.iter().take(LISTED);
    Error::AmbiguousEntry {
        wanted: preview(wanted),
        count: matches.len(),
        matches: listed
            .map(|entry| format!("{}: {}", entry.number, preview(&entry.text)))
            .collect(),
    }
}
