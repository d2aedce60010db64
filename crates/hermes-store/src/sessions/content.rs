//! What a message says, and the form it has in a database column.

use std::io;

use rusqlite::types::ValueRef;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{CharEscape, Formatter, Serializer};

/// Marks a column value as JSON; what follows it is not plain text.
const STRUCTURED: &str = "\0json:";

/// What a message says: plain text, or parts such as text and pictures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A JSON array or object of parts.
    Parts(Value),
}

impl Content {
    /// The words in it: the text itself, or the text of all parts, one per line.
    pub fn text(&self) -> String {
        match self {
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => text_of_parts(parts),
        }
    }

    /// The column value: text as it is, parts as marked JSON.
    pub(crate) fn encode(&self) -> String {
        match self {
            // Text that looks like the mark is written as a JSON string, which reads back as text.
            Content::Text(text) if text.starts_with(STRUCTURED) => {
                format!("{STRUCTURED}{}", python_json(&Value::String(text.clone())))
            }
            Content::Text(text) => text.clone(),
            Content::Parts(parts) => format!("{STRUCTURED}{}", python_json(parts)),
        }
    }

    /// The column value for a database where no text may have a NUL in it: the words alone.
    pub(crate) fn encode_without_nul(&self) -> String {
        without_nul(&self.text())
    }

    /// Reads a column value; marked text that is not JSON is taken as it is.
    pub(crate) fn decode(stored: String) -> Content {
        let Some(json) = stored.strip_prefix(STRUCTURED) else {
            return Content::Text(stored);
        };
        match parse_json(json) {
            Some(Value::String(text)) => Content::Text(text),
            Some(parts) => Content::Parts(parts),
            None => Content::Text(stored),
        }
    }
}

/// The text with every NUL replaced by the mark for what cannot be shown.
pub(crate) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// JSON text as Python's `json.dumps` writes it: ASCII only, a space after commas and colons.
pub(crate) fn python_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    match value.serialize(&mut Serializer::with_formatter(&mut bytes, PythonStyle)) {
        Ok(()) => String::from_utf8(bytes).unwrap_or_default(),
        // Only a map with keys that are not text can fail, and a `Value` has none.
        Err(_) => value.to_string(),
    }
}

/// Parses JSON that may hold escapes of half a surrogate pair, as Python writes them.
pub(crate) fn parse_json(text: &str) -> Option<Value> {
    serde_json::from_slice(&mend_surrogates(text.as_bytes())).ok()
}

/// Replaces every `\uD800`-`\uDFFF` escape that has no partner by `\ufffd`.
pub(crate) fn mend_surrogates(json: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = json[at..].iter().position(|byte| *byte == b'\\') {
        at += found;
        match escape_at(json, at) {
            Some(0xd800..=0xdbff) if matches!(escape_at(json, at + 6), Some(0xdc00..=0xdfff)) => {
                at += 12;
            }
            Some(0xd800..=0xdfff) => {
                let text = mended.get_or_insert_with(|| json.to_vec());
                text[at..at + 6].copy_from_slice(b"\\ufffd");
                at += 6;
            }
            Some(_) => at += 6,
            None => at = (at + 2).min(json.len()),
        }
    }
    mended.map_or(std::borrow::Cow::Borrowed(json), std::borrow::Cow::Owned)
}

/// A text column, whatever its type: numbers as digits, bytes read as UTF-8.
pub(crate) fn text_of(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// A whole number column; `None` if what is in it is no number.
pub(crate) fn integer_of(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) => Some(number as i64),
        _ => None,
    }
}

/// A time column in seconds; `None` if what is in it is no number.
pub(crate) fn seconds_of(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Integer(number) => Some(number as f64),
        ValueRef::Real(number) => Some(number),
        _ => None,
    }
}

fn escape_at(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn text_of_parts(parts: &Value) -> String {
    let text_of_part = |part: &Value| match part {
        Value::String(text) => Some(text.clone()),
        other => other.get("text").and_then(Value::as_str).map(str::to_owned),
    };
    match parts {
        Value::Array(parts) => parts.iter().filter_map(text_of_part).collect::<Vec<_>>().join("\n"),
        single => text_of_part(single).unwrap_or_default(),
    }
}

struct PythonStyle;

impl Formatter for PythonStyle {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.bytes().all(|byte| byte.is_ascii() && byte != 0x7f) {
            return writer.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            if c.is_ascii() && c != '\x7f' {
                writer.write_all(&[c as u8])?;
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        serde_json::ser::CompactFormatter.write_char_escape(writer, escape)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_written_as_python_writes_it() {
        let value = json!([{"type": "text", "text": "grüße 🎉\u{7f}\n\"x\""}, {"n": 1.5}]);
        let expected = r#"[{"type": "text", "text": "gr\u00fc\u00dfe \ud83c\udf89\u007f\n\"x\""}, {"n": 1.5}]"#;
        assert_eq!(python_json(&value), expected);
    }

    #[test]
    fn text_that_looks_structured_stays_text() {
        let text = Content::Text("\0json:[1]".to_owned());
        assert_ne!(text.encode(), "\0json:[1]");
        assert_eq!(Content::decode(text.encode()), text);
    }

    #[test]
    fn marked_text_that_is_no_json_is_read_as_it_is() {
        assert_eq!(
            Content::decode("\0json:{oh".to_owned()),
            Content::Text("\0json:{oh".to_owned())
        );
    }

    #[test]
    fn the_words_of_parts_are_their_texts() {
        let parts = json!([{"type": "text", "text": "look"}, {"type": "image_url"}, "here"]);
        assert_eq!(Content::Parts(parts).text(), "look\nhere");
    }

    #[test]
    fn half_surrogate_pairs_are_replaced_and_whole_ones_kept() {
        let check = |input: &str, expected: &str| {
            assert_eq!(String::from_utf8_lossy(&mend_surrogates(input.as_bytes())), expected);
        };
        check(r#""\ud83c\udf89""#, r#""\ud83c\udf89""#);
        check(r#""\ud800""#, r#""\ufffd""#);
        check(r#""\udc00\ud800x""#, r#""\ufffd\ufffdx""#);
        check(r#""\ud800\ud83c\udf89""#, r#""\ufffd\ud83c\udf89""#);
        check(r#""\\ud800""#, r#""\\ud800""#);
        check(r#""\\\uD800""#, r#""\\\ufffd""#);
        check(r#""\u00e9\"#, r#""\u00e9\"#);
        check(r#""\ud8"#, r#""\ud8"#);
    }

    proptest! {
        #[test]
        fn every_text_reads_back(text in any::<String>(), marked in any::<bool>()) {
            let text = if marked { format!("{STRUCTURED}{text}") } else { text };
            let content = Content::Text(text);
            prop_assert_eq!(Content::decode(content.encode()), content);
        }

        #[test]
        fn mended_json_always_parses(units in proptest::collection::vec(any::<u16>(), 0..20)) {
            let escapes: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let expected = String::from_utf16_lossy(&units);
            let json = format!("\"{escapes}\"");
            prop_assert_eq!(parse_json(&json), Some(Value::String(expected)));
        }
    }
}
