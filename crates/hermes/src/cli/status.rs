//! hermes status

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_backup::status::{Colour, Standing};
use hermes_home::{Home, profile};
use hermes_store::memory::{Admin, JobState, Jobs as _, Schedule};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{BAD, BOLD, CARE, DIM, GOOD, Page, Show};
use hermes_app::app::App;
use hermes_app::background::{self, Trouble};
use hermes_app::backup;
use hermes_app::clock;
use hermes_app::daemon::{self, jobs};
use hermes_app::doctor::behind;
use hermes_app::lost::Lost;
use hermes_app::problem::{Kind, Problem, message};
use hermes_app::running::{self, Found};
use hermes_app::text::one_line;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print only the address at which other programs reach the daemon
    #[arg(long)]
    url: bool,
}

/// The daemon and what it has to do.
#[derive(Debug, Serialize)]
struct Status {
    daemon: Daemon,
    models: String,
    /// How it stands with the backups; none where none was ever made or set up.
    backups: Option<Standing>,
    profiles: Vec<Profile>,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Debug, Serialize)]
struct Daemon {
    running: bool,
    pid: Option<u32>,
    version: Option<String>,
    /// Since when it runs, or since when none runs.
    since: Option<Timestamp>,
    /// Whether the last one ended in good order.
    ended_well: Option<bool>,
    /// Where other programs reach it.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Why it does not listen though it should.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_trouble: Option<String>,
}

#[derive(Debug, Serialize)]
struct Profile {
    profile: String,
    waiting: usize,
    leased: usize,
    failed: Vec<FailedJob>,
    /// Why work stands still though nothing has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    stands_still: Option<String>,
    schedules: Vec<Schedule>,
    /// Why the model of background work did not answer the last time.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Trouble>,
    /// Databases that were there before and are missing, with the backup that has each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<Lost>,
    /// Why its jobs cannot be done or seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
}

#[derive(Debug, Serialize)]
struct FailedJob {
    id: i64,
    kind: String,
    error: Option<String>,
    /// The command that tries it again.
    retry: String,
}

/// The address alone.
#[derive(Debug, Serialize)]
struct Address {
    url: String,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    home.must_exist()?;
    let found = running::find(&home)?;
    if arguments.url {
        let url = Daemon::of(&found).url.ok_or_else(|| {
            Problem::new(Kind::NotFound, "no daemon listens").hint("start one with `hermes start`")
        })?;
        app.out.show(&Address { url })?;
        return Ok(Outcome::Done);
    }
    let mut profiles = Vec::new();
    let names = profile::list(&home)?;
    for name in [None].into_iter().chain(names.into_iter().map(Some)) {
        profiles.push(look(app, &home.sibling(name), &found));
    }
    let root = app.for_profile(&home);
    let zone = root.zone(&home).unwrap_or(TimeZone::UTC);
    let models = daemon::models_line(&root, &home);
    let backups = backup::status::of_home(app, &home)?;
    let is_red = backups.as_ref().is_some_and(|standing| standing.colour == Colour::Red)
        || profiles.iter().any(|profile: &Profile| !profile.missing.is_empty());
    let status = Status { daemon: Daemon::of(&found), models, backups, profiles, zone };
    app.out.show(&status)?;
    if !status.daemon.running {
        app.out.hint("start it with `hermes start`");
    }
    Ok(if is_red { Outcome::Findings } else { Outcome::Done })
}

fn look(app: &App, home: &Home, found: &Found) -> Profile {
    let name = home.profile_name().to_owned();
    let said = found.state.as_ref().filter(|_| found.pid.is_some());
    let trouble = said.and_then(|state| state.trouble.get(&name).cloned());
    let mut seen = Profile {
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

impl Profile {
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

impl Daemon {
    fn of(found: &Found) -> Daemon {
        let state = found.state.as_ref();
        let running = state.filter(|_| found.pid.is_some());
        Daemon {
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

impl Show for Address {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.url)
    }
}

impl Show for Status {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let since = self.daemon.since.map(|at| clock::minute(at, &self.zone));
        match (self.daemon.pid, since, self.daemon.ended_well) {
            (Some(pid), since, _) => page.line(format_args!(
                "{GOOD}running{GOOD:#}  pid {pid}, version {}, since {}",
                self.daemon.version.as_deref().unwrap_or("unknown"),
                since.as_deref().unwrap_or("just now")
            ))?,
            (None, Some(since), Some(true)) => {
                page.line(format_args!("{CARE}no daemon{CARE:#} since {since}"))?;
            }
            (None, Some(since), _) => page.line(format_args!(
                "{CARE}no daemon{CARE:#} since about {since}: the last one ended without a word"
            ))?,
            (None, None, _) => {
                page.line(format_args!("{CARE}no daemon{CARE:#} was ever started"))?
            }
        }
        match (&self.daemon.url, &self.daemon.server_trouble) {
            (Some(url), _) => page.line(format_args!("listens on {url}"))?,
            (None, Some(trouble)) => {
                page.line(format_args!("{CARE}does not listen{CARE:#}: {trouble}"))?;
            }
            (None, None) => {}
        }
        page.line(&self.models)?;
        match &self.backups {
            None => page.line(format_args!(
                "{CARE}no backup{CARE:#} is made: `hermes backup setup` begins"
            ))?,
            Some(standing) => show_backups(standing, page)?,
        }
        self.profiles.iter().try_for_each(|profile| profile.text(page, &self.zone))
    }
}

fn show_backups(standing: &Standing, page: &mut Page) -> io::Result<()> {
    let (style, word) = match standing.colour {
        Colour::Green => (GOOD, "green"),
        Colour::Amber => (CARE, "amber"),
        Colour::Red => (BAD, "red"),
    };
    let why = standing.reasons.first().map(|reason| format!(": {}", reason.what));
    page.line(format_args!("backups  {style}{word}{style:#}{}", why.unwrap_or_default()))
}

impl Profile {
    fn text(&self, page: &mut Page, zone: &TimeZone) -> io::Result<()> {
        page.line("")?;
        page.line(format_args!(
            "{BOLD}{}{BOLD:#}  {} waiting, {} being done, {} failed",
            self.profile,
            self.waiting,
            self.leased,
            self.failed.len()
        ))?;
        for lost in &self.missing {
            page.line(format_args!("  {BAD}missing{BAD:#}   {}", lost.said()))?;
            page.line(format_args!("            {DIM}repair:{DIM:#} {}", lost.repair()))?;
        }
        if let Some(trouble) = &self.trouble {
            page.line(format_args!("  {BAD}trouble{BAD:#}   {}", one_line(trouble, 200)))?;
        }
        if let Some(Trouble { model, error, at }) = &self.model {
            let at = clock::minute(*at, zone);
            page.line(format_args!(
                "  {CARE}model{CARE:#}     {model} did not answer at {at}, rules did the work: {}",
                one_line(error, 200)
            ))?;
            page.line(format_args!("            {DIM}try:{DIM:#} hermes model test {model}"))?;
        }
        for job in &self.failed {
            let why = one_line(job.error.as_deref().unwrap_or("no reason is known"), 120);
            page.line(format_args!("  {BAD}failed{BAD:#}    {} ({}): {why}", job.kind, job.id))?;
            page.line(format_args!("            {DIM}again:{DIM:#} {}", job.retry))?;
        }
        if let Some(why) = &self.stands_still {
            page.line(format_args!("  {CARE}stands still{CARE:#}  {}", one_line(why, 200)))?;
            page.line(format_args!("            {DIM}see:{DIM:#} hermes logs"))?;
        }
        for schedule in &self.schedules {
            let at = |time: Option<Timestamp>| {
                time.map_or_else(|| "never".to_owned(), |time| clock::minute(time, zone))
            };
            let result = schedule.last_result.as_ref();
            let result =
                result.map(|text| format!(" ({})", one_line(text, 80))).unwrap_or_default();
            page.line(format_args!(
                "  {:<9} next {}, last {}{result}",
                schedule.name,
                at(schedule.next_run),
                at(schedule.last_run)
            ))?;
        }
        Ok(())
    }
}
