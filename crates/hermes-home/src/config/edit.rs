//! Change one setting in the config file, and prove that nothing else changed.

use std::path::Path;

use serde_json::Value;

use crate::atomic;
use crate::config::assemble::accept;
use crate::config::keys::{self, Key};
use crate::config::load::{read_text, syntax_error};
use crate::config::provider;
use crate::config::view::no_such_key;
use crate::error::{Error, Result};
use crate::init::Owner;
use crate::keyed_text::document::{self, Format, Twice};
use crate::keyed_text::{edit_json, edit_yaml, is_spelling_of};
use crate::layout::Home;
use crate::lock;

/// What to do with a key that no setting has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Refuse it.
    Refuse,
    /// Write it, in a home of Hermes Agent, when it does not look like a slip for one of ours.
    Allow,
}

/// What a file without a name is called in messages.
const CONFIG_FILE: &str = "config.yaml";

/// The text with one setting set to `value`, given as typed; all other bytes stay.
pub fn set(text: &str, key: &str, value: &str) -> Result<String> {
    let known = keys::find(key).ok_or_else(|| no_such_key(key))?;
    put(Path::new(CONFIG_FILE), text, &parts(known.path), &typed_value(known, value)?)
}

/// The text without one setting, so that its default holds; none when the text does not have it.
pub fn unset(text: &str, key: &str) -> Result<Option<String>> {
    let known = keys::find(key).ok_or_else(|| no_such_key(key))?;
    take_out(Path::new(CONFIG_FILE), text, &parts(known.path))
}

/// The text of another program's file with the value at `path` set; all other bytes stay.
pub fn put_value(file: &Path, text: &str, path: &[String], value: &Value) -> Result<String> {
    put(file, text, path, value)
}

/// The text of another program's file without the value at `path`; none when it does not have it.
pub fn take_value(file: &Path, text: &str, path: &[String]) -> Result<Option<String>> {
    take_out(file, text, path)
}

/// Writes one setting to config.yaml under its lock; `null` removes it.
pub fn write_setting(
    home: &Home,
    owner: Owner,
    key: &str,
    value: &str,
    unknown: Unknown,
) -> Result<()> {
    let (path, value) = match keys::find(key) {
        Some(_) if value == "null" => return clear_setting(home, owner, key, unknown).map(|_| ()),
        Some(known) => {
            let value = typed_value(known, value)?;
            if let Some(why) = provider::refusal(owner, known, &value) {
                return Err(Error::NoProviders { why });
            }
            (parts(known.path), value)
        }
        None => {
            allow_unknown(owner, key, unknown)?;
            (parts(key), guessed_value(value))
        }
    };
    change(home, |file, text| put(file, text, &path, &value).map(Some)).map(|_| ())
}

/// Removes one setting from config.yaml under its lock; returns whether it was there.
pub fn clear_setting(home: &Home, owner: Owner, key: &str, unknown: Unknown) -> Result<bool> {
    let path = match keys::find(key) {
        Some(known) => parts(known.path),
        None => {
            allow_unknown(owner, key, unknown)?;
            parts(key)
        }
    };
    change(home, |file, text| take_out(file, text, &path))
}

fn change(home: &Home, edit: impl Fn(&Path, &str) -> Result<Option<String>>) -> Result<bool> {
    home.must_exist()?;
    let path = home.config();
    let _lock = lock::hold(&path)?;
    let text = read_text(&path)?.unwrap_or_default();
    let Some(changed) = edit(&path, &text)? else { return Ok(false) };
    if changed != text {
        atomic::write(&path, changed.as_bytes())?;
    }
    Ok(true)
}

fn allow_unknown(owner: Owner, key: &str, unknown: Unknown) -> Result<()> {
    let is_slip = keys::nearest(key).is_some() || parts(key).iter().any(String::is_empty);
    let is_theirs = owner == Owner::HermesAgent && unknown == Unknown::Allow && !is_slip;
    if is_theirs { Ok(()) } else { Err(no_such_key(key)) }
}

fn parts(path: &str) -> Vec<String> {
    path.split('.').map(str::to_owned).collect()
}

/// The typed text as the key wants it.
fn typed_value(key: &Key, text: &str) -> Result<Value> {
    let accepted = if text.contains("${") && matches!(key.kind, keys::Kind::Text) {
        Some(Value::from(text))
    } else {
        accept(key, &Value::from(text))
    };
    match accepted {
        Some(Value::Null) => Ok(Value::from("")),
        Some(value) => Ok(value),
        None => Err(Error::BadSetting {
            key: key.path,
            expected: key.kind.expects(),
            found: if key.is_secret() { "something else".into() } else { format!("{text:?}") },
        }),
    }
}

/// A value for a key that is not ours: a switch or a number when it reads like one, else a text.
fn guessed_value(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Bool(_) | Value::Number(_) | Value::Null)) => value,
        _ => Value::from(text),
    }
}

fn put(file: &Path, text: &str, path: &[String], value: &Value) -> Result<String> {
    let before = leaves(file, text)?;
    let (mark, body) = document::split_mark(text);
    let edited = match document::format_of(body) {
        Format::Json => edit_json::put(body, path, value),
        Format::Yaml => edit_yaml::put(body, path, value),
    };
    let changed = edited.map_err(|why| refused(file, path, why))?;
    let changed = format!("{mark}{changed}");
    let after = leaves(file, &changed).map_err(|_| unsafe_edit(file, path))?;
    let now: Vec<&Value> = at(&after, path).collect();
    if now.is_empty()
        || now.iter().any(|found| *found != value)
        || !same_elsewhere(&before, &after, path)
    {
        return Err(unsafe_edit(file, path));
    }
    Ok(changed)
}

fn take_out(file: &Path, text: &str, path: &[String]) -> Result<Option<String>> {
    let before = leaves(file, text)?;
    let (mark, body) = document::split_mark(text);
    let edited = match document::format_of(body) {
        Format::Json => edit_json::remove(body, path),
        Format::Yaml => edit_yaml::remove(body, path),
    };
    let Some(changed) = edited.map_err(|why| refused(file, path, why))? else { return Ok(None) };
    let changed = format!("{mark}{changed}");
    let after = leaves(file, &changed).map_err(|_| unsafe_edit(file, path))?;
    if at(&after, path).next().is_some() || !same_elsewhere(&before, &after, path) {
        return Err(unsafe_edit(file, path));
    }
    Ok(Some(changed))
}

type Leaves = Vec<(Vec<String>, Value)>;

fn leaves(file: &Path, text: &str) -> Result<Leaves> {
    let root = document::parse(text, Twice::LastWins).map_err(|fault| syntax_error(file, fault))?;
    Ok(root.leaves())
}

fn at<'a>(leaves: &'a Leaves, path: &'a [String]) -> impl Iterator<Item = &'a Value> {
    leaves.iter().filter(|(found, _)| is_path(found, path)).map(|(_, value)| value)
}

fn is_path(found: &[String], path: &[String]) -> bool {
    found.len() == path.len()
        && found.iter().zip(path).all(|(found, part)| is_spelling_of(found, part))
}

/// Whether all values but those at `path`, and empty sections on the way to it, are equal.
fn same_elsewhere(before: &Leaves, after: &Leaves, path: &[String]) -> bool {
    let is_hollow =
        |value: &Value| value.is_null() || value.as_object().is_some_and(|map| map.is_empty());
    let counts = |leaf: &&(Vec<String>, Value)| {
        let (found, value) = leaf;
        let is_on_the_way = found.len() < path.len() && is_path(found, &path[..found.len()]);
        !(is_path(found, path) || is_on_the_way && is_hollow(value))
    };
    before.iter().filter(counts).eq(after.iter().filter(counts))
}

fn refused(file: &Path, path: &[String], why: &'static str) -> Error {
    Error::ConfigEdit { path: file.to_owned(), key: path.join("."), why }
}

fn unsafe_edit(file: &Path, path: &[String]) -> Error {
    refused(file, path, "another setting would change too")
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
