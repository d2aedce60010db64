//! What a bucket answers when something goes wrong, in plain words.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::{rfc2822, strtime};

use super::xml;
use crate::Error;

/// What mends keys that are missing or wrong.
pub(super) const SET_KEYS: &str =
    "put AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY into the home's .env";

/// A request that did not go well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failed {
    /// The status of the answer; 0: there was none.
    pub(super) status: u16,
    /// What the service calls it, such as `NoSuchKey`.
    pub(super) code: String,
    /// What is the matter, in words.
    pub(super) why: String,
    /// Whether the same request may go well in a moment.
    pub(super) passing: bool,
    /// Whether trying again later may help.
    pub(super) again: bool,
    /// How long the service wants to be left alone.
    pub(super) wait: Option<Duration>,
    /// What mends it.
    pub(super) hint: Option<String>,
}

/// An answer that says no.
pub(super) struct Answer<'a> {
    /// Its status.
    pub(super) status: u16,
    /// What it says.
    pub(super) body: &'a str,
    /// Its `date`.
    pub(super) date: Option<&'a str>,
    /// Its `retry-after`.
    pub(super) retry_after: Option<&'a str>,
    /// The region the bucket is in, if it says so.
    pub(super) region: Option<&'a str>,
    /// When the request was signed, by the clock of this host.
    pub(super) signed: Option<&'a str>,
}

impl Failed {
    /// The error that it is.
    pub(super) fn error(self, doing: &'static str, place: &str) -> Error {
        let Failed { why, again, hint, .. } = self;
        Error::Remote { doing, place: place.to_owned(), why, again, hint }
    }

    /// No answer came at all.
    pub(super) fn no_answer(error: &ureq::Error) -> Failed {
        let (why, passing) = match error {
            ureq::Error::HostNotFound => ("the host name cannot be resolved".to_owned(), false),
            ureq::Error::Timeout(_) => ("it did not respond in time".to_owned(), true),
            ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                ("the connection was refused: nothing listens there".to_owned(), false)
            }
            ureq::Error::Io(error) => (format!("the connection was interrupted: {error}"), true),
            ureq::Error::ConnectionFailed => ("the connection failed".to_owned(), true),
            ureq::Error::Protocol(_) => {
                ("the connection was interrupted during a response".to_owned(), true)
            }
            // Others could show the address, which is signed.
            ureq::Error::Rustls(error) => {
                (format!("its certificate is not trusted: {error}"), false)
            }
            _ => ("the request could not be sent".to_owned(), false),
        };
        let (code, hint) = (String::new(), None);
        Failed { status: 0, code, why: tidy(&why), passing, again: true, wait: None, hint }
    }

    /// The service said no.
    pub(super) fn answered(answer: &Answer<'_>) -> Failed {
        let code = xml::text_of(answer.body, "Code").unwrap_or_default();
        let message = xml::text_of(answer.body, "Message").unwrap_or_default();
        let passing = matches!(answer.status, 408 | 429 | 500 | 502 | 503 | 504)
            || matches!(code.as_str(), "SlowDown" | "InternalError" | "RequestTimeout");
        let (why, hint) = match skew(answer) {
            Some((why, hint)) => (why, Some(hint)),
            None => words(answer, &code, &message),
        };
        let wait = answer.retry_after.and_then(|text| text.trim().parse().ok());
        let wait = wait.map(|seconds: u64| Duration::from_secs(seconds.min(30)));
        Failed { status: answer.status, code, why, passing, again: passing, wait, hint }
    }
}

fn words(answer: &Answer<'_>, code: &str, message: &str) -> (String, Option<String>) {
    let keys = Some(SET_KEYS.to_owned());
    match (code, answer.status) {
        ("InvalidAccessKeyId", _) => ("the access key is unknown there".to_owned(), keys),
        ("SignatureDoesNotMatch", _) => {
            ("the secret key does not belong to the access key".to_owned(), keys)
        }
        ("InvalidToken" | "ExpiredToken", _) => (
            "the session token has expired".to_owned(),
            Some("set a new AWS_SESSION_TOKEN".to_owned()),
        ),
        ("NoSuchBucket", _) => ("there is no such bucket".to_owned(), None),
        ("NoSuchKey", _) => ("there is no such file".to_owned(), None),
        (
            "PermanentRedirect"
            | "AuthorizationHeaderMalformed"
            | "IllegalLocationConstraintException",
            _,
        )
        | (_, 301 | 307) => {
            let region = answer.region.map(str::to_owned);
            let region = region.or_else(|| xml::text_of(answer.body, "Region"));
            let hint = region.map(|region| format!("add &region={} to the target", tidy(&region)));
            ("the bucket is in another region".to_owned(), hint)
        }
        ("AccessDenied" | "AllAccessDisabled", _) | (_, 401 | 403) if message.is_empty() => {
            ("these keys have no permission for that".to_owned(), None)
        }
        ("AccessDenied", _) => {
            (format!("these keys have no permission for that: {}", tidy(message)), None)
        }
        ("SlowDown", _) | (_, 429) => ("it is limiting requests; try again later".to_owned(), None),
        ("", status) => (format!("it responded with status {status}"), None),
        _ => (tidy(&format!("{code}: {message}")), None),
    }
}

/// A clock that is wrong, told by the service or seen by its own `date`.
fn skew(answer: &Answer<'_>) -> Option<(String, String)> {
    let told = answer.body.contains("RequestTimeTooSkewed");
    let theirs = answer.date.and_then(|date| rfc2822::parse(date).ok()).map(|at| at.timestamp());
    let ours = answer.signed.and_then(signed_at);
    let apart = theirs.zip(ours).map(|(theirs, ours)| ours.as_second() - theirs.as_second());
    let hint = "set the clock of this host, for example with `timedatectl set-ntp true`".to_owned();
    match apart {
        Some(seconds) if answer.status == 403 && seconds.abs() > 300 => {
            let side = if seconds > 0 { "ahead of" } else { "behind" };
            let minutes = seconds.abs() / 60;
            Some((
                format!("the clock of this host is {minutes} minutes {side} the server's clock"),
                hint,
            ))
        }
        _ if told => Some((
            "the clock of this host differs too much from the server's clock".to_owned(),
            hint,
        )),
        _ => None,
    }
}

/// `20261116T081500Z`
fn signed_at(text: &str) -> Option<Timestamp> {
    let at = strtime::parse("%Y%m%dT%H%M%SZ", text).ok()?.to_datetime().ok()?;
    Some(at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp())
}

/// One short line without control characters.
pub(super) fn tidy(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    words.join(" ").chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer<'_> {
        let (date, retry_after, region, signed) = (None, None, None, None);
        Answer { status, body, date, retry_after, region, signed }
    }

    fn complaint(code: &str) -> String {
        format!(
            "<Error><Code>{code}</Code><Message>because\n\u{7}so</Message><Region>eu-1</Region></Error>"
        )
    }

    #[test]
    fn what_a_bucket_answers_is_told_in_words() {
        for (status, code, why, hint) in [
            (403, "InvalidAccessKeyId", "the access key is unknown", ".env"),
            (403, "SignatureDoesNotMatch", "does not belong to the access key", ".env"),
            (403, "AccessDenied", "no permission for that: because so", ""),
            (404, "NoSuchBucket", "no such bucket", ""),
            (301, "PermanentRedirect", "another region", "region=eu-1"),
            (400, "EntityTooSmall", "EntityTooSmall: because so", ""),
            (403, "RequestTimeTooSkewed", "clock", "timedatectl"),
        ] {
            let failed = Failed::answered(&answer(status, &complaint(code)));
            assert!(failed.why.contains(why), "{failed:?}");
            assert!(failed.hint.clone().unwrap_or_default().contains(hint), "{failed:?}");
            assert!(!failed.passing, "{failed:?}");
        }
        assert!(Failed::answered(&answer(403, "")).why.contains("no permission"));
        assert!(Failed::answered(&answer(418, "<html>")).why.contains("418"));
    }

    #[test]
    fn what_passes_is_known_as_such_and_waits_are_bounded() {
        for (status, code) in [(503, "SlowDown"), (500, "InternalError"), (429, ""), (502, "")] {
            assert!(Failed::answered(&answer(status, &complaint(code))).passing, "{status} {code}");
        }
        let slow = Answer { retry_after: Some("86400"), ..answer(503, "") };
        assert_eq!(Failed::answered(&slow).wait, Some(Duration::from_secs(30)));
    }

    #[test]
    fn a_wrong_clock_is_seen_by_the_date_of_the_answer() {
        let complaint = complaint("AccessDenied");
        let late = Answer {
            date: Some("Mon, 16 Nov 2026 08:00:00 GMT"),
            signed: Some("20261116T093000Z"),
            ..answer(403, &complaint)
        };
        let failed = Failed::answered(&late);
        assert_eq!(failed.why, "the clock of this host is 90 minutes ahead of the server's clock");
        let right = Answer { signed: Some("20261116T080100Z"), ..late };
        assert!(Failed::answered(&right).why.contains("no permission for that"));
    }
}
