//! What a server says went wrong, and whether it may pass.

use crate::retry;
use serde_json::Value;

/// What a server says went wrong, in one of the shapes servers use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// What it says, for people.
    pub(crate) message: String,
    /// What it says, for programs: types and codes, joined by spaces.
    pub(crate) codes: String,
    /// The HTTP status it names, where it has none of its own.
    pub(crate) status: Option<u16>,
}

/// What a complaint means for the next try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may pass.
    Passing,
    /// The account is empty.
    NoCredit,
    /// The request does not fit.
    TooLong,
    /// It will be the same next time.
    Final,
}

/// Types of errors with the status they stand for.
const TYPES: &[(&str, u16)] = &[
    ("invalid_request_error", 400),
    ("authentication_error", 401),
    ("billing_error", 402),
    ("insufficient_quota", 402),
    ("permission_error", 403),
    ("not_found_error", 404),
    ("request_too_large", 413),
    ("rate_limit", 429),
    ("api_error", 500),
    ("server_error", 500),
    ("timeout_error", 504),
    ("overloaded", 529),
];

/// How servers say that a request does not fit.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "exceed_context_size",
    "prompt is too long",
    "maximum context length",
    "context window",
    "exceeds the context",
    "exceeds the available context",
    "context length",
    "request_too_large",
    "too many input tokens",
];

impl Complaint {
    /// The complaint in a JSON object, if it is one.
    pub(crate) fn of_json(body: &[u8]) -> Option<Complaint> {
        Complaint::of_value(&serde_json::from_slice(body).ok()?)
    }

    /// The complaint in a body of any shape.
    pub(crate) fn of_body(body: &[u8]) -> Complaint {
        let as_it_is = || Complaint {
            message: String::from_utf8_lossy(body).into_owned(),
            ..Complaint::default()
        };
        Complaint::of_json(body).unwrap_or_else(as_it_is)
    }

    /// The complaint in a value, if it is one.
    pub(crate) fn of_value(body: &Value) -> Option<Complaint> {
        let places = ["/error/message", "/error", "/message", "/detail"];
        let found = places.iter().find_map(|place| body.pointer(place)?.as_str());
        let code = |place: &str| match body.pointer(place) {
            Some(Value::String(code)) => Some(code.clone()),
            Some(Value::Number(code)) => Some(code.to_string()),
            _ => None,
        };
        let codes: Vec<String> =
            ["/error/type", "/error/code"].into_iter().filter_map(code).collect();
        let message = match found {
            Some(message) => message.to_owned(),
            None if body.get("error").is_some_and(Value::is_object) => codes.join(" "),
            None => return None,
        };
        let number = codes.iter().find_map(|code| code.parse::<u16>().ok());
        let named = |(name, status): &(&str, u16)| {
            codes.iter().any(|code| code.contains(name)).then_some(*status)
        };
        let status = number.or_else(|| TYPES.iter().find_map(named));
        Some(Complaint { message, codes: codes.join(" "), status })
    }

    /// What it means, together with a status.
    pub(crate) fn verdict(&self, status: u16) -> Verdict {
        let said = format!("{} {}", self.codes, self.message).to_lowercase();
        let is_too_long = TOO_LONG.iter().any(|words| said.contains(words));
        match status {
            402 => Verdict::NoCredit,
            429 if self.codes.contains("insufficient_quota") => Verdict::NoCredit,
            400 if said.contains("credit balance is too low") => Verdict::NoCredit,
            413 => Verdict::TooLong,
            400 | 422 | 500 if is_too_long => Verdict::TooLong,
            _ if retry::is_passing(status) => Verdict::Passing,
            _ => Verdict::Final,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Complaint {
        Complaint::of_json(text.as_bytes()).unwrap()
    }

    #[test]
    fn complaints_are_read_in_the_shapes_servers_use() {
        let anthropic =
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        assert_eq!(
            (read(anthropic).status, read(anthropic).message.as_str()),
            (Some(529), "Overloaded")
        );
        assert_eq!(read(r#"{"error":{"code":402,"message":"no credits"}}"#).status, Some(402));
        assert_eq!(read(r#"{"error":"model not found"}"#).message, "model not found");
        assert_eq!(read(r#"{"error":{"type":"api_error"}}"#).message, "api_error");
        assert_eq!(Complaint::of_json(br#"{"choices":[]}"#), None);
        assert_eq!(Complaint::of_body(b"<html>").message, "<html>");
    }

    #[test]
    fn a_request_that_is_too_long_is_told_from_other_bad_requests() {
        for text in [
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            r#"{"error":{"code":"context_length_exceeded","message":"x"}}"#,
            r#"{"error":{"type":"exceed_context_size_error","message":"x"}}"#,
            r#"{"error":"the input exceeds the context length of this model"}"#,
        ] {
            assert_eq!(read(text).verdict(400), Verdict::TooLong, "{text}");
        }
        assert_eq!(read(r#"{"error":"bad temperature"}"#).verdict(400), Verdict::Final);
        assert_eq!(read(r#"{"error":"x"}"#).verdict(413), Verdict::TooLong);
    }

    #[test]
    fn an_empty_account_is_not_asked_again() {
        let quota = read(r#"{"error":{"code":"insufficient_quota","message":"x"}}"#);
        assert_eq!(quota.verdict(429), Verdict::NoCredit);
        assert_eq!(read(r#"{"error":"x"}"#).verdict(402), Verdict::NoCredit);
        assert_eq!(read(r#"{"error":"x"}"#).verdict(429), Verdict::Passing);
    }
}
