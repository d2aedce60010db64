//! Times as people type and read them: 5h, 2d, 1w, a date; shown in the user's own zone.

use std::cell::Cell;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::problem::Problem;

/// The moment this command was started: the one place where the clock is read.
#[expect(clippy::disallowed_methods, reason = "the program reads the clock once, here")]
pub fn now() -> Timestamp {
    PRETENDED.get().unwrap_or_else(Timestamp::now)
}

thread_local! {
    /// The time of what is told about the past, in this thread.
    static PRETENDED: Cell<Option<Timestamp>> = const { Cell::new(None) };
}

/// Does something as if it were another time; only a made-up past is told like that.
pub fn at<T>(moment: Timestamp, deed: impl FnOnce() -> T) -> T {
    let before = PRETENDED.replace(Some(moment));
    let done = deed();
    PRETENDED.set(before);
    done
}

/// A length of time like `30m`, `5h`, `2d`, `1w`, `6mo` (30 days each) or `1y` (365 days).
pub fn parse_length(text: &str) -> Result<SignedDuration, Problem> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit()).unwrap_or(trimmed.len());
    let (digits, unit) = trimmed.split_at(split);
    let hours = match unit {
        "m" | "min" => None,
        "h" => Some(1),
        "d" => Some(24),
        "w" => Some(24 * 7),
        "mo" => Some(24 * 30),
        "y" => Some(24 * 365),
        _ => return Err(not_a_length(text)),
    };
    let count: i64 = digits.parse().map_err(|_| not_a_length(text))?;
    let seconds = match hours {
        None => count.checked_mul(60),
        Some(hours) => count.checked_mul(hours * 3600),
    };
    let limit = SignedDuration::from_hours(24 * 365 * 1000);
    seconds
        .map(SignedDuration::from_secs)
        .filter(|length| *length <= limit)
        .ok_or_else(|| not_a_length(text))
}

/// A moment: a length of time ago, a date (its beginning), a date with a time, or the beginning of a
/// time in words: `yesterday`, `last tuesday`, `last week`, `3 days ago`.
pub fn parse_moment(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, Problem> {
    let text = text.trim();
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    // A date alone is read as its midnight.
    if let Ok(civil) = text.parse::<DateTime>() {
        return civil
            .to_zoned(zone.clone())
            .map(|zoned| zoned.timestamp())
            .map_err(|_| not_a_moment(text));
    }
    let Ok(length) = parse_length(text) else {
        let named = hermes_memory::when::asked_about(text, now, zone);
        return named.map(|time| time.start).ok_or_else(|| not_a_moment(text));
    };
    now.checked_sub(length).map_err(|_| not_a_moment(text))
}

/// The moment for a stored number of seconds; nonsense numbers have none.
pub fn from_seconds(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_microsecond((seconds * 1e6) as i64).ok().filter(|_| seconds.is_finite())
}

/// Date and time to the minute, in the given zone.
pub fn minute(moment: Timestamp, zone: &TimeZone) -> String {
    moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

fn not_a_length(text: &str) -> Problem {
    Problem::usage(format!("{text:?} is not a duration")).hint("write it like 5h, 2d or 1w")
}

fn not_a_moment(text: &str) -> Problem {
    Problem::usage(format!("{text:?} is not a time")).hint(
        "write how long ago (5h, 2d, 1w), a date (2026-05-31, 2026-05-31T14:00) or \"last \
             tuesday\"",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_and_nonsense_is_refused() {
        let hours = |text: &str| parse_length(text).map(|length| length.as_hours()).ok();
        assert_eq!(hours("5h"), Some(5));
        assert_eq!(hours("2d"), Some(48));
        assert_eq!(hours("1w"), Some(168));
        assert_eq!(parse_length("30m").unwrap().as_mins(), 30);
        for bad in ["", "5", "h", "-2d", "2 d", "5x", "99999999999999999999d", "9999999y"] {
            assert!(parse_length(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_moment_is_an_age_a_date_or_a_time_in_the_users_zone() {
        let now: Timestamp = "2026-06-15T12:00:00Z".parse().unwrap();
        let zone = TimeZone::get("Europe/London").unwrap();
        let read = |text: &str| parse_moment(text, now, &zone).unwrap().to_string();
        assert_eq!(read("2d"), "2026-06-13T12:00:00Z");
        assert_eq!(read("2026-06-01"), "2026-05-31T23:00:00Z");
        assert_eq!(read("2026-06-01T10:00"), "2026-06-01T09:00:00Z");
        assert_eq!(read("2026-06-01T10:00:00Z"), "2026-06-01T10:00:00Z");
        assert_eq!(read("yesterday"), "2026-06-13T23:00:00Z");
        assert_eq!(read("Last Tuesday"), "2026-06-08T23:00:00Z");
        assert_eq!(read("last week"), "2026-06-07T23:00:00Z");
        assert!(parse_moment("yesterday-ish", now, &zone).is_err());
    }
}
