//! YAML as text: values put in or taken out line by line, every other byte as it was.

use std::path::Path;

use hermes_home::Error;
use hermes_home::config::{put_value, take_value};
use serde_json::{Map, Value};

use super::{Refusal, Result, not_alone};

/// The editor names a file in its messages; ours name it themselves.
const NAME: &str = "config.yaml";

pub(super) fn read(text: &str) -> Result<Value> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match serde_saphyr::from_str::<Value>(text) {
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Refusal::Syntax { line: 1, why: "it is not a list of keys".to_owned() }),
        Err(error) => {
            let line = error.location().map_or(1, |at| at.line());
            let why = error.to_string();
            let why = why.lines().next().unwrap_or("it is not YAML").to_owned();
            Err(Refusal::Syntax { line: usize::try_from(line).unwrap_or(1), why })
        }
    }
}

/// Sets one plain value; sections that are missing are made.
pub(super) fn put(text: &str, path: &[String], value: &Value) -> Result<String> {
    put_value(Path::new(NAME), text, path, value).map_err(|error| refusal(path, &error))
}

/// Takes out a value, or all values of a section, and the sections that hold nothing else.
pub(super) fn take(text: &str, path: &[String]) -> Result<String> {
    let root = read(text)?;
    let names: Vec<Vec<String>> = match super::tree::at(&root, path) {
        Some(Value::Object(keys)) => {
            keys.keys().map(|key| [path, std::slice::from_ref(key)].concat()).collect()
        }
        _ => vec![path.to_vec()],
    };
    let mut now = text.to_owned();
    for name in names {
        let taken = take_value(Path::new(NAME), &now, &name);
        now = taken.map_err(|error| refusal(path, &error))?.unwrap_or(now);
    }
    Ok(now)
}

fn refusal(path: &[String], error: &Error) -> Refusal {
    match error {
        Error::ConfigEdit { why, .. } => not_alone(path, why),
        Error::ConfigSyntax { line, why, .. } => Refusal::Syntax { line: *line, why: why.clone() },
        other => not_alone(path, &other.to_string()),
    }
}
