//! Times in the database: seconds since 1970 as a number with fractions.

use jiff::Timestamp;

/// The column value of a time.
pub(crate) fn to_seconds(time: Timestamp) -> f64 {
    // Microseconds since 1970 are exact in 53 bits until the year 2255.
    time.as_microsecond() as f64 / 1e6
}

/// The time of a column value; a value no calendar knows becomes the nearest one it does.
pub(crate) fn from_seconds(seconds: f64) -> Timestamp {
    let micros = (seconds * 1e6).round();
    let nearest = if seconds < 0.0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_microsecond(micros as i64).unwrap_or(nearest)
}

/// The time in a text column, as SQLite's own date functions read it.
pub(crate) fn to_text(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string()
}

/// Seconds since 1970 from text such as `2026-06-01T12:00:00Z`; without a zone it is UTC.
pub(crate) fn parse_seconds(text: &str) -> Option<f64> {
    if let Ok(number) = text.trim().parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let zoned = text.parse::<Timestamp>();
    let civil = || {
        let local = text.parse::<jiff::civil::DateTime>().ok()?;
        local.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    };
    zoned.ok().or_else(civil).map(to_seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_reads_back_to_the_microsecond() {
        let time: Timestamp = "2026-06-01T12:30:45.123456Z".parse().unwrap();
        assert_eq!(from_seconds(to_seconds(time)), time);
    }

    #[test]
    fn text_times_are_read_with_and_without_a_zone() {
        let check = |text: &str, expected: Option<f64>| assert_eq!(parse_seconds(text), expected);
        check("2026-06-01T12:00:00Z", Some(1_780_315_200.0));
        check("2026-06-01 12:00:00", Some(1_780_315_200.0));
        check("2026-06-01T14:00:00.5+02:00", Some(1_780_315_200.5));
        check("1780315200.25", Some(1_780_315_200.25));
        check("yesterday", None);
        check("NaN", None);
    }

    #[test]
    fn numbers_no_calendar_knows_do_not_panic() {
        for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            from_seconds(seconds);
        }
    }
}
