//! The rules of a place as text: `last:30,daily:7,within:1y6m14d3h`.

use crate::retention::{Length, Policy, Within};
use crate::{Error, Result};

/// Reads rules such as `last:30,monthly:12`; each may come once.
pub fn policy(text: &str) -> Result<Policy> {
    let mut policy = Policy::default();
    let mut seen: Vec<&str> = Vec::new();
    for rule in text.split(',').map(str::trim) {
        let (name, value) = rule
            .split_once(':')
            .ok_or_else(|| bad(text, format!("{rule:?} is no rule such as last:14")))?;
        if seen.contains(&name) {
            return Err(bad(text, format!("{name} comes twice")));
        }
        seen.push(name);
        set(&mut policy, name, value).map_err(|why| bad(text, why))?;
    }
    if policy == Policy::default() {
        return Err(bad(text, "it would keep nothing".to_owned()));
    }
    Ok(policy)
}

fn set(policy: &mut Policy, name: &str, value: &str) -> Result<(), String> {
    let field = match name {
        "last" => &mut policy.last,
        "hourly" => &mut policy.hourly,
        "daily" => &mut policy.daily,
        "weekly" => &mut policy.weekly,
        "monthly" => &mut policy.monthly,
        "yearly" => &mut policy.yearly,
        "within" => {
            policy.within = Some(Within(length(value)?));
            return Ok(());
        }
        _ => {
            return Err(format!(
                "there is no rule {name:?}, only last, hourly, daily, weekly, monthly, yearly, within"
            ));
        }
    };
    *field = value.parse().map_err(|_| format!("{name} wants a number, not {value:?}"))?;
    Ok(())
}

/// Reads a span such as `30d` or `1y6m14d3h`: each unit at most once, from the longest to the shortest.
fn length(text: &str) -> Result<Length, String> {
    let wrong = || format!("within wants a span such as 30d or 1y6m, not {text:?}");
    let mut length = Length::default();
    let mut rest = text;
    for (unit, field) in [
        ('y', &mut length.years),
        ('m', &mut length.months),
        ('d', &mut length.days),
        ('h', &mut length.hours),
    ] {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        if let Some(after) = after.strip_prefix(unit) {
            *field = number.parse().map_err(|_| wrong())?;
            rest = after;
        }
    }
    if rest.is_empty() && length != Length::default() { Ok(length) } else { Err(wrong()) }
}

fn bad(text: &str, why: String) -> Error {
    Error::Setting { what: format!("keep={text}"), why }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_rule_is_read() {
        let read =
            policy("last:30,hourly:1,daily:7, weekly:4,monthly:12,yearly:2,within:30d").unwrap();
        let days = Length { days: 30, ..Length::default() };
        let expected = Policy {
            last: 30,
            hourly: 1,
            daily: 7,
            weekly: 4,
            monthly: 12,
            yearly: 2,
            within: Some(Within(days)),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn rules_that_make_no_sense_are_refused_with_the_reason() {
        for (text, why) in [
            ("", "no rule such as"),
            ("last", "no rule such as"),
            ("last:", "wants a number"),
            ("last:-1", "wants a number"),
            ("last:3,last:4", "comes twice"),
            ("lats:3", "no rule \"lats\""),
            ("last:0", "keep nothing"),
            ("within:", "wants a span"),
            ("within:0d", "wants a span"),
            ("within:3h2d", "wants a span"),
            ("within:12", "wants a span"),
        ] {
            let said = policy(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    proptest! {
        #[test]
        fn a_span_reads_back_as_what_was_written(
            years in 1u16..90, months in 0u16..90, days in 0u16..900, hours in 0u16..900,
        ) {
            let text = format!("{years}y{months}m{days}d{hours}h");
            prop_assert_eq!(length(&text), Ok(Length { years, months, days, hours }));
        }

        #[test]
        fn no_text_makes_it_fail_otherwise(text in "\\PC{0,40}") {
            let _ = policy(&text);
        }
    }
}
