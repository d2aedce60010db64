//! What JSON values of other programs say: texts, times, pieces of content.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// The answer of a tool is kept as a piece of this many characters.
const LONGEST_ANSWER: usize = 600;
/// How many of them are of its end.
const OF_THE_END: usize = 200;

/// A text that says something.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// The same, owned.
pub(crate) fn owned(object: &Map<String, Value>, key: &str) -> Option<String> {
    text(object, key).map(str::to_owned)
}

/// An id: a text, or a whole number.
pub(crate) fn id(object: &Map<String, Value>, key: &str) -> Option<String> {
    match object.get(key)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// The value inside other values.
pub(crate) fn at<'a>(object: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(object.get(*first)?, |value, key| value.get(key))
}

pub(crate) fn is_true(object: &Map<String, Value>, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool) == Some(true)
}

/// A time as programs write it: ISO with or without zone, seconds or milliseconds since 1970.
pub(crate) fn time(value: Option<&Value>, zone: &TimeZone) -> Option<Timestamp> {
    match value? {
        Value::Number(number) => from_number(number.as_f64()?),
        Value::String(text) => from_text(text.trim(), zone),
        _ => None,
    }
}

fn from_text(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    if let Ok(local) = text.parse::<DateTime>() {
        return local.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp());
    }
    text.parse::<f64>().ok().and_then(from_number)
}

fn from_number(number: f64) -> Option<Timestamp> {
    /// Later than any message by three thousand years: the number counts milliseconds.
    const MILLISECONDS_ABOVE: f64 = 1e11;
    if !number.is_finite() || number == 0.0 {
        return None;
    }
    let milliseconds = if number.abs() > MILLISECONDS_ABOVE { number } else { number * 1000.0 };
    // What is no time of ours becomes none: later ones are mistakes.
    Timestamp::from_millisecond(milliseconds.round() as i64).ok().filter(|_| milliseconds < 4e13)
}

/// The words of a content: a text, or a list of pieces of which only those with words count.
pub(crate) fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => {
            let pieces: Vec<&str> = pieces.iter().filter_map(piece).collect();
            pieces.join("\n")
        }
        Value::Object(_) => piece(content).unwrap_or_default().to_owned(),
        _ => String::new(),
    }
}

fn piece(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text.as_str()),
        Value::Object(fields) => fields.get("text").and_then(Value::as_str),
        _ => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// A number that stays the same for the same text, in every run and build.
pub(crate) fn print(text: &str) -> u64 {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    digest.iter().take(8).fold(0, |sum, byte| (sum << 8) | u64::from(*byte))
}

/// The answer of a tool as a piece: its beginning and its end.
pub(crate) fn condensed(answer: &str) -> String {
    let answer = answer.trim();
    let count = answer.chars().count();
    if count <= LONGEST_ANSWER {
        return answer.to_owned();
    }
    let beginning: String = answer.chars().take(LONGEST_ANSWER - OF_THE_END).collect();
    let end: String = answer.chars().skip(count - OF_THE_END).collect();
    format!("{} […] {}", beginning.trim_end(), end.trim_start())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times_come_in_many_forms() {
        let wanted = Some(1_714_557_600);
        for value in [
            json!("2024-05-01T10:00:00Z"),
            json!("2024-05-01T12:00:00+02:00"),
            json!("2024-05-01 10:00:00"),
            json!(1_714_557_600),
            json!(1_714_557_600.25),
            json!(1_714_557_600_000_i64),
            json!("1714557600"),
        ] {
            let found = time(Some(&value), &TimeZone::UTC).map(Timestamp::as_second);
            assert_eq!(found, wanted, "{value}");
        }
        for value in [json!("soon"), json!(1e300), json!(null), json!([1]), json!(0)] {
            assert_eq!(time(Some(&value), &TimeZone::UTC), None, "{value}");
        }
    }

    #[test]
    fn a_long_answer_keeps_its_beginning_and_its_end() {
        let long = format!("begin{}end", "é".repeat(5_000));
        let short = condensed(&long);
        assert!(short.starts_with("begin") && short.ends_with("end"));
        assert!(short.chars().count() < 620);
        assert_eq!(condensed(" fine "), "fine");
    }
}
