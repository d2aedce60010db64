//! Write entries as Markdown.

use std::collections::{BTreeMap, HashMap};

use jiff::civil::Date;

use super::date_mark;
use super::edit::splice;
use super::lines;
use super::parse::{Document, Entry, text_start};

/// A new list item.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// What it says.
    pub(super) text: String,
    /// The heading it goes under.
    pub(super) section: Option<String>,
    /// The day for its date comment.
    pub(super) written: Option<Date>,
}

/// The file with new list items, each at the end of its section or of the file.
pub(super) fn with_added(document: &Document, items: &[Item]) -> String {
    let (text, newline) = (document.text(), document.newline());
    let Additions { inside, new_sections } = sorted(document, items);
    let added: usize = items.iter().map(|item| item.text.len() + 64).sum();
    let mut file = String::with_capacity(text.len() + added);
    let mut from = 0;
    for (at, lines) in inside {
        file.push_str(&text[from..at]);
        from = at;
        end_line(&mut file, newline);
        file.push_str(&lines);
    }
    file.push_str(&text[from..]);
    for (heading, lines) in new_sections {
        end_line(&mut file, newline);
        let is_empty = file.len() == text_start(&file);
        let ends_blank = file.lines().next_back().is_some_and(|line| line.trim().is_empty());
        file.push_str(if is_empty || ends_blank { "" } else { newline });
        file.push_str(&format!("## {heading}{newline}{lines}"));
    }
    file
}

/// The file with another text in an entry that is written with `prefix`.
pub(super) fn with_replaced(
    document: &Document,
    old: &Entry,
    prefix: &str,
    text: &str,
    today: Date,
) -> String {
    let newline = document.newline();
    let had_line_end = document.text()[old.range.clone()].ends_with('\n');
    let item = item(prefix, text, Some(today)).replace('\n', newline);
    let line_end = if had_line_end { newline } else { "" };
    splice(document.text(), &old.range, &format!("{item}{line_end}"))
}

/// New lines, by where they go.
struct Additions<'a> {
    /// Into the text as it is: where, in rising order.
    inside: BTreeMap<usize, String>,
    /// Below new headings at the end.
    new_sections: Vec<(&'a str, String)>,
}

fn sorted<'a>(document: &Document, items: &'a [Item]) -> Additions<'a> {
    let newline = document.newline();
    let known = document.headings_by_name();
    let mut new_names: HashMap<String, usize> = HashMap::new();
    let mut additions = Additions { inside: BTreeMap::new(), new_sections: Vec::new() };
    for new in items {
        let name = new.section.as_deref().unwrap_or_default();
        let lines = match (&new.section, known.get(&name.to_lowercase())) {
            (None, _) => additions.inside.entry(document.text().len()).or_default(),
            (_, Some(heading)) => {
                additions.inside.entry(section_end(document, heading.range.end)).or_default()
            }
            (_, None) => {
                let next = additions.new_sections.len();
                let index = *new_names.entry(name.to_lowercase()).or_insert(next);
                if index == next {
                    additions.new_sections.push((name, String::new()));
                }
                &mut additions.new_sections[index].1
            }
        };
        lines.push_str(&item("- ", &new.text, new.written).replace('\n', newline));
        lines.push_str(newline);
    }
    additions
}

/// Ends the last line, unless that is done or there is none.
fn end_line(file: &mut String, newline: &str) {
    let is_line_start = file.len() == text_start(file) || file.ends_with('\n');
    file.push_str(if is_line_start { "" } else { newline });
}

/// The end of the last line that says something between a heading and the next one.
fn section_end(document: &Document, begin: usize) -> usize {
    let text = document.text();
    let headings = document.headings();
    let next = headings.partition_point(|heading| heading.range.start < begin);
    let end = headings.get(next).map_or(text.len(), |heading| heading.range.start);
    let said = begin + text[begin..end].trim_end().len();
    if said == begin {
        return begin;
    }
    text[said..end].find('\n').map_or(end, |offset| said + offset + 1)
}

/// The lines of an item, without the last line end.
fn item(prefix: &str, text: &str, written: Option<Date>) -> String {
    let indent = continuation(prefix);
    let mut item = prefix.to_owned();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            item.push('\n');
            item.push_str(if line.is_empty() { "" } else { &indent });
        }
        item.push_str(line);
    }
    let Some(written) = written else { return item };
    let mark = date_mark::mark(written);
    // After a fence the comment would be part of it.
    let is_fence =
        |line: &str| ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
    let has_fence = text.lines().any(is_fence);
    if has_fence { format!("{item}\n{indent}{mark}") } else { format!("{item} {mark}") }
}

/// Blanks as wide as the prefix; tabs at its beginning stay.
fn continuation(prefix: &str) -> String {
    let Some(bullet) = lines::bullet(prefix) else { return String::new() };
    let own = &prefix[..prefix.len() - prefix.trim_start_matches([' ', '\t']).len()];
    format!("{own}{}", " ".repeat(bullet.column - bullet.indent))
}
