//! A memory file as a list of entries.

use std::collections::HashMap;
use std::ops::Range;

use jiff::civil::Date;

use super::{markdown, sections};
use crate::init::Owner;
use crate::text_file::Format;
use crate::tokens;

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    /// Its place in the file, from 1.
    pub number: usize,
    /// The headings it stands under, outermost first.
    pub section: Vec<String>,
    /// What it says, without bullet and date comment.
    pub text: String,
    /// The day of its date comment.
    pub written: Option<Date>,
    /// Its bytes: in Markdown whole lines with their line end, otherwise the trimmed text.
    pub range: Range<usize>,
    #[serde(skip)]
    pub(super) style: Style,
}

/// How an entry is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Style {
    /// A piece between two `§`.
    Section,
    /// Lines as they are, or a fenced block.
    Plain,
    /// A list item; everything before its text, such as `  1. `.
    Bullet { prefix: String },
}

/// A heading of a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Heading {
    /// 1 for `#`, up to 6.
    pub level: usize,
    /// What it says.
    pub text: String,
    /// The bytes of its lines.
    pub range: Range<usize>,
}

/// A memory file: its text as found, and what was read in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    text: String,
    format: Format,
    entries: Vec<Entry>,
    headings: Vec<Heading>,
}

impl Document {
    /// Reads a text; `owner` decides the format of one that shows none.
    pub fn parse(text: &str, owner: Owner) -> Document {
        if has_section_line(text) {
            return Document::parse_as(text, Format::Sections);
        }
        let document = Document::parse_as(text, Format::Markdown);
        match owner {
            Owner::HermesAgent if !document.looks_like_markdown() => {
                Document::parse_as(text, Format::Sections)
            }
            _ => document,
        }
    }

    /// Reads a text whose format is known.
    pub fn parse_as(text: &str, format: Format) -> Document {
        let (entries, headings) = match format {
            Format::Markdown => markdown::parse(text),
            Format::Sections => (sections::parse(text), Vec::new()),
        };
        Document { text: text.to_owned(), format, entries, headings }
    }

    /// Whether neither `§` nor anything of Markdown tells how its entries are set apart.
    pub(super) fn shows_no_format(&self) -> bool {
        !has_section_line(&self.text) && !self.looks_like_markdown()
    }

    /// The text as it was found.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How its entries are set apart.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The entries, in their order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The headings, in their order; none in a file with `§`.
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// The first heading with this text, in whatever case.
    pub fn heading(&self, text: &str) -> Option<&Heading> {
        let wanted = text.trim().to_lowercase();
        self.headings.iter().find(|heading| heading.text.to_lowercase() == wanted)
    }

    /// The first heading of each text; the texts are in small letters.
    pub(crate) fn headings_by_name(&self) -> HashMap<String, &Heading> {
        let named = self.headings.iter().rev();
        named.map(|heading| (heading.text.to_lowercase(), heading)).collect()
    }

    /// How many characters count towards a limit: of the joined entries, or of the Markdown file.
    pub fn chars(&self) -> usize {
        match self.format {
            Format::Markdown => self.text.chars().count(),
            Format::Sections => sections::joined_chars(&self.entries),
        }
    }

    /// About how many tokens it costs in each session: headings and entries, not other comments.
    pub fn tokens(&self) -> usize {
        let headings = self.headings.iter().map(|heading| &heading.range);
        let entries = self.entries.iter().map(|entry| &entry.range);
        headings.chain(entries).map(|range| tokens::estimate(&self.text[range.clone()])).sum()
    }

    /// The line end that new lines get: that of the first line.
    pub(super) fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// A single entry of Hermes Agent may hold a list below a line of text, so that in its homes
    /// bullets count only at the beginning.
    fn looks_like_markdown(&self) -> bool {
        let begins_with_bullet =
            self.entries.first().is_some_and(|entry| matches!(entry.style, Style::Bullet { .. }));
        let is_dated = self.entries.iter().any(|entry| entry.written.is_some());
        !self.headings.is_empty() || begins_with_bullet || is_dated
    }
}

/// What editors on Windows may put before the first character.
pub(super) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Where the text begins, after a byte order mark.
pub(super) fn text_start(text: &str) -> usize {
    if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 }
}

fn has_section_line(text: &str) -> bool {
    text[text_start(text)..].lines().any(|line| line == sections::MARK)
}
