//! JSON with comments as text: a key or an element put in or taken out, every other byte as it was.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

use super::{Refusal, Result, cut, not_alone};

/// How far the text may be from the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Comments and a comma too many.
    Comments,
    /// Whatever JSON5 allows.
    Loose,
}

pub(super) fn read(text: &str, strictness: Strictness) -> Result<Value> {
    match parse(text, strictness)?.to_serde_value() {
        None | Some(Value::Null) => Ok(Value::Object(Map::new())),
        Some(value @ Value::Object(_)) => Ok(value),
        Some(_) => Err(Refusal::Syntax { line: 1, why: "it is not an object".to_owned() }),
    }
}

/// Sets the key at a path; sections that are missing are made.
pub(super) fn put(
    text: &str,
    strictness: Strictness,
    path: &[String],
    value: &Value,
) -> Result<String> {
    let root = parse(text, strictness)?;
    let Some(mut object) = root.object_value() else { return Ok(fresh(text, path, value)) };
    for (depth, part) in path.iter().enumerate() {
        let rest = &path[depth + 1..];
        let Some(property) = find(&object, part) else {
            object.append(part, nested(rest, value));
            return only_added(text, &root.to_string(), path);
        };
        if rest.is_empty() {
            property.set_value(input(value));
            return Ok(root.to_string());
        }
        object = property.object_value().ok_or_else(|| not_alone(path, "it is not a section"))?;
    }
    Err(not_alone(path, "it has no name"))
}

/// Adds an element to the list at a path; the list and its sections are made if they are missing.
pub(super) fn push(
    text: &str,
    strictness: Strictness,
    path: &[String],
    value: &Value,
) -> Result<String> {
    let root = parse(text, strictness)?;
    let list = property_at(&root, path).and_then(|property| property.array_value());
    match list {
        None => put(text, strictness, path, &Value::Array(vec![value.clone()])),
        Some(list) => {
            list.append(input(value));
            only_added(text, &root.to_string(), path)
        }
    }
}

/// Takes out the key at a path, and the sections that hold nothing else.
pub(super) fn take(text: &str, strictness: Strictness, path: &[String]) -> Result<String> {
    Ok(cut::property(text, &options(strictness), path).unwrap_or_else(|| text.to_owned()))
}

/// Takes elements out of the list at a path, and what holds nothing else.
pub(super) fn take_elements(
    strictness: Strictness,
    text: &str,
    path: &[String],
    places: &[usize],
) -> Result<String> {
    let mut now = text.to_owned();
    for place in places.iter().rev() {
        now = cut::element(&now, &options(strictness), path, *place).unwrap_or(now);
    }
    Ok(now)
}

fn parse(text: &str, strictness: Strictness) -> Result<CstRootNode> {
    CstRootNode::parse(text, &options(strictness)).map_err(|error| Refusal::Syntax {
        line: error.line_display(),
        why: error.kind().to_string().to_lowercase(),
    })
}

fn options(strictness: Strictness) -> ParseOptions {
    let loose = strictness == Strictness::Loose;
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: loose,
        allow_missing_commas: false,
        allow_single_quoted_strings: loose,
        allow_hexadecimal_numbers: loose,
        allow_unary_plus_numbers: loose,
        allow_bare_decimal_point_numbers: loose,
        allow_non_finite_numbers: loose,
        allow_extended_string_escapes: loose,
    }
}

/// A text without a value gets one; what comments it has stay above it.
fn fresh(text: &str, path: &[String], value: &Value) -> String {
    let whole = path
        .iter()
        .rev()
        .fold(value.clone(), |value, part| Value::Object(Map::from_iter([(part.clone(), value)])));
    let pretty = serde_json::to_string_pretty(&whole).unwrap_or_default();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    format!("{text}{gap}{}{newline}", pretty.replace('\n', newline))
}

fn property_at(root: &CstRootNode, path: &[String]) -> Option<CstObjectProp> {
    let (last, above) = path.split_last()?;
    let mut object = root.object_value()?;
    for part in above {
        object = find(&object, part)?.object_value()?;
    }
    find(&object, last)
}

fn find(object: &CstObject, part: &str) -> Option<CstObjectProp> {
    let is_it = |property: &CstObjectProp| property.decoded_name().is_some_and(|name| name == part);
    // The last of two equal keys is the one that programs see.
    object.properties().into_iter().rev().find(is_it)
}

/// Refuses a text in which more than blanks of others has changed: one thing came, and maybe a comma before a comment.
fn only_added(before: &str, after: &str, path: &[String]) -> Result<String> {
    let dense = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<Vec<_>>();
    let (old, new) = (dense(before), dense(after));
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let is_comma = new.get(same) == Some(&',');
    if is_one_insertion(&old, &new) || is_comma && is_one_insertion(&old[same..], &new[same + 1..])
    {
        Ok(after.to_owned())
    } else {
        Err(not_alone(path, "other lines would change too"))
    }
}

fn is_one_insertion(old: &[char], new: &[char]) -> bool {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    head + tail >= old.len()
}

fn nested(rest: &[String], value: &Value) -> CstInputValue {
    match rest.split_first() {
        None => input(value),
        Some((part, below)) => CstInputValue::Object(vec![(part.clone(), nested(below, value))]),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(keys) => CstInputValue::Object(
            keys.iter().map(|(key, value)| (key.clone(), input(value))).collect(),
        ),
    }
}
