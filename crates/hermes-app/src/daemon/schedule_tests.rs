//! When work comes, told in tables: calendars, zones, missed runs, clocks that jump.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::schedule::{Known, MOST_ATTEMPTS, back_off, next_run, parse};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// The next run, when the last one was at `last`.
fn after(rule: &str, last: &str, now: &str, zone_name: &str) -> String {
    let known = Known { last: Some(at(last)), planned: None };
    let rule = parse(rule).unwrap();
    next_run(&rule, known, at(now), &zone(zone_name)).unwrap().to_string()
}

#[test]
fn the_next_time_of_a_calendar() {
    for (rule, last, expected) in [
        ("30 3 * * *", "2026-05-01T00:00:00Z", "2026-05-01T03:30:00Z"),
        ("30 3 * * *", "2026-05-01T03:30:00Z", "2026-05-02T03:30:00Z"),
        ("30 3 * * 0", "2026-05-01T00:00:00Z", "2026-05-03T03:30:00Z"),
        ("30 3 * * 7", "2026-05-01T00:00:00Z", "2026-05-03T03:30:00Z"),
        ("30 3 1 * *", "2026-05-01T03:30:00Z", "2026-06-01T03:30:00Z"),
        ("*/15 * * * *", "2026-05-01T00:14:59Z", "2026-05-01T00:15:00Z"),
        ("5,50 9-17/4 * * 1-5", "2026-05-01T13:50:00Z", "2026-05-01T17:05:00Z"),
        ("0 0 29 2 *", "2026-05-01T00:00:00Z", "2028-02-29T00:00:00Z"),
        ("0 0 13 * 5", "2026-05-02T00:00:00Z", "2026-05-08T00:00:00Z"),
        ("every 15m", "2026-05-01T00:01:00Z", "2026-05-01T00:16:00Z"),
        ("every 2h", "2026-05-01T00:01:00Z", "2026-05-01T02:01:00Z"),
    ] {
        assert_eq!(after(rule, last, last, "UTC"), expected, "{rule} after {last}");
    }
}

#[test]
fn what_is_no_rule_is_refused() {
    for text in [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "*/0 * * * *",
        "a * * * *",
        "every",
        "every 0m",
        "every x",
    ] {
        assert_eq!(parse(text), None, "{text:?}");
    }
    let never = parse("0 0 31 2 *").unwrap();
    assert_eq!(
        next_run(&never, Known::default(), at("2026-05-01T00:00:00Z"), &TimeZone::UTC),
        None
    );
}

#[test]
fn the_hour_that_is_left_out_or_comes_twice_makes_one_run() {
    let berlin = "Europe/Berlin";
    for (rule, last, expected) in [
        // 02:30 does not exist on 29 March 2026: it is 03:30 summer time.
        ("30 2 * * *", "2026-03-28T12:00:00Z", "2026-03-29T01:30:00Z"),
        ("30 2 * * *", "2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z"),
        // 02:30 comes twice on 25 October 2026: the first counts.
        ("30 2 * * *", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"),
        ("30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"),
        // Work for every hour goes on through both.
        ("30 * * * *", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"),
        ("30 * * * *", "2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"),
        ("30 * * * *", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"),
        ("every 1h", "2026-10-25T00:10:00Z", "2026-10-25T01:10:00Z"),
    ] {
        assert_eq!(after(rule, last, last, berlin), expected, "{rule} after {last}");
    }
    // A zone that leaves out midnight itself.
    let cairo = after("0 0 * * *", "2026-04-23T12:00:00Z", "2026-04-23T12:00:00Z", "Africa/Cairo");
    assert_eq!(cairo, "2026-04-23T22:00:00Z");
}

#[test]
fn missed_runs_are_made_up_for_once() {
    let (rule, zone_name) = ("0 3 * * *", "UTC");
    let missed = after(rule, "2026-05-01T03:00:00Z", "2026-05-20T12:00:00Z", zone_name);
    assert!(at(&missed) <= at("2026-05-20T12:00:00Z"), "{missed} is due at once");
    let then = after(rule, "2026-05-20T12:00:00Z", "2026-05-20T12:00:00Z", zone_name);
    assert_eq!(then, "2026-05-21T03:00:00Z");
}

#[test]
fn a_clock_that_goes_back_neither_runs_twice_nor_stalls() {
    let daily = "0 3 * * *";
    for (last, now, expected) in [
        // Ran at three, then the clock was set back by ten minutes: not at three again.
        ("2026-05-02T03:00:00Z", "2026-05-02T02:50:00Z", "2026-05-03T03:00:00Z"),
        // Ran tomorrow: once is left out.
        ("2026-05-03T03:00:00Z", "2026-05-02T12:00:00Z", "2026-05-04T03:00:00Z"),
        // Ran in a year that has not come: that clock was wrong.
        ("2031-01-01T03:00:00Z", "2026-05-02T12:00:00Z", "2026-05-03T03:00:00Z"),
    ] {
        assert_eq!(after(daily, last, now, "UTC"), expected, "ran {last}, now {now}");
    }
    let every = after("every 15m", "2031-01-01T00:00:00Z", "2026-05-02T12:00:00Z", "UTC");
    assert_eq!(every, "2026-05-02T12:15:00Z");
}

#[test]
fn what_never_ran_keeps_its_plan_unless_that_is_too_late() {
    let rule = parse("0 3 * * *").unwrap();
    let now = at("2026-05-02T12:00:00Z");
    for (planned, expected) in [
        (None, "2026-05-03T03:00:00Z"),
        (Some("2026-05-02T03:00:00Z"), "2026-05-02T03:00:00Z"),
        (Some("2031-05-02T03:00:00Z"), "2026-05-03T03:00:00Z"),
    ] {
        let known = Known { last: None, planned: planned.map(at) };
        let next = next_run(&rule, known, now, &TimeZone::UTC).unwrap();
        assert_eq!(next, at(expected), "{planned:?}");
    }
}

#[test]
fn the_waits_grow_and_the_tries_end() {
    let waits: Vec<Option<i64>> =
        (0..=MOST_ATTEMPTS).map(|tries| back_off(tries).map(|wait| wait.as_mins())).collect();
    assert_eq!(waits, [Some(1), Some(1), Some(7), Some(49), Some(343), None]);
    assert_eq!(back_off(u32::MAX), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_next_run_is_after_the_last_and_never_far(
        rule in prop::sample::select(vec!["0 3 * * *", "*/7 * * * *", "30 2 * * 0", "every 15m"]),
        name in prop::sample::select(vec!["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"]),
        last in 1_000_000_000i64..2_000_000_000,
        ahead in -10_000_000i64..10_000_000,
    ) {
        let (rule, zone) = (parse(rule).unwrap(), zone(name));
        let last = Timestamp::from_second(last).unwrap();
        let now = Timestamp::from_second(last.as_second() + ahead).unwrap();
        let next = next_run(&rule, Known { last: Some(last), planned: None }, now, &zone).unwrap();
        prop_assert!(now < last || next > last);
        // A week and a day is the longest wait of these rules; twice that when the clock went back.
        prop_assert!(next.as_second() - now.as_second() <= 16 * 86_400);
    }
}
