//! Which backups to keep. A pure function.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Span, Timestamp};

use crate::error::{Error, Result};
use crate::folder::Backup;

/// How many are kept of each sort, as restic means them; a backup that any rule keeps stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Policy {
    /// The newest ones.
    pub last: u32,
    /// The newest of each of the last hours that have one.
    pub hourly: u32,
    /// Of each day.
    pub daily: u32,
    /// Of each week (Monday to Sunday).
    pub weekly: u32,
    /// Of each month.
    pub monthly: u32,
    /// Of each year.
    pub yearly: u32,
    /// All that are not older than this before the newest one.
    pub within: Option<Within>,
}

/// A span such as `1y6m14d3h`, kept as calendar units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Within(pub Length);

/// Years, months, days and hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Length {
    /// Years.
    pub years: u16,
    /// Months.
    pub months: u16,
    /// Days.
    pub days: u16,
    /// Hours.
    pub hours: u16,
}

/// A backup as the rules see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// `all` or a profile: the rules hold for each by itself.
    pub what: String,
    /// When it was made.
    pub made: Timestamp,
    /// Whether it was read back and right.
    pub verified: bool,
    /// Whether a database in it was damaged: never counted, kept until somebody deletes it by hand.
    pub damaged: bool,
}

impl Candidate {
    /// A backup of a folder, as the rules see it.
    pub fn of(backup: &Backup) -> Candidate {
        Candidate {
            id: backup.name.id(),
            what: backup.name.what.clone(),
            made: backup.made(),
            verified: backup.verified.is_some() && backup.failed.is_none(),
            damaged: backup.name.damaged,
        }
    }
}

/// What becomes of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Which.
    pub id: String,
    /// The rules that keep it (`last`, `daily`, `newest verified`, `not verified yet`, `damaged`);
    /// empty: it goes.
    pub kept_by: Vec<&'static str>,
}

/// Decides for all of them, newest first; fails rather than delete because of a clock that jumped.
///
/// One that was never verified takes no place of a verified one, and stays as long as the rules would keep it if it
/// counted, or it is newer than the newest verified one.
pub fn choose(
    backups: &[Candidate],
    policy: &Policy,
    now: Timestamp,
    zone: &TimeZone,
) -> Result<Vec<Decision>> {
    refuse_empty(policy)?;
    refuse_wrong_clock(backups, now)?;
    let mut sorted: Vec<&Candidate> = backups.iter().collect();
    sorted.sort_by(|a, b| (b.made, &b.id, &b.what).cmp(&(a.made, &a.id, &a.what)));
    let mut kept = Kept::default();
    for what in sorted.iter().map(|backup| backup.what.as_str()).collect::<BTreeSet<_>>() {
        let group: Vec<&Candidate> =
            sorted.iter().copied().filter(|backup| backup.what == what).collect();
        choose_among(&group, policy, zone, &mut kept)?;
    }
    Ok(sorted
        .into_iter()
        .map(|backup| Decision {
            id: backup.id.clone(),
            kept_by: kept.remove(&key(backup)).unwrap_or_default(),
        })
        .collect())
}

/// How far the newest backup may be ahead of the clock.
const AHEAD: SignedDuration = SignedDuration::from_hours(24);

type Key<'a> = (&'a str, &'a str);
type Kept<'a> = BTreeMap<Key<'a>, Vec<&'static str>>;

fn key(backup: &Candidate) -> Key<'_> {
    (&backup.what, &backup.id)
}

fn refuse_empty(policy: &Policy) -> Result<()> {
    if policy.counts().iter().any(|(count, _)| *count > 0) || policy.within.is_some() {
        return Ok(());
    }
    Err(Error::UnsafePrune { why: "the retention rules keep nothing".to_owned() })
}

fn refuse_wrong_clock(backups: &[Candidate], now: Timestamp) -> Result<()> {
    let newest = backups.iter().max_by_key(|backup| backup.made);
    match newest.filter(|newest| now.duration_until(newest.made) > AHEAD) {
        None => Ok(()),
        Some(newest) => Err(Error::UnsafePrune {
            why: format!(
                "backup {} is dated {}, but the clock says {}",
                newest.id,
                newest.made.strftime("%Y-%m-%d"),
                now.strftime("%Y-%m-%d")
            ),
        }),
    }
}

/// Decides for the backups of one `what`, which are sorted newest first.
fn choose_among<'a>(
    group: &[&'a Candidate],
    policy: &Policy,
    zone: &TimeZone,
    kept: &mut Kept<'a>,
) -> Result<()> {
    let whole: Vec<&Candidate> = group.iter().copied().filter(|one| !one.damaged).collect();
    let verified: Vec<&Candidate> = whole.iter().copied().filter(|one| one.verified).collect();
    let mut chosen = Kept::new();
    by_rules(&verified, policy, zone, &mut chosen);
    refuse_gap(&verified, policy, chosen.len())?;
    let mut if_all_counted = Kept::new();
    by_rules(&whole, policy, zone, &mut if_all_counted);
    let newest = verified.first().map(|one| one.made);
    for one in group {
        let reason = match one {
            one if one.damaged => Some("damaged"),
            one if one.verified => (Some(one.made) == newest).then_some("newest verified"),
            one if newest.is_none_or(|newest| one.made >= newest) => Some("not verified yet"),
            one => if_all_counted.contains_key(&key(one)).then_some("not verified yet"),
        };
        let mut reasons = chosen.remove(&key(one)).unwrap_or_default();
        reasons.extend(reason);
        kept.insert(key(one), reasons);
    }
    Ok(())
}

/// Where a span alone decides and the newest stands alone, the clock may have jumped when it was made.
fn refuse_gap(verified: &[&Candidate], policy: &Policy, kept: usize) -> Result<()> {
    let span_alone = policy.counts().iter().all(|(count, _)| *count == 0);
    if !span_alone || kept > 1 || verified.len() < 2 {
        return Ok(());
    }
    Err(Error::UnsafePrune {
        why: format!(
            "by age alone, all {} verified backups except the newest would be deleted; the clock \
             may have jumped",
            verified.len()
        ),
    })
}

/// What the rules keep among these, sorted newest first; each of these counts.
fn by_rules<'a>(counted: &[&'a Candidate], policy: &Policy, zone: &TimeZone, kept: &mut Kept<'a>) {
    let Some(newest) = counted.first() else { return };
    for (count, rule) in policy.counts() {
        let mut seen = Vec::new();
        for (place, one) in counted.iter().enumerate() {
            if seen.len() >= count as usize {
                break;
            }
            let bucket = rule.bucket(one.made, place, zone);
            // The oldest stays while there are places left: the history is as long as it can be.
            if !seen.contains(&bucket) || place + 1 == counted.len() {
                seen.push(bucket);
                kept.entry(key(one)).or_default().push(rule.name());
            }
        }
    }
    let Some(Within(length)) = policy.within else { return };
    let since = length.before(newest.made, zone);
    for one in counted.iter().filter(|one| one.made > since || one.made == newest.made) {
        kept.entry(key(one)).or_default().push("within");
    }
}

/// The rules that count.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Last,
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Yearly,
}

impl Rule {
    fn name(self) -> &'static str {
        match self {
            Rule::Last => "last",
            Rule::Hourly => "hourly",
            Rule::Daily => "daily",
            Rule::Weekly => "weekly",
            Rule::Monthly => "monthly",
            Rule::Yearly => "yearly",
        }
    }

    /// Two with the same numbers are in the same hour, day, week, …
    fn bucket(self, made: Timestamp, place: usize, zone: &TimeZone) -> [i64; 4] {
        let local = made.to_zoned(zone.clone()).datetime();
        let (year, month) = (i64::from(local.year()), i64::from(local.month()));
        let (day, hour) = (i64::from(local.day()), i64::from(local.hour()));
        let week = local.date().iso_week_date();
        match self {
            Rule::Last => [place as i64, 0, 0, 0],
            Rule::Hourly => [year, month, day, hour],
            Rule::Daily => [year, month, day, 0],
            Rule::Weekly => [i64::from(week.year()), i64::from(week.week()), 0, 0],
            Rule::Monthly => [year, month, 0, 0],
            Rule::Yearly => [year, 0, 0, 0],
        }
    }
}

impl Policy {
    fn counts(&self) -> [(u32, Rule); 6] {
        [
            (self.last, Rule::Last),
            (self.hourly, Rule::Hourly),
            (self.daily, Rule::Daily),
            (self.weekly, Rule::Weekly),
            (self.monthly, Rule::Monthly),
            (self.yearly, Rule::Yearly),
        ]
    }
}

impl FromStr for Policy {
    type Err = Error;

    /// Reads `last:30,monthly:12,within:1y6m`.
    fn from_str(text: &str) -> Result<Policy> {
        let mut policy = Policy::default();
        for part in text.split(',') {
            let (rule, value) = part.split_once(':').ok_or_else(|| not_a_policy(text))?;
            let count = || value.parse::<u32>().map_err(|_| not_a_policy(text));
            match rule.trim() {
                "last" => policy.last = count()?,
                "hourly" => policy.hourly = count()?,
                "daily" => policy.daily = count()?,
                "weekly" => policy.weekly = count()?,
                "monthly" => policy.monthly = count()?,
                "yearly" => policy.yearly = count()?,
                "within" => policy.within = Some(value.parse()?),
                _ => return Err(not_a_policy(text)),
            }
        }
        Ok(policy)
    }
}

impl FromStr for Within {
    type Err = Error;

    /// Reads `1y6m14d3h`: years, months, days and hours, each at most once and in this order.
    fn from_str(text: &str) -> Result<Within> {
        let mut length = Length::default();
        let mut rest = text.trim();
        for (unit, slot) in [
            ('y', &mut length.years),
            ('m', &mut length.months),
            ('d', &mut length.days),
            ('h', &mut length.hours),
        ] {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if let Some(after) = rest[digits..].strip_prefix(unit) {
                *slot = rest[..digits].parse().map_err(|_| not_a_span(text))?;
                rest = after;
            }
        }
        if rest.is_empty() && length != Length::default() {
            Ok(Within(length))
        } else {
            Err(not_a_span(text))
        }
    }
}

impl Length {
    /// The moment so long before another one; the beginning of time if there is none.
    fn before(self, moment: Timestamp, zone: &TimeZone) -> Timestamp {
        let days = Span::new()
            .try_years(self.years)
            .and_then(|span| span.try_months(self.months))
            .and_then(|span| span.try_days(self.days));
        let local = moment.to_zoned(zone.clone());
        let hours = SignedDuration::from_hours(i64::from(self.hours));
        days.and_then(|days| local.checked_sub(days))
            .and_then(|earlier| earlier.timestamp().checked_sub(hours))
            .unwrap_or(Timestamp::MIN)
    }
}

fn not_a_policy(text: &str) -> Error {
    let why = "write it like last:30,daily:7,weekly:5,monthly:12,yearly:3,within:30d".to_owned();
    Error::Setting { what: format!("keep={text}"), why }
}

fn not_a_span(text: &str) -> Error {
    let why = "write it like 1y6m14d3h: years, months, days, hours".to_owned();
    Error::Setting { what: format!("the time span {text:?}"), why }
}

#[cfg(test)]
#[path = "retention_tests.rs"]
mod tests;
