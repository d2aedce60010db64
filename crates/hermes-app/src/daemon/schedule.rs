//! When work comes next: a rule, the last run, the clock and the zone. Pure.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, Timestamp, ToSpan};

use crate::clock;

/// When something comes again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// At these times of the calendar.
    Calendar(Calendar),
    /// So long after the last time.
    Every(SignedDuration),
}

/// The five fields of a cron line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calendar {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

/// What is known of earlier runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    /// When it last ran.
    pub last: Option<Timestamp>,
    /// When it was last planned to run.
    pub planned: Option<Timestamp>,
}

/// Reads a cron line of five fields, or `every 15m`.
pub fn parse(text: &str) -> Option<Rule> {
    if let Some(length) = text.trim().strip_prefix("every ") {
        let length = clock::parse_length(length).ok()?;
        return (length > SignedDuration::ZERO).then_some(Rule::Every(length));
    }
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [minutes, hours, days, months, weekdays] = fields[..] else { return None };
    Some(Rule::Calendar(Calendar {
        minutes: Field::parse(minutes, 0, 59)?,
        hours: Field::parse(hours, 0, 23)?,
        days: Field::parse(days, 1, 31)?,
        months: Field::parse(months, 1, 12)?,
        weekdays: Field::parse(weekdays, 0, 7)?,
    }))
}

/// When to run next; a time that is past means now.
///
/// What was missed while nobody worked comes once. A clock that was set back makes nothing run twice, and
/// nothing waits longer than for the time after the next.
pub fn next_run(rule: &Rule, known: Known, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
    let coming = rule.after(now, zone)?;
    let Some(last) = known.last else {
        // Planned under a clock that was ahead: the plan is too late.
        return Some(known.planned.map_or(coming, |planned| planned.min(coming)));
    };
    let next = rule.after(last, zone)?;
    if last <= now {
        return Some(next);
    }
    let limit = rule.after(coming, zone)?;
    Some(if next <= limit { next } else { coming })
}

/// How long to wait before the next try; none when there were enough.
pub fn back_off(attempts: u32) -> Option<SignedDuration> {
    const FIRST: SignedDuration = SignedDuration::from_mins(1);
    const LONGEST: SignedDuration = SignedDuration::from_hours(6);
    const GROWTH: i32 = 7;
    if attempts >= MOST_ATTEMPTS {
        return None;
    }
    let factor = GROWTH.checked_pow(attempts.saturating_sub(1))?;
    Some(FIRST.checked_mul(factor).unwrap_or(LONGEST).min(LONGEST))
}

/// How long a job waits whose worker went away in the middle, so many times in a row: from a second to a quarter of an
/// hour. It is never given up for that; what kills its worker each time must not keep all other work from being done.
pub fn wait_after_cut(times: u32) -> SignedDuration {
    const LONGEST: SignedDuration = SignedDuration::from_mins(15);
    const GROWTH: i64 = 4;
    let seconds = GROWTH.checked_pow(times.saturating_sub(1)).unwrap_or(i64::MAX);
    SignedDuration::from_secs(seconds).min(LONGEST)
}

/// After so many tries a job is given up.
pub const MOST_ATTEMPTS: u32 = 5;

impl Rule {
    /// The first time after `moment`.
    fn after(&self, moment: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Rule::Every(length) => moment.checked_add(*length).ok(),
            Rule::Calendar(calendar) => calendar.after(moment, zone),
        }
    }
}

impl Calendar {
    fn after(&self, moment: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        // Eight years: the 29th of February may be that far away.
        const MOST_DAYS: usize = 366 * 8;
        // A day before, since a gap in the zone may move a time of that day past midnight.
        let mut date = moment.to_zoned(zone.clone()).date().yesterday().ok()?;
        for _ in 0..MOST_DAYS {
            if self.has_day(date) {
                let times = self.times(date, zone);
                if let Some(found) = times.into_iter().filter(|time| *time > moment).min() {
                    return Some(found);
                }
            }
            date = date.checked_add(1.day()).ok()?;
        }
        None
    }

    /// As cron has it: where both kinds of day are narrowed, either is enough.
    fn has_day(&self, date: Date) -> bool {
        let in_month = self.days.has(date.day() as u8);
        let weekday = date.weekday().to_sunday_zero_offset() as u8;
        let in_week = self.weekdays.has(weekday) || (weekday == 0 && self.weekdays.has(7));
        let day = match (self.days.is_all, self.weekdays.is_all) {
            (false, false) => in_month || in_week,
            _ => in_month && in_week,
        };
        day && self.months.has(date.month() as u8)
    }

    fn times(&self, date: Date, zone: &TimeZone) -> Vec<Timestamp> {
        let hours = (0..24u8).filter(|hour| self.hours.has(*hour));
        let civil = hours.flat_map(|hour| {
            let minutes = (0..60u8).filter(|minute| self.minutes.has(*minute));
            minutes
                .map(move |minute| date.to_datetime(Time::constant(hour as i8, minute as i8, 0, 0)))
        });
        civil.flat_map(|time| self.moments(time, zone)).collect()
    }

    /// A time that the zone leaves out is moved behind the gap; of one that comes twice the first counts,
    /// unless the work is for every hour.
    fn moments(&self, time: DateTime, zone: &TimeZone) -> Vec<Timestamp> {
        let ambiguous = zone.to_ambiguous_timestamp(time);
        let is_twice = matches!(ambiguous.offset(), AmbiguousOffset::Fold { .. });
        let later = ambiguous.later().ok().filter(|_| is_twice && self.hours.is_all);
        ambiguous.compatible().ok().into_iter().chain(later).collect()
    }
}

/// One field of a cron line, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    bits: u64,
    is_all: bool,
}

impl Field {
    /// `*`, `7`, `1-5`, `*/15`, `1-9/2`, and lists of these.
    fn parse(text: &str, least: u8, most: u8) -> Option<Field> {
        let mut bits = 0;
        for part in text.split(',') {
            let (range, step) = match part.split_once('/') {
                Some((range, step)) => (range, step.parse::<u8>().ok().filter(|step| *step > 0)?),
                None => (part, 1),
            };
            let (from, to) = match range.split_once('-') {
                _ if range == "*" => (least, most),
                Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
                None if step > 1 => (range.parse().ok()?, most),
                None => (range.parse().ok()?, range.parse().ok()?),
            };
            if from < least || to > most || from > to {
                return None;
            }
            (from..=to).step_by(step.into()).for_each(|value| bits |= 1 << value);
        }
        Some(Field { bits, is_all: text == "*" })
    }

    fn has(self, value: u8) -> bool {
        self.bits & (1 << value) != 0
    }
}
