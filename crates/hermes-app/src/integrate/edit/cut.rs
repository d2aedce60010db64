//! Takes a key or an element out of a JSON text with its comma and its line, and no comment of others.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

/// One step on the way to a thing: what holds it, where it is, and its neighbours.
struct Level {
    holder: Range<usize>,
    item: Range<usize>,
    before: Option<usize>,
    after: Option<usize>,
}

/// The text without the key at a path; none if it is not there.
pub(super) fn property(text: &str, options: &ParseOptions, path: &[String]) -> Option<String> {
    let root = parse_to_ast(text, &CollectOptions::default(), options).ok()?.value?;
    let (_, levels) = walk(&root, path)?;
    Some(cut(text, levels))
}

/// The text without one element of the list at a path; none if it is not there.
pub(super) fn element(
    text: &str,
    options: &ParseOptions,
    path: &[String],
    place: usize,
) -> Option<String> {
    let root = parse_to_ast(text, &CollectOptions::default(), options).ok()?.value?;
    let (value, mut levels) = walk(&root, path)?;
    let Value::Array(list) = value else { return None };
    levels.push(of_list(list, place)?);
    Some(cut(text, levels))
}

fn walk<'a, 'b>(root: &'b Value<'a>, path: &[String]) -> Option<(&'b Value<'a>, Vec<Level>)> {
    let (mut value, mut levels) = (root, Vec::new());
    for part in path {
        let Value::Object(object) = value else { return None };
        let place =
            object.properties.iter().rposition(|property| property.name.as_str() == part)?;
        levels.push(of_object(object, place)?);
        value = &object.properties[place].value;
    }
    Some((value, levels))
}

fn of_object(object: &Object<'_>, place: usize) -> Option<Level> {
    let ranges: Vec<_> = object.properties.iter().map(range).collect();
    level(range(object), &ranges, place)
}

fn of_list(list: &Array<'_>, place: usize) -> Option<Level> {
    let ranges: Vec<_> = list.elements.iter().map(range).collect();
    level(range(list), &ranges, place)
}

fn range(ranged: &impl Ranged) -> Range<usize> {
    ranged.range().start..ranged.range().end
}

fn level(holder: Range<usize>, items: &[Range<usize>], place: usize) -> Option<Level> {
    Some(Level {
        holder,
        item: items.get(place)?.clone(),
        before: place.checked_sub(1).and_then(|at| items.get(at)).map(|item| item.end),
        after: items.get(place + 1).map(|item| item.start),
    })
}

/// Cuts the last level out, or the outermost one that holds nothing but it, not even a comment.
fn cut(text: &str, mut levels: Vec<Level>) -> String {
    while levels.len() > 1 {
        let Some(Level { holder, item, before: None, after: None }) = levels.last() else { break };
        let frame = [&text[holder.start..item.start], &text[item.end..holder.end]].concat();
        if !frame.chars().all(|c| c.is_whitespace() || "{}[],".contains(c)) {
            break;
        }
        levels.pop();
    }
    let Some(level) = levels.pop() else { return text.to_owned() };
    let Range { start, end } = level.item;
    let behind = comma(text, end..level.after.unwrap_or(level.holder.end - 1));
    let ahead = level.before.and_then(|before| comma(text, before..start));
    let comma = behind.or(ahead).map(|at| at..at + 1);
    let mut gone: Vec<Range<usize>> = comma.into_iter().chain(Some(start..end)).collect();
    gone.sort_by_key(|range| range.start);
    let mut left = String::with_capacity(text.len());
    let (mut from, mut seam) = (0, 0);
    for range in gone {
        left.push_str(&text[from..range.start]);
        if range.start == start {
            seam = left.len();
        }
        from = range.end;
    }
    left.push_str(&text[from..]);
    without_blank_line(left, seam)
}

/// Where the comma stands between two things, comments left out.
fn comma(text: &str, between: Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = between.start;
    while at < between.end {
        match (bytes[at], bytes.get(at + 1)) {
            (b',', _) => return Some(at),
            (b'/', Some(b'/')) => at += text[at..].find('\n').unwrap_or(text.len() - at),
            (b'/', Some(b'*')) => at += text[at + 2..].find("*/").map_or(text.len(), |end| end + 4),
            _ => at += 1,
        }
    }
    None
}

/// The line at a place goes if nothing is left in it.
fn without_blank_line(mut text: String, at: usize) -> String {
    let start = text[..at].rfind('\n').map_or(0, |found| found + 1);
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found + 1);
    let is_first = start == 0;
    if text[start..end].trim().is_empty() && !is_first && end < text.len() {
        text.replace_range(start..end, "");
    }
    text
}
