//! When a nightly backup is due: the time of day, what was made, the clock and the zone. Pure.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// When backups are to be made.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// The time of day.
    pub time: Time,
    /// How much later than that one may come, by chance.
    pub delay: SignedDuration,
    /// Since when there is a schedule: what would have been due before is not missed.
    pub since: Timestamp,
}

/// The last backup that the schedule brought.
#[derive(Debug, Clone, Copy)]
pub struct Made {
    /// For which day.
    pub day: Date,
    /// When it was begun.
    pub at: Timestamp,
}

/// None is begun so soon after another, whatever its day.
const APART: SignedDuration = SignedDuration::from_hours(6);

impl Plan {
    /// When the next one is due; a time that is past means now.
    ///
    /// What was missed comes once. Every day has one, however often or seldom its hour comes, and a clock that is
    /// set back by a day or less brings none twice; one that is set back further brings the next as if it were new.
    pub fn next(&self, made: Option<Made>, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let mut day = self.day_of(now, zone)?;
        // Two days may be taken after a clock was set back, a third one be too close.
        for _ in 0..4 {
            let due = self.at(day, zone)?;
            let is_missed = due < self.since;
            let delayed = due.checked_add(self.delay_of(day)).ok()?;
            let is_taken = made.is_some_and(|made| {
                let is_close =
                    |since: SignedDuration| since >= SignedDuration::ZERO && since < APART;
                made.day == day
                    || day.tomorrow().ok() == Some(made.day)
                    || is_close(made.at.duration_until(delayed.max(now)))
            });
            if !is_taken && !is_missed {
                return Some(delayed);
            }
            day = day.tomorrow().ok()?;
        }
        None
    }

    /// The day whose backup is to be made at a moment: the last one whose time has come.
    pub fn day_of(&self, moment: Timestamp, zone: &TimeZone) -> Option<Date> {
        let mut day = moment.to_zoned(zone.clone()).date().tomorrow().ok()?;
        // A gap in the zone may move a time of yesterday to today.
        for _ in 0..4 {
            if self.at(day, zone)? <= moment {
                return Some(day);
            }
            day = day.yesterday().ok()?;
        }
        None
    }

    /// The same without chance.
    pub fn exactly(self) -> Plan {
        Plan { delay: SignedDuration::ZERO, ..self }
    }

    /// How much later the one of a day comes: another time on each machine and on each day.
    pub fn delay_of(&self, day: Date) -> SignedDuration {
        let seconds = self.delay.as_secs();
        if seconds <= 0 {
            return SignedDuration::ZERO;
        }
        let mut hasher = DefaultHasher::new();
        (self.since.as_nanosecond(), day.to_string()).hash(&mut hasher);
        SignedDuration::from_secs((hasher.finish() % seconds.unsigned_abs()) as i64)
    }

    /// A time that the zone leaves out is moved behind the gap; of one that comes twice the first counts.
    fn at(&self, day: Date, zone: &TimeZone) -> Option<Timestamp> {
        zone.to_ambiguous_timestamp(day.to_datetime(self.time)).compatible().ok()
    }
}

/// Reads a time of day as the settings have it.
pub fn time_of_day(text: &str) -> Option<Time> {
    Time::strptime("%H:%M", text).ok()
}

/// How far apart two backups of the schedule are.
pub const INTERVAL: SignedDuration = SignedDuration::from_hours(24);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn plan(time: &str, since: &str) -> Plan {
        let time = time_of_day(time).unwrap();
        Plan { time, delay: SignedDuration::ZERO, since: at(since) }
    }

    fn made(day: &str, moment: &str) -> Option<Made> {
        Some(Made { day: day.parse().unwrap(), at: at(moment) })
    }

    #[test]
    fn the_next_one_comes_at_its_time_and_a_missed_one_at_once() {
        let plan = plan("03:30", "2026-11-10T12:00:00Z");
        let utc = TimeZone::UTC;
        #[rustfmt::skip] // One case a row reads as a table.
        let cases = [
            // Nothing is missed on the day it is set up.
            (None, "2026-11-10T12:00:01Z", "2026-11-11T03:30:00Z"),
            (None, "2026-11-11T03:29:59Z", "2026-11-11T03:30:00Z"),
            (None, "2026-11-11T03:30:00Z", "2026-11-11T03:30:00Z"),
            // Switched off for days: one comes, for the last day.
            (None, "2026-11-15T09:00:00Z", "2026-11-15T03:30:00Z"),
            (made("2026-11-11", "2026-11-11T03:30:00Z"), "2026-11-15T09:00:00Z", "2026-11-15T03:30:00Z"),
            (made("2026-11-15", "2026-11-15T09:00:00Z"), "2026-11-15T09:10:00Z", "2026-11-16T03:30:00Z"),
            // A late one just before its next time counts for that as well.
            (made("2026-11-14", "2026-11-15T03:20:00Z"), "2026-11-15T03:30:00Z", "2026-11-16T03:30:00Z"),
            (made("2026-11-14", "2026-11-14T22:00:00Z"), "2026-11-15T03:30:00Z", "2026-11-16T03:30:00Z"),
            (made("2026-11-14", "2026-11-14T21:00:00Z"), "2026-11-15T03:30:00Z", "2026-11-15T03:30:00Z"),
            // The clock was set back: by hours, by a day, by a year.
            (made("2026-11-15", "2026-11-15T03:30:00Z"), "2026-11-15T01:00:00Z", "2026-11-16T03:30:00Z"),
            (made("2026-11-15", "2026-11-15T03:30:00Z"), "2026-11-14T12:00:00Z", "2026-11-16T03:30:00Z"),
            (made("2027-11-15", "2027-11-15T03:30:00Z"), "2026-11-15T12:00:00Z", "2026-11-15T03:30:00Z"),
        ];
        for (made, now, next) in cases {
            assert_eq!(plan.next(made, at(now), &utc), Some(at(next)), "{made:?} {now}");
        }
    }

    #[test]
    fn a_night_without_the_hour_and_one_with_two_of_it_have_one_each() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let plan = plan("02:30", "2026-01-01T00:00:00Z");
        // From 02:00 to 03:00 there is no time on the 29th of March.
        let before = made("2026-03-28", "2026-03-28T01:30:00Z");
        assert_eq!(
            plan.next(before, at("2026-03-29T00:00:00Z"), &zone),
            Some(at("2026-03-29T01:30:00Z"))
        );
        let then = made("2026-03-29", "2026-03-29T01:30:00Z");
        assert_eq!(
            plan.next(then, at("2026-03-29T02:00:00Z"), &zone),
            Some(at("2026-03-30T00:30:00Z"))
        );
        // On the 25th of October 02:30 comes twice.
        let before = made("2026-10-24", "2026-10-24T00:30:00Z");
        assert_eq!(
            plan.next(before, at("2026-10-25T00:00:00Z"), &zone),
            Some(at("2026-10-25T00:30:00Z"))
        );
        let first = made("2026-10-25", "2026-10-25T00:30:00Z");
        assert_eq!(
            plan.next(first, at("2026-10-25T01:30:00Z"), &zone),
            Some(at("2026-10-26T01:30:00Z"))
        );
    }

    #[test]
    fn a_delay_past_midnight_takes_no_other_day() {
        let mut plan = plan("23:55", "2026-11-10T12:00:00.123456789Z");
        plan.delay = SignedDuration::from_mins(30);
        let late = made("2026-11-15", "2026-11-16T00:10:00Z");
        let next = plan.next(late, at("2026-11-16T08:00:00Z"), &TimeZone::UTC).unwrap();
        assert!(next >= at("2026-11-16T23:55:00Z") && next < at("2026-11-17T00:25:00Z"), "{next}");
        let day = "2026-11-16".parse().unwrap();
        assert_eq!(plan.delay_of(day), plan.delay_of(day), "the same however often it is asked");
        assert_eq!(plan.exactly().delay_of(day), SignedDuration::ZERO);
    }

    #[test]
    fn times_of_day_are_read() {
        assert_eq!(time_of_day("03:30"), Some(Time::constant(3, 30, 0, 0)));
        assert_eq!(time_of_day("25:00"), None);
    }

    proptest! {
        /// Two weeks of a machine that is sometimes off, sometimes with a wrong clock, in zones with odd nights.
        #[test]
        fn each_day_has_at_most_one_and_a_machine_that_is_on_has_one(
            steps in proptest::collection::vec(1i64..200, 100..300), minute in 0i8..60, hour in 0i8..24, zone in 0u8..4,
        ) {
            let names = ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe"];
            let zone = TimeZone::get(names[usize::from(zone)]).unwrap();
            let since = at("2026-03-20T12:00:00Z");
            let plan = Plan { time: Time::constant(hour, minute, 0, 0), delay: SignedDuration::from_mins(20), since };
            let (mut now, mut last) = (since, None::<Made>);
            let mut days = Vec::new();
            for step in steps {
                now += SignedDuration::from_mins(step);
                let next = plan.next(last, now, &zone).unwrap();
                if next <= now {
                    let day = plan.day_of(now, &zone).unwrap();
                    prop_assert!(!days.contains(&day), "twice for {day}");
                    days.push(day);
                    last = Some(Made { day, at: now });
                } else {
                    // Nobody waits longer than for the night after the next.
                    prop_assert!(now.duration_until(next) < SignedDuration::from_hours(50), "{now} {next}");
                }
            }
            prop_assert!(!days.is_empty());
        }
    }
}
