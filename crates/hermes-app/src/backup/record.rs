//! backup-schedule.json: by what the backups of a home are scheduled, and how the last one went.

use std::path::Path;

use hermes_home::{Home, atomic, lock};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::due::{Made, Plan, time_of_day};
use crate::app::App;
use crate::clock;
use crate::problem::{Kind, Problem};

/// What starts scheduled backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A timer of systemd.
    Systemd,
    /// A line of the crontab.
    Cron,
    /// The daemon of this program.
    Daemon,
}

impl By {
    /// The word of the command line.
    pub fn word(self) -> &'static str {
        match self {
            By::Systemd => "systemd",
            By::Cron => "cron",
            By::Daemon => "daemon",
        }
    }
}

/// What is noted of a schedule. Exactly one way is noted, and only that one makes backups.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What starts them.
    pub by: By,
    /// Since when.
    pub since: Timestamp,
    /// The time of day that it was set up with.
    pub time: String,
    /// How many minutes later one may come.
    pub random_delay_minutes: u32,
    /// The last one that it brought.
    #[serde(default)]
    pub last: Option<Run>,
}

/// One scheduled backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// For which day.
    pub day: Date,
    /// When it was begun.
    pub began: Timestamp,
    /// How it ended; none: it runs, or was cut short.
    #[serde(default)]
    pub ended: Option<Ended>,
}

/// How a scheduled backup ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// Whether a good backup was made.
    pub well: bool,
    /// What there is to say.
    #[serde(default)]
    pub detail: String,
}

/// Whether a scheduled backup is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// It is, and that is noted.
    Now,
    /// It is not, and this is why.
    Not(String),
}

impl Record {
    /// A schedule as the settings ask for it.
    pub fn new(app: &App, home: &Home, by: By) -> anyhow::Result<Record> {
        let settings = &app.config(home)?.config.backup;
        Ok(Record {
            by,
            since: app.now,
            time: settings.time.clone(),
            random_delay_minutes: settings.random_delay_minutes,
            last: None,
        })
    }

    /// When backups are to be made. The daemon goes by the settings as they are now; what systemd and cron
    /// know of them is what was so when they were told.
    pub fn plan(&self, app: &App, home: &Home) -> anyhow::Result<Plan> {
        let now = Record::new(app, home, self.by)?;
        let asked = if self.by == By::Daemon { &now } else { self };
        let time = time_of_day(&asked.time).ok_or_else(|| {
            let what = format!("backup-schedule.json: {:?} is not a time of day", self.time);
            Problem::new(Kind::Failure, what)
                .hint("set it up again: `hermes backup schedule install`")
        })?;
        let delay = SignedDuration::from_mins(i64::from(asked.random_delay_minutes));
        Ok(Plan { time, delay, since: self.since })
    }

    /// The last one that was not cut short.
    pub fn made(&self) -> Option<Made> {
        let last = self.last.as_ref().filter(|run| run.ended.is_some())?;
        Some(Made { day: last.day, at: last.began })
    }

    /// When the next one is due. What chance adds each night is not known of systemd.
    pub fn next(&self, app: &App, home: &Home) -> anyhow::Result<Option<Timestamp>> {
        let (plan, zone) = (self.plan(app, home)?, app.zone(home)?);
        Ok(self.next_by(&plan, app.now, &zone))
    }

    fn next_by(&self, plan: &Plan, now: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self.by {
            By::Daemon => plan.next(self.made(), now, zone),
            By::Systemd => plan.exactly().next(self.made(), now, zone),
            By::Cron => {
                let later = self.cron_delay(plan);
                // Cron comes once a night and does not catch up: what its time has passed for is over.
                let since = now.checked_sub(later).ok()?.max(plan.since);
                let plan = Plan { since, ..plan.exactly() };
                plan.next(self.made(), now, zone)?.checked_add(later).ok()
            }
        }
    }

    /// What chance adds to the time of cron: the same for every night, for cron knows no chance.
    pub fn cron_delay(&self, plan: &Plan) -> SignedDuration {
        let delay = plan.delay_of(self.since.to_zoned(TimeZone::UTC).date());
        // Its lines are in whole minutes.
        SignedDuration::from_mins(delay.as_mins())
    }
}

/// What is noted; none if no schedule is set up.
pub fn read(home: &Home) -> anyhow::Result<Option<Record>> {
    let path = home.backup_schedule();
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| cannot("read", &path, &error))?,
    };
    let record =
        serde_json::from_slice(&bytes).map_err(|error| cannot("understand", &path, &error))?;
    Ok(Some(record))
}

/// Notes a schedule in place of what was noted.
pub fn write(home: &Home, record: &Record) -> anyhow::Result<()> {
    let _lock = lock::hold(&home.backup_schedule())?;
    put(home, record)
}

/// Takes the note away; says whether there was one.
pub fn clear(home: &Home) -> anyhow::Result<bool> {
    let path = home.backup_schedule();
    let _lock = lock::hold(&path)?;
    match std::fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(cannot("remove", &path, &error).into()),
    }
}

/// Whether `by` is to make a backup now: nobody else was chosen, and it is due. If so, that it begins is noted.
///
/// Where nothing is noted it is made: better one too many than none.
pub fn begin(app: &App, home: &Home, by: By) -> anyhow::Result<Begin> {
    let _lock = lock::hold(&home.backup_schedule())?;
    let Some(mut record) = read(home)? else { return Ok(Begin::Now) };
    if record.by != by {
        let remark = format!(
            "backups are scheduled by {}, not by {}: nothing to do",
            record.by.word(),
            by.word()
        );
        return Ok(Begin::Not(remark));
    }
    let (plan, zone) = (record.plan(app, home)?.exactly(), app.zone(home)?);
    let next = plan.next(record.made(), app.now, &zone);
    if let Some(next) = next.filter(|next| *next > app.now) {
        let remark =
            format!("the next backup is due at {}: nothing to do", clock::minute(next, &zone));
        return Ok(Begin::Not(remark));
    }
    let Some(day) = plan.day_of(app.now, &zone) else { return Ok(Begin::Now) };
    record.last = Some(Run { day, began: app.now, ended: None });
    put(home, &record)?;
    Ok(Begin::Now)
}

/// Notes how the backup ended that was begun.
pub fn finish(home: &Home, ended: Ended) -> anyhow::Result<()> {
    let _lock = lock::hold(&home.backup_schedule())?;
    let Some(mut record) = read(home)? else { return Ok(()) };
    match &mut record.last {
        Some(run) if run.ended.is_none() => run.ended = Some(ended),
        _ => return Ok(()),
    }
    put(home, &record)
}

/// Notes for whoever started the process of a backup that the process is over, where it did not do so itself.
pub fn finish_for(home: &Home, day: Date, began: Timestamp, ended: Ended) -> anyhow::Result<()> {
    let _lock = lock::hold(&home.backup_schedule())?;
    let Some(mut record) = read(home)? else { return Ok(()) };
    match &mut record.last {
        Some(run) if run.began >= began && run.ended.is_some() => return Ok(()),
        Some(run) if run.began >= began => run.ended = Some(ended),
        last => *last = Some(Run { day, began, ended: Some(ended) }),
    }
    put(home, &record)
}

fn put(home: &Home, record: &Record) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(record)? + "\n";
    Ok(atomic::write_private(&home.backup_schedule(), text.as_bytes())?)
}

fn cannot(doing: &str, path: &Path, error: &dyn std::fmt::Display) -> Problem {
    Problem::new(Kind::Failure, format!("could not {doing} {}: {error}", path.display()))
        .hint("set it up again: `hermes backup schedule install`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(by: By) -> Record {
        let since = "2026-11-10T12:00:00Z".parse().unwrap();
        Record { by, since, time: "03:30".to_owned(), random_delay_minutes: 15, last: None }
    }

    #[test]
    fn the_next_time_is_what_each_way_will_do() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let delay = SignedDuration::from_mins(15);
        let plan =
            Plan { time: time_of_day("03:30").unwrap(), delay, since: record(By::Cron).since };
        let next = |by, now: &str| record(by).next_by(&plan, at(now), &TimeZone::UTC).unwrap();
        let cron = record(By::Cron);
        let later = cron.cron_delay(&plan);
        assert!(later > SignedDuration::ZERO, "a delay that the rest can tell from none");
        let tonight = at("2026-11-12T03:30:00Z") + later;
        assert_eq!(next(By::Cron, "2026-11-11T12:00:00Z"), tonight);
        assert_eq!(next(By::Cron, "2026-11-12T03:30:30Z"), tonight, "its minute has not come yet");
        let after = next(By::Cron, "2026-11-12T04:00:00Z");
        assert_eq!(after, at("2026-11-13T03:30:00Z") + later, "cron does not catch up");
        let systemd = next(By::Systemd, "2026-11-11T01:00:00Z");
        assert_eq!(systemd, at("2026-11-11T03:30:00Z"));
        let daemon = next(By::Daemon, "2026-11-11T01:00:00Z");
        assert!(daemon >= systemd && daemon < systemd + delay);
        assert!(
            next(By::Daemon, "2026-11-12T04:00:00Z") <= at("2026-11-12T04:00:00Z"),
            "caught up"
        );
    }
}
