//! Change one key of a YAML text; every other byte stays.

use std::ops::Range;

use serde_json::Value;

use crate::keyed_text::is_spelling_of;
use crate::keyed_text::yaml_tree::{self, Mapping, MappingStyle, Pair, Place};

/// Why a text is left as it is.
pub(crate) type Refusal = &'static str;

const DEFAULT_STEP: usize = 2;
const NOT_PLAIN: Refusal = "its value is a list, a section, or has an anchor or a tag";
const COMMENT_INSIDE: Refusal = "its list contains a comment";
const NOT_A_SECTION: Refusal = "a part of its name already exists and is not a section";
const ODD_LINE: Refusal = "its line has an unusual format";

/// Sets the key at `path`; sections that are missing are made.
pub(crate) fn put(text: &str, path: &[String], value: &Value) -> Result<String, Refusal> {
    let root =
        yaml_tree::read(text).unwrap_or(Mapping { style: MappingStyle::Block, pairs: vec![] });
    let page = Page { text, step: step_of(&root), newline: newline_of(text) };
    let (mut mapping, mut holder) = (&root, None);
    for (depth, part) in path.iter().enumerate() {
        let Some(pair) = find(mapping, part) else {
            return page.insert(mapping, holder, &path[depth..], value);
        };
        let rest = &path[depth + 1..];
        match &pair.value {
            _ if rest.is_empty() => return page.replace(mapping, pair, value),
            Place::Mapping(inner) => (mapping, holder) = (inner, Some(pair)),
            _ => return page.fill(mapping, pair, rest, value),
        }
    }
    Err(NOT_A_SECTION)
}

/// Removes the key at `path`, with sections that hold nothing else; none when it is not there.
pub(crate) fn remove(text: &str, path: &[String]) -> Result<Option<String>, Refusal> {
    let Some(root) = yaml_tree::read(text) else { return Ok(None) };
    let page = Page { text, step: step_of(&root), newline: newline_of(text) };
    let mut way: Vec<(&Mapping, &Pair)> = Vec::new();
    let mut mapping = &root;
    for (depth, part) in path.iter().enumerate() {
        let Some(pair) = find(mapping, part) else { return Ok(None) };
        way.push((mapping, pair));
        match &pair.value {
            Place::Mapping(inner) if depth + 1 < path.len() => mapping = inner,
            _ if depth + 1 < path.len() => return Ok(None),
            _ => {}
        }
    }
    page.take_out(&way).map(Some)
}

fn find<'a>(mapping: &'a Mapping, part: &str) -> Option<&'a Pair> {
    mapping.pairs.iter().find(|pair| is_spelling_of(&pair.name, part))
}

/// How far the first section inside another is indented.
fn step_of(root: &Mapping) -> usize {
    let first_step = |pair: &Pair| match &pair.value {
        Place::Mapping(inner) if inner.style == MappingStyle::Block => {
            inner.pairs.first().map(|child| child.column.saturating_sub(pair.column))
        }
        _ => None,
    };
    root.pairs.iter().find_map(first_step).filter(|step| *step > 0).unwrap_or(DEFAULT_STEP)
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

struct Page<'a> {
    text: &'a str,
    step: usize,
    newline: &'static str,
}

impl Page<'_> {
    /// Puts a new key into a mapping: right after its head, or at the end of the file.
    fn insert(
        &self,
        mapping: &Mapping,
        holder: Option<&Pair>,
        rest: &[String],
        value: &Value,
    ) -> Result<String, Refusal> {
        if let MappingStyle::Flow { open } = mapping.style {
            let inside = self.text[open + 1..].trim_start();
            let comma = if inside.starts_with('}') { "" } else { ", " };
            return Ok(self.with(open + 1..open + 1, &format!("{}{comma}", flow_pair(rest, value))));
        }
        let column = mapping.pairs.first().map_or(0, |pair| pair.column);
        let lines = self.block_lines(rest, value, column);
        let Some(holder) = holder else { return Ok(self.append(&lines)) };
        let head_end = self.line_end(holder.key.end);
        if mapping.pairs.first().is_none_or(|first| first.key.start < head_end) {
            return Err(ODD_LINE);
        }
        Ok(self.with(head_end..head_end, &lines))
    }

    /// Gives a value to a section that has none yet: `memory:`, or `memory: null`.
    fn fill(
        &self,
        mapping: &Mapping,
        pair: &Pair,
        rest: &[String],
        value: &Value,
    ) -> Result<String, Refusal> {
        let Place::Scalar(range) = &pair.value else { return Err(NOT_A_SECTION) };
        let written = &self.text[range.clone()];
        if matches!(written, "~" | "null" | "Null" | "NULL") {
            return Ok(self.with(range.clone(), &format!("{{{}}}", flow_pair(rest, value))));
        }
        if !written.is_empty() {
            return Err(NOT_A_SECTION);
        }
        let colon = self.colon_after(pair)?;
        if mapping.style != MappingStyle::Block {
            return Ok(self.with(colon..colon, &format!(" {{{}}}", flow_pair(rest, value))));
        }
        let head_end = self.line_end(colon);
        let lines = self.block_lines(rest, value, pair.column + self.step);
        if self.text[..head_end].ends_with('\n') {
            Ok(self.with(head_end..head_end, &lines))
        } else {
            Ok(self.with(head_end..head_end, &format!("{}{lines}", self.newline)))
        }
    }

    fn replace(&self, mapping: &Mapping, pair: &Pair, value: &Value) -> Result<String, Refusal> {
        let fresh = scalar(value, mapping.style);
        match &pair.value {
            Place::Scalar(range) if range.is_empty() => {
                let colon = self.colon_after(pair)?;
                Ok(self.with(colon..colon, &format!(" {fresh}")))
            }
            Place::Scalar(range) => Ok(self.with(range.clone(), &fresh)),
            Place::Other(range) if self.is_alias(range) => Ok(self.with(range.clone(), &fresh)),
            Place::List { range, items } if value.is_array() => {
                let whole = self.list_range(pair, range, items)?;
                Ok(self.with(whole, &format!(" {fresh}")))
            }
            Place::BlockScalar => {
                let (header, content) = self.block_scalar(pair)?;
                let without = Page { text: &self.with(content, ""), ..*self };
                Ok(without.with(header, &fresh))
            }
            Place::Mapping(_) | Place::Other(_) | Place::List { .. } => Err(NOT_PLAIN),
        }
    }

    fn take_out(&self, way: &[(&Mapping, &Pair)]) -> Result<String, Refusal> {
        let Some(((mapping, pair), above)) = way.split_last() else { return Err(NOT_A_SECTION) };
        let end = self.value_end(pair)?;
        if let MappingStyle::Flow { open } = mapping.style {
            let shorter = self.take_out_of_flow(mapping, open, pair, end)?;
            let is_inside =
                matches!(above.last(), Some((outer, _)) if outer.style != MappingStyle::Block);
            if mapping.pairs.len() > 1 || !is_inside {
                return Ok(shorter);
            }
            // A section without anything inside another one-line section goes with its last key.
            let names: Vec<String> = above.iter().map(|(_, holder)| holder.name.clone()).collect();
            let cut = remove(&shorter, &names).ok().flatten();
            return Ok(cut.unwrap_or(shorter));
        }
        let start = self.line_start(pair)?;
        let whole = start..self.rest_of_line(end)?;
        let Some((_, holder)) = above.last().filter(|_| mapping.pairs.len() == 1) else {
            return Ok(self.with(whole, ""));
        };
        // Nothing else is in the section: it goes too, unless that would take a comment along.
        let head_end = self.line_end(holder.key.end);
        let colon = self.colon_after(holder)?;
        let is_bare = self.text[head_end..start].trim().is_empty()
            && self.text[colon..head_end].trim().is_empty();
        if is_bare {
            let shorter = self.with(whole, "");
            let page = Page { text: &shorter, ..*self };
            let hollow = Pair { value: Place::Scalar(colon..colon), ..(*holder).clone() };
            let mut way = above.to_vec();
            if let Some(last) = way.last_mut() {
                last.1 = &hollow;
            }
            return page.take_out(&way);
        }
        let without = self.with(whole, "");
        Ok(Page { text: &without, ..*self }.with(colon..colon, " {}"))
    }

    fn take_out_of_flow(
        &self,
        mapping: &Mapping,
        open: usize,
        pair: &Pair,
        end: usize,
    ) -> Result<String, Refusal> {
        let next = mapping.pairs.iter().map(|other| other.key.start).find(|start| *start >= end);
        let before = self.text[..pair.key.start].trim_end();
        let range = match next {
            Some(next) if !self.text[end..next].contains('#') => pair.key.start..next,
            None if before.ends_with(',') => before.len() - 1..end,
            None if before.len() == open + 1 => open + 1..end,
            // A comment stands beside it.
            _ => return Err(ODD_LINE),
        };
        Ok(self.with(range, ""))
    }

    /// The first byte after the value; only for values that are plain.
    fn value_end(&self, pair: &Pair) -> Result<usize, Refusal> {
        match &pair.value {
            Place::Scalar(range) if range.is_empty() => self.colon_after(pair),
            Place::Scalar(range) => Ok(range.end),
            Place::Other(range) if self.is_alias(range) => Ok(range.end),
            Place::BlockScalar => self.block_scalar(pair).map(|(_, content)| content.end),
            Place::List { range, items } => {
                self.list_range(pair, range, items).map(|whole| whole.end)
            }
            Place::Mapping(Mapping { style: MappingStyle::Flow { open }, pairs })
                if pairs.is_empty() && self.text[open + 1..].trim_start().starts_with('}') =>
            {
                let rest = self.text[open + 1..].trim_start();
                Ok(self.text.len() - rest.len() + 1)
            }
            Place::Mapping(_) | Place::Other(_) => Err(NOT_PLAIN),
        }
    }

    /// A list with what stands between it and the colon of its key; refused where a comment is among that.
    fn list_range(
        &self,
        pair: &Pair,
        range: &Range<usize>,
        items: &[Range<usize>],
    ) -> Result<Range<usize>, Refusal> {
        let colon = self.colon_after(pair)?;
        let (mut from, mut between) = (colon, String::new());
        for item in items {
            between.push_str(&self.text[from..item.start]);
            from = item.end;
        }
        between.push_str(&self.text[from..range.end]);
        if between.contains('#') { Err(COMMENT_INSIDE) } else { Ok(colon..range.end) }
    }

    /// The header (`|`, `>-` …) and the lines of the text below it.
    fn block_scalar(&self, pair: &Pair) -> Result<(Range<usize>, Range<usize>), Refusal> {
        let colon = self.colon_after(pair)?;
        let blanks = self.text[colon..].len() - self.text[colon..].trim_start_matches(' ').len();
        let start = colon + blanks;
        if !self.text[start..].starts_with(['|', '>']) {
            return Err(ODD_LINE);
        }
        let length =
            self.text[start..].find(char::is_whitespace).unwrap_or(self.text.len() - start);
        let begin = self.line_end(start);
        let (mut offset, mut end) = (begin, begin);
        for line in self.text[begin..].split_inclusive('\n') {
            let indent = line.len() - line.trim_start_matches(' ').len();
            let is_blank = line.trim().is_empty();
            if !is_blank && indent <= pair.column {
                break;
            }
            offset += line.len();
            end = if is_blank { end } else { offset };
        }
        Ok((start..start + length, begin..end))
    }

    fn block_lines(&self, rest: &[String], value: &Value, column: usize) -> String {
        let mut lines = String::new();
        for (depth, part) in rest.iter().enumerate() {
            lines.push_str(&" ".repeat(column + depth * self.step));
            lines.push_str(&quoted_unless_plain(part));
            lines.push(':');
            if depth + 1 == rest.len() {
                lines.push(' ');
                lines.push_str(&scalar(value, MappingStyle::Block));
            }
            lines.push_str(self.newline);
        }
        lines
    }

    /// At the end of the document, which `...` may mark.
    fn append(&self, lines: &str) -> String {
        let mut end = 0;
        for line in self.text.split_inclusive('\n') {
            if line.trim_end() == "..." {
                break;
            }
            end += line.len();
        }
        let gap = if self.text[..end].is_empty() || self.text[..end].ends_with('\n') {
            ""
        } else {
            self.newline
        };
        self.with(end..end, &format!("{gap}{lines}"))
    }

    fn with(&self, range: Range<usize>, fresh: &str) -> String {
        [&self.text[..range.start], fresh, &self.text[range.end..]].concat()
    }

    /// The offset after the colon of a key.
    fn colon_after(&self, pair: &Pair) -> Result<usize, Refusal> {
        let rest = &self.text[pair.key.end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest[blanks..].starts_with(':') { Ok(pair.key.end + blanks + 1) } else { Err(ODD_LINE) }
    }

    /// The offset after the line break of the line that `offset` is in.
    fn line_end(&self, offset: usize) -> usize {
        self.text[offset..].find('\n').map_or(self.text.len(), |at| offset + at + 1)
    }

    fn line_start(&self, pair: &Pair) -> Result<usize, Refusal> {
        let start = self.text[..pair.key.start].rfind('\n').map_or(0, |at| at + 1);
        let before = &self.text[start..pair.key.start];
        if before.trim().is_empty() { Ok(start) } else { Err(ODD_LINE) }
    }

    /// The end of the line when only a comment is left in it.
    fn rest_of_line(&self, offset: usize) -> Result<usize, Refusal> {
        if offset > 0 && self.text[..offset].ends_with('\n') {
            return Ok(offset);
        }
        let end = self.line_end(offset);
        let rest = self.text[offset..end].trim();
        if rest.is_empty() || rest.starts_with('#') { Ok(end) } else { Err(ODD_LINE) }
    }

    fn is_alias(&self, range: &Range<usize>) -> bool {
        self.text[range.clone()].starts_with('*')
    }
}

fn flow_pair(rest: &[String], value: &Value) -> String {
    let flow = MappingStyle::Flow { open: 0 };
    match rest.split_first() {
        None => scalar(value, flow),
        Some((part, [])) => format!("{}: {}", quoted_unless_plain(part), scalar(value, flow)),
        Some((part, below)) => {
            format!("{}: {{{}}}", quoted_unless_plain(part), flow_pair(below, value))
        }
    }
}

fn scalar(value: &Value, style: MappingStyle) -> String {
    match (value, style) {
        (Value::String(text), MappingStyle::Block) => quoted_unless_plain(text),
        (Value::String(text), MappingStyle::Flow { .. }) => quoted(text),
        (Value::Array(items), _) => {
            let flow = MappingStyle::Flow { open: 0 };
            let items: Vec<String> = items.iter().map(|item| scalar(item, flow)).collect();
            format!("[{}]", items.join(", "))
        }
        (other, _) => other.to_string(),
    }
}

/// Quotes whatever some YAML reader, old or new, could take for something else than this text.
fn quoted_unless_plain(text: &str) -> String {
    const RESERVED: &[&str] = &["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '/');
    let ends_well = text.ends_with(|c: char| c.is_ascii_alphanumeric() || "_/.".contains(c));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_/.+:@-".contains(c);
    let is_reserved = RESERVED.contains(&text.to_ascii_lowercase().as_str());
    if begins_well && ends_well && text.chars().all(is_plain) && !is_reserved {
        text.to_owned()
    } else {
        quoted(text)
    }
}

pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            odd if odd.is_control()
                || "\u{a0}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(odd) =>
            {
                quoted.push_str(&format!("\\u{:04x}", odd as u32));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}
