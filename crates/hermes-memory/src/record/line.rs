//! One line of a recording: what it must and may say, and what makes it unique.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

/// A line that was understood.
pub(super) struct Line {
    /// The message.
    pub(super) said: Said,
    /// The user it names.
    pub(super) user: Option<String>,
    /// What makes it unique, if it says so.
    pub(super) external_id: Option<String>,
    /// The tool whose answer it is, if it says so.
    pub(super) tool: Option<String>,
    /// The time as it was written: a message without one is the same message tomorrow.
    written_time: String,
}

/// What was said, by whom, where and when.
pub(super) struct Said {
    pub(super) session_id: String,
    pub(super) role: String,
    pub(super) speaker: Option<String>,
    pub(super) text: String,
    pub(super) caption: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) channel: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) project: Option<String>,
}

impl Line {
    /// Reads a line, or says what is wrong with it; keys it does not know are left alone.
    pub(super) fn parse(bytes: &[u8], zone: &TimeZone) -> Result<Line, String> {
        let text = std::str::from_utf8(bytes)
            .map_err(|why| format!("not UTF-8 at byte {}", why.valid_up_to() + 1))?;
        let object: Map<String, Value> =
            serde_json::from_str(text.trim()).map_err(|why| json_fault(&why))?;
        let text = string(&object, "text")?.unwrap_or_default();
        let caption = word(&object, "caption")?;
        if text.trim().is_empty() && caption.is_none() {
            return Err("`text` is missing or empty".to_owned());
        }
        let said = Said {
            session_id: session_of(&object)?.ok_or("`session_id` is missing or empty")?,
            role: role_of(&required(&object, "role")?),
            speaker: word(&object, "speaker")?,
            text,
            caption,
            at: object.get("timestamp").map(|at| time_of(at, zone)).transpose()?.flatten(),
            channel: word(&object, "channel")?,
            agent: word(&object, "agent")?,
            project: word(&object, "project")?,
        };
        Ok(Line {
            said,
            user: user_of(&object)?,
            external_id: word(&object, "external_id")?,
            tool: word(&object, "tool_name")?,
            written_time: object.get("timestamp").map(Value::to_string).unwrap_or_default(),
        })
    }

    /// The hash of everything that tells one message from another, for one user.
    pub(super) fn fingerprint(&self, user: i64) -> [u8; 32] {
        let said = &self.said;
        fingerprint_of(
            user,
            &[
                said.session_id.as_str(),
                &said.role,
                said.speaker.as_deref().unwrap_or_default(),
                &self.written_time,
                &said.text,
                said.caption.as_deref().unwrap_or_default(),
            ],
        )
    }
}

/// The hash of what tells one message of a user from another.
pub(super) fn fingerprint_of(user: i64, parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(user.to_le_bytes());
    for part in parts {
        // With its length, so that no two parts can be taken for two others.
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// The id of the message that occurs for the `occurrence`th time in one recording.
pub(super) fn id_of(fingerprint: &[u8; 32], occurrence: u32) -> String {
    let mut hash = Sha256::new();
    hash.update(fingerprint);
    hash.update(occurrence.to_le_bytes());
    let mut id = String::with_capacity(64);
    for byte in hash.finalize() {
        let _ = write!(id, "{byte:02x}");
    }
    id
}

pub(super) fn json_fault(why: &serde_json::Error) -> String {
    if why.is_data() { "not a JSON object".to_owned() } else { format!("not JSON: {why}") }
}

pub(super) fn required(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    word(object, key)?.ok_or_else(|| format!("`{key}` is missing or empty"))
}

/// The session a line or a turn names; one without a name, or with a name of several lines, is refused.
pub(super) fn session_of(object: &Map<String, Value>) -> Result<Option<String>, String> {
    let Some(id) = string(object, "session_id")? else { return Ok(None) };
    match session_fault(&id) {
        Some(why) => Err(format!("`session_id` {why}")),
        None => Ok(Some(id)),
    }
}

/// What is wrong with the name of a session, if something is.
pub(super) fn session_fault(id: &str) -> Option<&'static str> {
    if id.trim().is_empty() {
        return Some("is empty");
    }
    id.chars().any(char::is_control).then_some("contains a line break or another control character")
}

/// A text that means nothing when it is blank.
pub(super) fn word(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    Ok(string(object, key)?.filter(|text| !text.trim().is_empty()))
}

/// A text; whole numbers pass, since some programs number their sessions.
pub(super) fn string(object: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) if number.is_i64() || number.is_u64() => {
            Ok(Some(number.to_string()))
        }
        Some(_) => Err(format!("`{key}` is not a text")),
    }
}

/// The role under the name we keep it by.
pub(super) fn role_of(role: &str) -> String {
    let role = role.trim().to_lowercase();
    match role.as_str() {
        "human" => "user".to_owned(),
        "ai" | "agent" | "bot" | "model" => "assistant".to_owned(),
        "function" => "tool".to_owned(),
        _ => role,
    }
}

/// RFC 3339, a local time without a zone, or seconds since 1970.
pub(super) fn time_of(value: &Value, zone: &TimeZone) -> Result<Option<Timestamp>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Number(number) => number.as_f64().map_or_else(|| bad_time(value), from_seconds),
        Value::String(text) if text.trim().is_empty() => Ok(None),
        Value::String(text) => {
            from_text(text.trim(), zone).map_or_else(|| bad_time(value), from_ok)
        }
        _ => bad_time(value),
    }
}

fn from_ok(at: Timestamp) -> Result<Option<Timestamp>, String> {
    Ok(Some(at))
}

fn from_text(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at);
    }
    let local = text.parse::<DateTime>().ok()?;
    local.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp())
}

fn from_seconds(seconds: f64) -> Result<Option<Timestamp>, String> {
    /// Later than any message by three thousand years: the number counts milliseconds.
    const MILLISECONDS_ABOVE: f64 = 1e11;
    let milliseconds = if seconds.abs() > MILLISECONDS_ABOVE { seconds } else { seconds * 1000.0 };
    Timestamp::from_millisecond(milliseconds.round() as i64)
        .map(Some)
        .map_err(|_| format!("`timestamp` is out of range: {seconds}"))
}

fn bad_time<T>(value: &Value) -> Result<T, String> {
    let written: String = value.to_string().chars().take(60).collect();
    Err(format!("`timestamp` is not a date: {written}"))
}

/// The user a line names, if it is a name that every other command can be given too.
fn user_of(object: &Map<String, Value>) -> Result<Option<String>, String> {
    let Some(name) = word(object, "user")? else { return Ok(None) };
    match name.trim().parse::<hermes_home::UserId>() {
        Ok(_) => Ok(Some(name.trim().to_owned())),
        Err(why) => Err(format!("`user`: {why}")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Result<Line, String> {
        Line::parse(text.as_bytes(), &TimeZone::fixed(jiff::tz::offset(2)))
    }

    fn with_time(time: &str) -> Result<Option<i64>, String> {
        let line = format!(r#"{{"session_id":"s","role":"user","text":"x","timestamp":{time}}}"#);
        parse(&line).map(|line| line.said.at.map(Timestamp::as_second))
    }

    fn fault(text: &str) -> String {
        parse(text).err().unwrap_or_default()
    }

    #[test]
    fn times_may_have_a_zone_or_none_or_be_numbers() {
        assert_eq!(with_time(r#""2024-05-01T10:00:00Z""#), Ok(Some(1_714_557_600)));
        assert_eq!(with_time(r#""2024-05-01T12:00:00+02:00""#), Ok(Some(1_714_557_600)));
        assert_eq!(with_time(r#""2024-05-01 12:00:00""#), Ok(Some(1_714_557_600)));
        assert_eq!(with_time(r#""2024-05-01T12:00""#), Ok(Some(1_714_557_600)));
        assert_eq!(with_time("1714557600.25"), Ok(Some(1_714_557_600)));
        assert_eq!(with_time("1714557600000"), Ok(Some(1_714_557_600)));
        assert_eq!(with_time("null"), Ok(None));
        assert!(with_time(r#""yesterday""#).is_err());
        assert!(with_time("1e300").is_err());
        assert!(with_time("true").is_err());
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        assert!(fault(r#"{"role":"user","text":"x"}"#).contains("session_id"));
        assert!(fault(r#"{"session_id":"s","text":"x"}"#).contains("role"));
        assert!(fault(r#"{"session_id":"s","role":"user","text":" "}"#).contains("text"));
        assert!(fault(r#"{"session_id":"s","role":"user","text":["x"]}"#).contains("text"));
        assert_eq!(fault("[1]"), "not a JSON object");
        assert!(fault("{").starts_with("not JSON"));
        assert!(
            Line::parse(b"{\"a\":\xff}", &TimeZone::UTC).is_err_and(|why| why.contains("UTF-8"))
        );
    }

    #[test]
    fn a_picture_without_words_is_a_message_and_unknown_keys_do_no_harm() {
        let text = r#"{"session_id":7,"role":"Human","caption":"a dog","mood":{"x":1}}"#;
        let line = parse(text).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!((line.said.session_id.as_str(), line.said.role.as_str()), ("7", "user"));
    }

    #[test]
    fn equal_lines_differ_by_their_occurrence_and_users_by_their_number() {
        let line = parse(r#"{"session_id":"s","role":"user","text":"ok\u0000"}"#)
            .unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(line.said.text, "ok\0");
        let fingerprint = line.fingerprint(1);
        assert_eq!(fingerprint, line.fingerprint(1));
        assert_ne!(fingerprint, line.fingerprint(2));
        assert_ne!(id_of(&fingerprint, 0), id_of(&fingerprint, 1));
        assert_eq!(id_of(&fingerprint, 0).len(), 64);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_line_or_a_reason(bytes in any::<Vec<u8>>()) {
            let _ = Line::parse(&bytes, &TimeZone::UTC);
        }
    }
}
