//! How it stands: the daemon, its jobs and schedules, the backups, what is missing.

use hermes_backup::status::{Colour, Standing};
use hermes_home::{Home, profile};
use hermes_store::memory::{Admin, JobState, Schedule};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::app::App;
use crate::background::{self, Trouble};
use crate::backup;
use crate::daemon::{self, jobs};
use crate::doctor::behind;
use crate::lost::Lost;
use crate::problem::message;
use crate::running::{self, Found};

/// The daemon and what it has to do.
#[derive(Debug, Serialize)]
pub struct StatusReport {
    /// The daemon.
    pub daemon: DaemonStatus,
    /// What background work is done with.
    pub models: String,
    /// How it stands with the backups; none where none was ever made or set up.
    pub backups: Option<Standing>,
    /// Each profile.
    pub profiles: Vec<ProfileStatus>,
    /// The zone in which times are told.
    #[serde(skip)]
    pub zone: TimeZone,
}

/// The daemon, as it is or was.
#[derive(Debug, Serialize)]
pub struct DaemonStatus {
    /// Whether it runs.
    pub running: bool,
    /// Its process.
    pub pid: Option<u32>,
    /// Its version.
    pub version: Option<String>,
    /// Since when it runs, or since when none runs.
    pub since: Option<Timestamp>,
    /// Whether the last one ended in good order.
    pub ended_well: Option<bool>,
    /// Where other programs reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why it does not listen though it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_trouble: Option<String>,
}

/// What is to be done for a profile.
#[derive(Debug, Serialize)]
pub struct ProfileStatus {
    /// Its name.
    pub profile: String,
    /// Jobs that wait.
    pub waiting: usize,
    /// Jobs that are being done.
    pub leased: usize,
    /// Jobs that failed.
    pub failed: Vec<FailedJob>,
    /// Why work stands still though nothing has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands_still: Option<String>,
    /// What comes by a rule.
    pub schedules: Vec<Schedule>,
    /// Why the model of background work did not answer the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Trouble>,
    /// Databases that were there before and are missing, with the backup that has each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Lost>,
    /// Why its jobs cannot be done or seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

/// A job that failed.
#[derive(Debug, Serialize)]
pub struct FailedJob {
    /// Its number.
    pub id: i64,
    /// What it does.
    pub kind: String,
    /// Why.
    pub error: Option<String>,
    /// The command that tries it again.
    pub retry: String,
}

impl StatusReport {
    /// Whether something is lost, or in danger of it.
    pub fn is_red(&self) -> bool {
        self.backups.as_ref().is_some_and(|standing| standing.colour == Colour::Red)
            || self.profiles.iter().any(|profile| !profile.missing.is_empty())
    }
}

/// Looks at the root home with all its profiles.
pub fn look(app: &App) -> anyhow::Result<StatusReport> {
    let home = app.root_home()?;
    home.must_exist()?;
    let found = running::find(&home)?;
    let mut profiles = Vec::new();
    let names = profile::list(&home)?;
    for name in [None].into_iter().chain(names.into_iter().map(Some)) {
        profiles.push(of_profile(app, &home.sibling(name), &found));
    }
    let root = app.for_profile(&home);
    Ok(StatusReport {
        daemon: DaemonStatus::of(&found),
        models: daemon::models_line(&root, &home),
        backups: backup::status::of_home(app, &home)?,
        profiles,
        zone: root.zone(&home).unwrap_or(TimeZone::UTC),
    })
}

fn of_profile(app: &App, home: &Home, found: &Found) -> ProfileStatus {
    let name = home.profile_name().to_owned();
    let said = found.state.as_ref().filter(|_| found.pid.is_some());
    let trouble = said.and_then(|state| state.trouble.get(&name).cloned());
    let mut seen = ProfileStatus {
        profile: name,
        waiting: 0,
        leased: 0,
        failed: Vec::new(),
        stands_still: None,
        schedules: Vec::new(),
        model: None,
        missing: app.for_profile(home).all_lost(home),
        trouble,
    };
    let own = app.for_profile(home);
    if let Err(error) = seen.count(&own, home) {
        seen.trouble.get_or_insert(message(&error));
    }
    if let Some((which, missing)) = behind::databases(&own, home).first() {
        let zone = own.zone(home).unwrap_or(TimeZone::UTC);
        let said = behind::said(*which, missing, &zone);
        seen.trouble.get_or_insert(format!("{said}; see `hermes doctor`"));
    }
    seen
}

impl ProfileStatus {
    fn count(&mut self, app: &App, home: &Home) -> anyhow::Result<()> {
        self.model = background::trouble(app, home);
        let memory = app.memory(home, Access::Read)?;
        let open = memory.store.open_jobs(Admin, jobs::MANY)?;
        let count = |state| open.iter().filter(|job| job.state == state).count();
        (self.waiting, self.leased) = (count(JobState::Waiting), count(JobState::Leased));
        let place = match home.profile() {
            None => String::new(),
            Some(name) => format!("--profile {name} "),
        };
        let failed = memory.store.jobs(Admin, Some(JobState::Failed), jobs::MANY)?;
        self.failed = failed
            .into_iter()
            .map(|job| FailedJob {
                retry: format!("hermes {place}jobs retry {}", job.id),
                id: job.id,
                kind: job.kind,
                error: job.last_error,
            })
            .collect();
        self.stands_still = daemon::stands_still(app, home, &memory.store)?;
        self.schedules = memory.store.schedules(Admin)?;
        Ok(())
    }
}

impl DaemonStatus {
    /// What was found of it.
    pub fn of(found: &Found) -> DaemonStatus {
        let state = found.state.as_ref();
        let running = state.filter(|_| found.pid.is_some());
        DaemonStatus {
            url: running.and_then(|state| state.url.clone()),
            server_trouble: running.and_then(|state| state.server_trouble.clone()),
            running: found.pid.is_some(),
            pid: found.pid,
            version: state.map(|state| state.version.clone()),
            since: state.map(|state| match found.pid {
                Some(_) => state.started_at,
                None => state.last_seen(),
            }),
            ended_well: state
                .filter(|_| found.pid.is_none())
                .map(|state| state.stopped_at.is_some()),
        }
    }
}
