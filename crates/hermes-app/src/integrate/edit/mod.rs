//! Puts what is ours into the text of another program's file, and takes it out again to the byte.

mod cut;
mod json;
mod splice;
mod toml;
mod tree;
mod yaml;

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::splice::{Splice, undo};
use super::ours;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON, with comments and a comma too many.
    Json,
    /// JSON as people write it: names without quotes, single quotes and the like.
    LooseJson,
    Toml,
    Yaml,
}

/// In which way a piece stands in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// A key with a command of ours.
    Entry,
    /// An element with a command of ours, in the list at the path.
    Element,
    /// A value that takes the place of another, which comes back.
    Setting,
    /// A value that is put where there is none.
    Default,
}

/// One thing of ours in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    pub manner: Manner,
    pub path: Vec<String>,
    pub value: Value,
    /// What stood there before a setting of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
}

impl Piece {
    pub fn new(manner: Manner, path: &[&str], value: Value) -> Piece {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        Piece { manner, path, value, before: None }
    }
}

/// A text with what was put into it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Edited {
    pub text: String,
    /// The steps that led to it, in order.
    pub splices: Vec<Splice>,
    /// The pieces that were not there before.
    pub pieces: Vec<Piece>,
}

/// Why a text is left as it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Refusal {
    /// It cannot be read.
    Syntax { line: usize, why: String },
    /// Something of another stands where ours would.
    Taken { path: String },
    /// Ours cannot be put in or taken out without changing something else.
    Unsafe { path: String, why: String },
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Syntax { line, why } => write!(formatter, "line {line}: {why}"),
            Refusal::Taken { path } => {
                write!(formatter, "`{path}` already exists and was not added by Hermes")
            }
            Refusal::Unsafe { path, why } => {
                write!(formatter, "`{path}` cannot be changed on its own: {why}")
            }
        }
    }
}

type Result<T> = std::result::Result<T, Refusal>;

/// Puts the pieces in that are missing.
pub(crate) fn put_in(format: Format, text: &str, pieces: &[Piece]) -> Result<Edited> {
    let mut edited = Edited { text: text.to_owned(), splices: Vec::new(), pieces: Vec::new() };
    for piece in pieces {
        let root = read(format, &edited.text)?;
        let found = tree::at(&root, &piece.path);
        if is_there(found, piece)? {
            continue;
        }
        for (path, value) in steps(format, piece) {
            let changed = put(format, &edited.text, piece.manner, &path, &value)?;
            edited.splices.push(Splice::between(&edited.text, &changed));
            edited.text = changed;
        }
        let mut expected = root.clone();
        tree::set(&mut expected, piece);
        if read(format, &edited.text)? != expected {
            return Err(not_alone(&piece.path, "another value would change too"));
        }
        edited
            .pieces
            .push(Piece { before: found.cloned().filter(|_| keeps(piece)), ..piece.clone() });
    }
    Ok(edited)
}

/// Takes the pieces out, wherever they stand now; what is not ours any more stays.
pub(crate) fn take_out(format: Format, text: &str, pieces: &[Piece]) -> Result<String> {
    let mut now = text.to_owned();
    for piece in pieces.iter().rev() {
        let root = read(format, &now)?;
        let Some(found) = tree::at(&root, &piece.path) else { continue };
        let mut expected = root.clone();
        match piece.manner {
            Manner::Element => {
                let places = ours::elements(found);
                if places.is_empty() {
                    continue;
                }
                let (mark, body) = mark_of(&now);
                let left = json::take_elements(loose(format), body, &piece.path, &places)?;
                now = format!("{mark}{left}");
                tree::take_elements(&mut expected, &piece.path, &places);
            }
            Manner::Entry if !ours::is_ours(found) => continue,
            Manner::Setting | Manner::Default if *found != piece.value => continue,
            Manner::Setting if piece.before.is_some() => {
                let before = piece.before.clone().unwrap_or_default();
                now = put(format, &now, piece.manner, &piece.path, &before)?;
                tree::set(&mut expected, &Piece { value: before, ..piece.clone() });
            }
            Manner::Entry | Manner::Setting | Manner::Default => {
                now = take(format, &now, &piece.path)?;
                tree::take(&mut expected, &piece.path);
            }
        }
        if tree::pruned(read(format, &now)?) != tree::pruned(expected) {
            return Err(not_alone(&piece.path, "another value would change too"));
        }
    }
    Ok(now)
}

/// Takes out what was put in: to the byte where nobody touched it, else only what is still ours.
pub(crate) fn reverse(
    format: Format,
    text: &str,
    splices: &[Splice],
    pieces: &[Piece],
) -> Result<String> {
    let cleaned = take_out(format, text, pieces)?;
    let exact = splice::undo_elsewhere(text, splices);
    let same = |exact: &String| {
        let left = read(format, exact).map(tree::pruned);
        left.is_ok() && left == read(format, &cleaned).map(tree::pruned)
    };
    Ok(exact.filter(same).unwrap_or(cleaned))
}

/// Whether every piece stands in the text as it should.
pub(crate) fn holds(format: Format, text: &str, pieces: &[Piece]) -> Result<bool> {
    let root = read(format, text)?;
    for piece in pieces {
        if !is_there(tree::at(&root, &piece.path), piece)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The text as a value; an empty one is an empty section.
pub(crate) fn read(format: Format, text: &str) -> Result<Value> {
    let (_, body) = mark_of(text);
    match format {
        Format::Json | Format::LooseJson => json::read(body, loose(format)),
        Format::Toml => toml::read(body),
        Format::Yaml => yaml::read(body),
    }
}

/// What is left when ours is out of a file: nothing but empty sections?
pub(crate) fn is_hollow(format: Format, text: &str) -> bool {
    let left = read(format, text).map(tree::pruned);
    left.is_ok_and(|left| left == Value::Object(serde_json::Map::new()))
        && !text.contains(['#', '/'])
}

fn is_there(found: Option<&Value>, piece: &Piece) -> Result<bool> {
    let taken = || Err(Refusal::Taken { path: piece.path.join(".") });
    match (piece.manner, found) {
        (_, None) => Ok(false),
        (Manner::Default, Some(_)) => Ok(true),
        (Manner::Setting, Some(found)) => Ok(*found == piece.value),
        (Manner::Entry, Some(found)) if *found == piece.value => Ok(true),
        (Manner::Entry, Some(found)) if ours::is_ours(found) => Ok(false),
        (Manner::Entry, Some(_)) => taken(),
        (Manner::Element, Some(Value::Array(items))) => Ok(items.contains(&piece.value)),
        (Manner::Element, Some(_)) => taken(),
    }
}

fn keeps(piece: &Piece) -> bool {
    piece.manner == Manner::Setting
}

/// YAML is written value by value, the last first, because a new key comes right after the head of its section.
fn steps(format: Format, piece: &Piece) -> Vec<(Vec<String>, Value)> {
    match &piece.value {
        Value::Object(keys) if format == Format::Yaml => {
            let path = |key: &String| [&piece.path[..], std::slice::from_ref(key)].concat();
            keys.iter().rev().map(|(key, value)| (path(key), value.clone())).collect()
        }
        value => vec![(piece.path.clone(), value.clone())],
    }
}

fn put(
    format: Format,
    text: &str,
    manner: Manner,
    path: &[String],
    value: &Value,
) -> Result<String> {
    let (mark, body) = mark_of(text);
    let changed = match format {
        Format::Json | Format::LooseJson if manner == Manner::Element => {
            json::push(body, loose(format), path, value)?
        }
        Format::Json | Format::LooseJson => json::put(body, loose(format), path, value)?,
        Format::Toml => toml::put(body, path, value)?,
        Format::Yaml => yaml::put(body, path, value)?,
    };
    Ok(format!("{mark}{changed}"))
}

fn take(format: Format, text: &str, path: &[String]) -> Result<String> {
    let (mark, body) = mark_of(text);
    let changed = match format {
        Format::Json | Format::LooseJson => json::take(body, loose(format), path)?,
        Format::Toml => toml::take(body, path)?,
        Format::Yaml => yaml::take(body, path)?,
    };
    Ok(format!("{mark}{changed}"))
}

fn loose(format: Format) -> json::Strictness {
    match format {
        Format::LooseJson => json::Strictness::Loose,
        _ => json::Strictness::Comments,
    }
}

/// The byte order mark, if there is one, and the rest.
fn mark_of(text: &str) -> (&str, &str) {
    const MARK: char = '\u{feff}';
    text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 })
}

fn not_alone(path: &[String], why: &str) -> Refusal {
    Refusal::Unsafe { path: path.join("."), why: why.to_owned() }
}
