//! Which texts may become an entry.

use super::date_mark;
use super::parse::BYTE_ORDER_MARK;
use super::sections::MARK;
use crate::error::{Error, Result};
use crate::text_file::Format;

/// The longest entry, in characters, whatever the limit of the file.
pub const LONGEST_ENTRY: usize = 65_536;
const LONGEST_HEADING: usize = 120;

/// The text as it will be read back from a file of that format, or why it cannot be an entry.
pub(super) fn entry_text(text: &str, format: Format) -> Result<String> {
    let text = text.replace("\r\n", "\n");
    let is_edge = |c: char| c.is_whitespace() || c == BYTE_ORDER_MARK;
    let text = match format {
        Format::Sections => text.trim_matches(is_edge).to_owned(),
        Format::Markdown => plain_lines(&text).trim_matches(is_edge).to_owned(),
    };
    if let Some(why) = fault(&text) {
        return Err(Error::EntryRefused { why });
    }
    let chars = text.chars().count();
    if chars > LONGEST_ENTRY {
        return Err(Error::EntryTooLong { chars, limit: LONGEST_ENTRY });
    }
    Ok(text)
}

/// The text of a heading on one line, or why it cannot be one.
pub(super) fn heading_text(text: &str) -> Result<String> {
    let text = text.trim().trim_start_matches('#').trim();
    let why = if text.is_empty() {
        "its section has no name"
    } else if text.chars().any(char::is_control) {
        "the name of its section must be one line of plain text"
    } else if text.chars().count() > LONGEST_HEADING {
        "the name of its section is longer than 120 characters"
    } else if text.contains("<!--") || text.ends_with('#') {
        "the name of its section must not contain a comment or end with #"
    } else {
        return Ok(text.to_owned());
    };
    Err(Error::EntryRefused { why })
}

/// Date marks are ours to write, and lines of blanks would not be found again as such.
fn plain_lines(text: &str) -> String {
    let (text, _) = date_mark::split_lines(text);
    let blank_to_empty = |line| if str::trim(line).is_empty() { "" } else { line };
    let lines: Vec<&str> = text.split('\n').map(blank_to_empty).collect();
    lines.join("\n")
}

fn fault(text: &str) -> Option<&'static str> {
    let is_unclosed = |from: usize| !text[from..].contains("-->");
    if text.is_empty() {
        Some("it is empty")
    } else if text.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n')) {
        Some("it contains a control character")
    } else if text.lines().any(|line| line.trim() == MARK) {
        Some("a line with only § would split it in two")
    } else if text.rfind("<!--").is_some_and(is_unclosed) {
        Some("it opens a comment (<!--) and does not close it")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_would_break_the_file_are_refused_with_the_reason() {
        let long = "x".repeat(LONGEST_ENTRY + 1);
        for bad in ["", " \n\t", "a\0b", "bell \u{7}", "a\rb", "a\n§\nb", "§", "a <!-- b", &long]
        {
            assert!(entry_text(bad, Format::Markdown).is_err(), "{bad:?}");
            assert!(entry_text(bad, Format::Sections).is_err(), "{bad:?}");
        }
        for good in ["a", "a\tb\nc", "inline § sign", "a <!-- b --> c", "a --> b", "日本語"] {
            assert_eq!(entry_text(good, Format::Markdown).unwrap(), good);
            assert_eq!(entry_text(good, Format::Sections).unwrap(), good);
        }
    }

    #[test]
    fn a_date_mark_that_came_with_the_text_is_dropped_in_markdown() {
        let pasted = "tea\r\nno sugar <!-- written 2020-01-01 -->";
        assert_eq!(entry_text(pasted, Format::Markdown).unwrap(), "tea\nno sugar");
        assert!(entry_text("<!-- written 2020-01-01 -->", Format::Markdown).is_err());
    }

    #[test]
    fn a_section_name_is_one_plain_line() {
        assert_eq!(heading_text(" ## Projects ").unwrap(), "Projects");
        for bad in ["", "##", "a\nb", "a <!-- b", "C#", &"x".repeat(121)] {
            assert!(heading_text(bad).is_err(), "{bad:?}");
        }
    }
}
