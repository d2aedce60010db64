//! Columns as JSON and JSON as columns: times in words, ids and hashes as letters.

use std::fmt::Write as _;
use std::io::Write as _;

use jiff::Timestamp;
use rusqlite::types::{Value as Column, ValueRef};
use serde_json::Value;

use crate::memory::Uid;

/// Appends one column as JSON.
pub(super) fn write(
    out: &mut Vec<u8>,
    name: &str,
    value: ValueRef<'_>,
    redact: Option<&dyn Fn(&str) -> String>,
) {
    match value {
        ValueRef::Null => out.extend_from_slice(b"null"),
        ValueRef::Integer(number) if is_flag(name) => {
            out.extend_from_slice(if number == 0 { b"false" } else { b"true" });
        }
        ValueRef::Integer(number) => write_integer(out, name, number),
        ValueRef::Real(number) => {
            let number = serde_json::Number::from_f64(number);
            let text = number.map_or_else(|| "null".to_owned(), |number| number.to_string());
            out.extend_from_slice(text.as_bytes());
        }
        ValueRef::Text(bytes) => write_text(out, &String::from_utf8_lossy(bytes), redact),
        ValueRef::Blob(bytes) => write_bytes(out, name, bytes),
    }
}

fn write_integer(out: &mut Vec<u8>, name: &str, number: i64) {
    let written = match is_time(name).then(|| Timestamp::from_millisecond(number)) {
        Some(Ok(time)) => write!(out, "\"{time}\""),
        _ => write!(out, "{number}"),
    };
    debug_assert!(written.is_ok(), "a Vec takes everything");
}

/// Appends a text, passed through what hides secrets.
fn write_text(out: &mut Vec<u8>, text: &str, redact: Option<&dyn Fn(&str) -> String>) {
    let written = match redact {
        Some(redact) => serde_json::to_writer(out, &redact(text)),
        None => serde_json::to_writer(out, text),
    };
    debug_assert!(written.is_ok(), "a Vec takes everything");
}

fn write_bytes(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    out.push(b'"');
    match (name, <[u8; 16]>::try_from(bytes)) {
        ("uid", Ok(uid)) => out.extend_from_slice(Uid::from_bytes(uid).to_string().as_bytes()),
        _ => out.extend_from_slice(hex(bytes).as_bytes()),
    }
    out.push(b'"');
}

/// Bytes as letters.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Letters as bytes.
pub(super) fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// A field of a document as the column of that name; the error says what is wrong with it.
pub(super) fn column(name: &str, value: Option<&Value>) -> Result<Column, String> {
    let wrong = |what: &str| format!("its {name} is not {what}");
    Ok(match value {
        None | Some(Value::Null) => Column::Null,
        Some(Value::Bool(flag)) => Column::Integer(i64::from(*flag)),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Column::Integer(whole),
            (None, Some(real)) => Column::Real(real),
            _ => return Err(wrong("a number that can be stored")),
        },
        Some(Value::String(text)) if name == "uid" => {
            let uid: Uid = text.parse().map_err(|_| wrong("an id"))?;
            Column::Blob(uid.as_bytes().to_vec())
        }
        Some(Value::String(text)) if is_time(name) => {
            let time: Timestamp = text.parse().map_err(|_| wrong("a time"))?;
            Column::Integer(time.as_millisecond())
        }
        Some(Value::String(text)) if is_bytes(name) => {
            Column::Blob(unhex(text).ok_or_else(|| wrong("hexadecimal"))?)
        }
        Some(Value::String(text)) => Column::Text(text.clone()),
        Some(_) => return Err(wrong("one value")),
    })
}

fn is_time(name: &str) -> bool {
    matches!(name, "at" | "valid_from" | "valid_to" | "valid_to_before") || name.ends_with("_at")
}

fn is_flag(name: &str) -> bool {
    matches!(name, "pinned" | "locked" | "failed" | "imported")
}

fn is_bytes(name: &str) -> bool {
    matches!(name, "key" | "entry" | "before" | "after" | "previous" | "hash")
}
