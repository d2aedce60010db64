//! Which backups to keep. A pure function.

use jiff::Timestamp;
use jiff::tz::TimeZone;

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

/// What becomes of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Which.
    pub id: String,
    /// The rules that keep it (`last`, `daily`, `newest verified`, `damaged`); empty: it goes.
    pub kept_by: Vec<&'static str>,
}

/// Decides for all of them; fails rather than delete because of a clock that jumped.
pub fn choose(
    backups: &[Candidate],
    policy: &Policy,
    now: Timestamp,
    zone: &TimeZone,
) -> crate::Result<Vec<Decision>> {
    let _ = (backups, policy, now, zone);
    unimplemented!()
}
