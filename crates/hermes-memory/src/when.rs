//! The time in the past that a text names: `last Tuesday`, `in May`, `3 days ago`, `2024-05-01`.

use std::ops::Range;

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

use crate::chunk::MONTHS;

/// The time a text names, whole days where the reader lives; none if it names none in the past.
pub fn asked_about(text: &str, now: Timestamp, zone: &TimeZone) -> Option<Range<Timestamp>> {
    let today = now.to_zoned(zone.clone()).date();
    let lower = text.to_lowercase();
    let is_cut = |c: char| !(c.is_alphanumeric() || c == '-');
    let words: Vec<&str> = lower.split(is_cut).filter(|word| !word.is_empty()).collect();
    let days = (0..words.len()).find_map(|place| days_at(&words[place..], today))?;
    let midnight = |day: Date| day.to_zoned(zone.clone()).ok().map(|zoned| zoned.timestamp());
    let (start, end) = (midnight(days.start)?, midnight(days.end)?);
    (start <= now).then_some(start..end)
}

/// The days that the first words name.
fn days_at(words: &[&str], today: Date) -> Option<Range<Date>> {
    let first = *words.first()?;
    let second = words.get(1).copied().unwrap_or_default();
    match first {
        "today" | "heute" | "hoy" => return one_day(today),
        "yesterday" | "gestern" | "hier" | "ayer" => return one_day(back(today, 1.day())?),
        "last" | "letzte" | "letzten" | "past" => return last(second, today),
        "this" => return this(second, today),
        _ => {}
    }
    if words.get(2) == Some(&"ago") {
        return ago(first.parse().ok()?, second, today);
    }
    if first.len() == 10
        && let Ok(day) = first.parse::<Date>()
    {
        return one_day(day);
    }
    if first == "on" {
        return weekday(second).and_then(|day| one_day(day_before(today, day)?));
    }
    named_date(words, today)
}

fn last(unit: &str, today: Date) -> Option<Range<Date>> {
    if let Some(day) = weekday(unit) {
        return one_day(day_before(today, day)?);
    }
    let this = this(unit, today)?;
    let length = if unit.starts_with("week") || unit.starts_with("woche") {
        1.week()
    } else if unit.starts_with("month") || unit.starts_with("monat") {
        1.month()
    } else {
        1.year()
    };
    Some(back(this.start, length)?..this.start)
}

fn this(unit: &str, today: Date) -> Option<Range<Date>> {
    let start = match unit {
        "week" | "woche" => back(today, i64::from(today.weekday().to_monday_zero_offset()).days())?,
        "month" | "monat" => today.first_of_month(),
        "year" | "jahr" => today.first_of_year(),
        _ => return None,
    };
    Some(start..today.checked_add(1.day()).ok()?)
}

fn ago(count: i64, unit: &str, today: Date) -> Option<Range<Date>> {
    let count = (0..=10_000).contains(&count).then_some(count)?;
    match unit.trim_end_matches('s') {
        "day" => one_day(back(today, count.days())?),
        "week" => {
            let start = back(this("week", today)?.start, count.weeks())?;
            Some(start..start.checked_add(1.week()).ok()?)
        }
        "month" => {
            let start = back(today.first_of_month(), count.months())?;
            Some(start..start.checked_add(1.month()).ok()?)
        }
        _ => None,
    }
}

/// `3 May 2024`, `May 3rd`, `in May`, `in May 2024`; without a year the latest one.
fn named_date(words: &[&str], today: Date) -> Option<Range<Date>> {
    let number = |place: usize| -> Option<i8> {
        let word = words.get(place)?;
        word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
    };
    let year = |place: usize| -> Option<i16> {
        words.get(place)?.parse().ok().filter(|year| (1970..=9000).contains(year))
    };
    if let (Some(day), Some(month)) = (number(0), words.get(1).and_then(|word| month_of(word))) {
        return one_day(latest(year(2), month, day, today)?);
    }
    if words[0] == "in" {
        let month = words.get(1).and_then(|word| month_of(word))?;
        let start = latest(year(2), month, 1, today)?;
        return Some(start..start.checked_add(1.month()).ok()?);
    }
    let (month, day) = (month_of(words[0])?, number(1)?);
    one_day(latest(year(2), month, day, today)?)
}

fn latest(year: Option<i16>, month: i8, day: i8, today: Date) -> Option<Date> {
    if let Some(year) = year {
        return Date::new(year, month, day).ok();
    }
    let this_year = Date::new(today.year(), month, day).ok().filter(|day| *day <= today);
    this_year.or_else(|| Date::new(today.year() - 1, month, day).ok())
}

fn one_day(day: Date) -> Option<Range<Date>> {
    Some(day..day.checked_add(1.day()).ok()?)
}

fn back(day: Date, length: Span) -> Option<Date> {
    day.checked_sub(length).ok()
}

/// The latest such day of the week before today.
fn day_before(today: Date, wanted: Weekday) -> Option<Date> {
    today.nth_weekday(-1, wanted).ok()
}

fn weekday(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" | "montag" => Weekday::Monday,
        "tuesday" | "dienstag" => Weekday::Tuesday,
        "wednesday" | "mittwoch" => Weekday::Wednesday,
        "thursday" | "donnerstag" => Weekday::Thursday,
        "friday" | "freitag" => Weekday::Friday,
        "saturday" | "samstag" => Weekday::Saturday,
        "sunday" | "sonntag" => Weekday::Sunday,
        _ => return None,
    })
}

/// The number of a month by its English name or the first three letters of it.
pub(crate) fn month_of(word: &str) -> Option<i8> {
    let is_month = |name: &&str| {
        name.eq_ignore_ascii_case(word)
            || (word.len() == 3
                && name.get(..3).is_some_and(|short| short.eq_ignore_ascii_case(word)))
    };
    MONTHS.iter().position(is_month).and_then(|at| i8::try_from(at + 1).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Thursday, 15 October 2026.
    fn asked(text: &str) -> Option<(String, String)> {
        let now: Timestamp = "2026-10-15T12:00:00Z".parse().unwrap();
        let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date().to_string();
        asked_about(text, now, &TimeZone::UTC).map(|time| (day(time.start), day(time.end)))
    }

    #[test]
    fn times_in_the_past_are_understood() {
        for (text, start, end) in [
            ("What did you do last Tuesday and why?", "2026-10-13", "2026-10-14"),
            ("what happened yesterday", "2026-10-14", "2026-10-15"),
            ("what did you do on Thursday", "2026-10-08", "2026-10-09"),
            ("summarise last week", "2026-10-05", "2026-10-12"),
            ("what went wrong this month", "2026-10-01", "2026-10-16"),
            ("3 days ago you said", "2026-10-12", "2026-10-13"),
            ("the failure of 2026-05-01", "2026-05-01", "2026-05-02"),
            ("what was decided on 3 May 2024?", "2024-05-03", "2024-05-04"),
            ("what was decided on December 3rd", "2025-12-03", "2025-12-04"),
            ("everything in May", "2026-05-01", "2026-06-01"),
            ("last month", "2026-09-01", "2026-10-01"),
        ] {
            assert_eq!(asked(text), Some((start.to_owned(), end.to_owned())), "{text}");
        }
    }

    #[test]
    fn other_tasks_ask_about_no_time() {
        for text in
            ["write a haiku", "what may I do", "see 2027-05-01", "the last one", "", "5 may"]
        {
            let is_date = text == "5 may";
            assert_eq!(asked(text).is_some(), is_date, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_understood_or_not_and_never_fails(text in any::<String>(), seconds in 0_i64..4_000_000_000) {
            let now = Timestamp::from_second(seconds).unwrap();
            let found = asked_about(&text, now, &TimeZone::UTC);
            prop_assert!(found.is_none_or(|time| time.start < time.end && time.start <= now));
        }
    }
}
