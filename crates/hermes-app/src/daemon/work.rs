//! One job from its lease to its end, the same for the daemon and for a command.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hermes_home::Home;
use hermes_store::memory::{Admin, Job, JobFailure, JobState, Lease, Memory, NewJob};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};

use super::jobs::{self, Comes};
use super::schedule::{self, Known};
use crate::app::App;
use crate::clock;
use crate::memory::OpenMemory;
use crate::problem::{self, Kind, Problem};
use crate::process::{self, Identity};
use crate::text;

/// How long nobody else takes a job whose worker says nothing.
const LEASE: SignedDuration = SignedDuration::from_mins(5);
/// How often a worker says that it goes on.
const RENEWAL: Duration = Duration::from_secs(60);
/// How long a job waits whose server was away: as long as the daemon sleeps at most.
const WHILE_AWAY: SignedDuration = SignedDuration::from_secs(60);
/// The longest text that is kept of what went wrong.
const LONGEST_ERROR: usize = 500;

/// What a job is done with.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Settings and models of the profile.
    pub app: &'a App,
    /// The profile.
    pub home: &'a Home,
    /// Who works.
    pub owner: &'a str,
    /// Set when the work must end.
    pub stop: &'a AtomicBool,
    /// When the work must end, if nobody sets `stop`.
    pub deadline: Option<Instant>,
}

/// A job in the hands of somebody who does it.
pub struct Worker<'a> {
    /// Settings, zone and models of the profile.
    pub app: &'a App,
    /// The profile.
    pub home: &'a Home,
    /// Its memory, open to be written.
    pub memory: OpenMemory,
    /// The job: its payload says what exactly is to be done.
    pub job: Job,
    /// Said between steps; apart from the memory, so that both can be borrowed.
    pub pulse: Pulse<'a>,
}

impl Worker<'_> {
    /// To be called between steps: goes on with the lease, and fails if the work must end here.
    pub fn step(&mut self) -> anyhow::Result<()> {
        self.pulse.beat()
    }
}

/// Keeps the lease of a job while it is worked on.
pub struct Pulse<'a> {
    means: Means<'a>,
    job: i64,
    place: Place,
    renewed: Instant,
    /// Whether workers before went away without having come on.
    was_cut: bool,
}

/// The memory file that is written, and which file that was at the beginning.
#[derive(Debug, Clone)]
struct Place {
    path: std::path::PathBuf,
    identity: Option<Identity>,
}

/// Why work ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// It was asked to end, or its time was over.
    Stopped,
    /// Somebody else has the job now.
    LeaseLost,
    /// The database is another file now, or gone: nothing more may be written.
    Replaced,
}

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Cut::Stopped => "it was interrupted",
            Cut::LeaseLost => "another worker has taken it over",
            Cut::Replaced => "the database was replaced or removed while the job ran",
        })
    }
}

impl std::error::Error for Cut {}

/// What became of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Done: what was done, in counts.
    Done(String),
    /// It failed and is tried again.
    Again {
        /// When.
        at: Timestamp,
        /// What went wrong.
        error: String,
        /// The same in a word.
        kind: String,
    },
    /// The server of the memory was away; it is tried again, however often that happens.
    Away {
        /// When.
        at: Timestamp,
        /// What went wrong.
        error: String,
        /// The same in a word.
        kind: String,
    },
    /// It failed too often.
    GivenUp {
        /// What went wrong.
        error: String,
        /// The same in a word.
        kind: String,
    },
    /// It ended before its time.
    Cut(Cut),
}

/// The name of a worker of this process: `daemon:<pid>:<since>:<host>`.
pub fn owner(what: &str, since: Timestamp) -> String {
    let host = crate::platform::host();
    format!("{what}:{}:{}:{host}", std::process::id(), since.as_millisecond())
}

/// Whether the process of a worker is gone; `holds_lock` says that no other daemon can be there.
pub fn is_gone(owner: &str, own: &str, holds_lock: bool) -> bool {
    let mut parts = owner.split(':');
    let (what, pid) = (parts.next(), parts.next().and_then(|pid| pid.parse().ok()));
    // Whether a process of another machine is alive only its lease tells.
    if parts.nth(1).is_some_and(|host| host != crate::platform::host()) {
        return false;
    }
    let is_other_daemon = what == Some("daemon") && holds_lock && owner != own;
    is_other_daemon || pid.is_some_and(|pid| !process::is_alive(pid))
}

/// Takes the next due job of a memory and does it; none if nothing is due.
pub fn run_next(means: &Means<'_>, mut memory: OpenMemory) -> anyhow::Result<Option<(Job, Ended)>> {
    let now = clock::now();
    let lease = Lease { owner: means.owner, until: now + LEASE };
    let names = jobs::names(means.app, means.home);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match memory.store.lease_job(Admin, &names, lease, now)? {
        None => Ok(None),
        Some(job) => carry_out(means, memory, job.clone()).map(|ended| Some((job, ended))),
    }
}

/// Queues a job of a kind, or takes the one that waits, and does it at once.
pub fn run_now(means: &Means<'_>, mut memory: OpenMemory, kind: &str) -> anyhow::Result<Ended> {
    let now = clock::now();
    let name = jobs::name_here(means.app, means.home, kind);
    let kind = name.as_str();
    let wanted = NewJob { kind, payload: "{}", dedupe_key: Some(kind), user: None, run_at: now };
    let id = match memory.store.queue_job(Admin, &wanted, now)? {
        Some(id) => id,
        None => waiting(&memory.store, kind)?.ok_or_else(|| taken(kind))?,
    };
    let lease = Lease { owner: means.owner, until: now + LEASE };
    if !memory.store.lease_this_job(Admin, id, lease, now)? {
        return Err(taken(kind).into());
    }
    let job = memory.store.job(Admin, id)?;
    carry_out(means, memory, job)
}

fn waiting(store: &Memory, kind: &str) -> anyhow::Result<Option<i64>> {
    let open = store.open_jobs(Admin, jobs::MANY)?;
    Ok(open.iter().find(|job| job.kind == kind && job.state == JobState::Waiting).map(|job| job.id))
}

fn taken(kind: &str) -> Problem {
    Problem::new(Kind::Locked, format!("job {kind} is already running"))
        .hint("see `hermes jobs list`")
}

/// Does a leased job, and notes how it ended.
fn carry_out(means: &Means<'_>, memory: OpenMemory, job: Job) -> anyhow::Result<Ended> {
    let place = Place::of(&memory.path);
    let kind = job.kind.clone();
    let was_cut = job.cut_short() > 0;
    let pulse = Pulse { means: *means, job: job.id, place, renewed: Instant::now(), was_cut };
    let mut worker = Worker { app: means.app, home: means.home, memory, job, pulse };
    let done = worker.step().and_then(|()| perform(&kind, &mut worker));
    let Worker { memory, job, pulse, .. } = worker;
    if let Err(cut) = pulse.place.refuse_other() {
        return Ok(Ended::Cut(cut));
    }
    note(means, memory, &job, done)
}

/// A job that panics has failed like any other.
fn perform(kind: &str, worker: &mut Worker<'_>) -> anyhow::Result<String> {
    catch_unwind(AssertUnwindSafe(|| jobs::perform(kind, worker)))
        .unwrap_or_else(|_| Err(anyhow::anyhow!("internal error")))
}

fn note(
    means: &Means<'_>,
    mut memory: OpenMemory,
    job: &Job,
    done: anyhow::Result<String>,
) -> anyhow::Result<Ended> {
    let (store, now) = (&mut memory.store, clock::now());
    let ended = match done {
        Ok(text) => Ended::Done(text),
        Err(error) => match error.downcast_ref::<Cut>() {
            Some(cut) => Ended::Cut(*cut),
            None => failed(&error, job.own_tries(), now),
        },
    };
    let failure = |error, again| JobFailure { error, again, at: now };
    let is_kept = match &ended {
        Ended::Done(_) => store.finish_job(Admin, job.id, means.owner, now)?,
        Ended::Again { at, error, .. } => {
            store.fail_job(Admin, job.id, means.owner, failure(error, Some(*at)))?
        }
        Ended::GivenUp { error, .. } => {
            store.fail_job(Admin, job.id, means.owner, failure(error, None))?
        }
        Ended::Away { at, error, .. } => {
            let failure = failure(error, Some(*at));
            put_back(store, job.id, means.owner, failure, *at)?
        }
        Ended::Cut(Cut::Stopped) => {
            let failure = failure("interrupted", Some(now));
            put_back(store, job.id, means.owner, failure, now)?
        }
        Ended::Cut(_) => true,
    };
    if !is_kept {
        return Ok(Ended::Cut(Cut::LeaseLost));
    }
    note_schedule(means, store, job, &ended)?;
    Ok(ended)
}

fn failed(error: &anyhow::Error, attempts: u32, now: Timestamp) -> Ended {
    let text = text::one_line(&problem::message(error), LONGEST_ERROR);
    let kind = problem::kind_word(error);
    if is_away(error) {
        return Ended::Away { at: now + WHILE_AWAY, error: text, kind };
    }
    match schedule::back_off(attempts) {
        Some(wait) => Ended::Again { at: now + wait, error: text, kind },
        None => Ended::GivenUp { error: text, kind },
    }
}

/// Whether the server of the memory went away in the middle, or others were in the way each time: nothing is wrong with the
/// job, and nobody needs to do anything about it.
fn is_away(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| match cause.downcast_ref() {
        Some(hermes_memory::Error::Store(error)) => error.is_retriable(),
        _ => cause.downcast_ref().is_some_and(hermes_store::Error::is_retriable),
    })
}

/// To be stopped, or left alone by a server, is no failure: the job keeps all its tries.
fn put_back(
    store: &mut Memory,
    id: i64,
    owner: &str,
    failure: JobFailure<'_>,
    at: Timestamp,
) -> hermes_store::Result<bool> {
    let is_kept = store.fail_job(Admin, id, owner, failure)?;
    if is_kept {
        store.retry_job(Admin, id, at)?;
    }
    Ok(is_kept)
}

/// What has a rule is over for this time when it is done or given up.
fn note_schedule(
    means: &Means<'_>,
    store: &mut Memory,
    job: &Job,
    ended: &Ended,
) -> anyhow::Result<()> {
    let result = match ended {
        Ended::Done(text) => text.clone(),
        Ended::GivenUp { error, .. } => format!("failed: {error}"),
        Ended::Again { .. } | Ended::Away { .. } | Ended::Cut(_) => return Ok(()),
    };
    let config = &means.app.config(means.home)?.config;
    let Some(Comes::ByRule(rule_of)) = jobs::find(&job.kind).map(|kind| kind.comes) else {
        return Ok(());
    };
    let Some(cron) = rule_of(config) else { return Ok(()) };
    let now = clock::now();
    let known = Known { last: Some(now), planned: None };
    let zone = means.app.zone(means.home)?;
    let next_run =
        schedule::parse(&cron).and_then(|rule| schedule::next_run(&rule, known, now, &zone));
    let schedule = hermes_store::memory::Schedule {
        name: job.kind.clone(),
        cron,
        next_run,
        last_run: Some(now),
        last_result: Some(result),
    };
    Ok(store.keep_schedule(Admin, &schedule)?)
}

impl Pulse<'_> {
    /// Goes on with the lease; fails if the work must end here.
    pub fn beat(&mut self) -> anyhow::Result<()> {
        let is_late = self.means.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late || self.means.stop.load(Ordering::SeqCst) {
            return Err(Cut::Stopped.into());
        }
        self.place.refuse_other()?;
        if self.renewed.elapsed() < RENEWAL {
            return Ok(());
        }
        self.renewed = Instant::now();
        let mut store = self.store()?;
        let lease = Lease { owner: self.means.owner, until: clock::now() + LEASE };
        match store.renew_lease(Admin, self.job, lease)? {
            true => Ok(()),
            false => Err(Cut::LeaseLost.into()),
        }
    }

    /// To be called when something was done that need not be done again, whatever comes: a job that comes on each time
    /// is not the one that kills its workers.
    pub fn came_on(&mut self) -> anyhow::Result<()> {
        if std::mem::take(&mut self.was_cut) {
            self.store()?.note_job_came_on(Admin, self.job, self.means.owner)?;
        }
        Ok(())
    }

    /// A connection of its own: the worker's may be busy.
    fn store(&self) -> anyhow::Result<Memory> {
        let Means { app, home, .. } = self.means;
        Ok(app.memory_within(home, Access::Write, app.lock_wait(home)?)?.store)
    }
}

impl Place {
    fn of(path: &std::path::Path) -> Place {
        Place { path: path.to_owned(), identity: process::identity(path) }
    }

    fn refuse_other(&self) -> Result<(), Cut> {
        if process::identity(&self.path) == self.identity { Ok(()) } else { Err(Cut::Replaced) }
    }
}

#[cfg(test)]
mod tests {
    use hermes_store::Error as StoreError;
    use hermes_store::postgres::ServerError;

    use super::*;

    #[test]
    fn a_server_that_is_away_never_makes_a_job_wait_longer_than_a_minute() {
        let now = Timestamp::from_millisecond(1_800_000_000_000).unwrap();
        let cut = || {
            let (server, why) = ("db:5432".to_owned(), "reset".to_owned());
            StoreError::from(ServerError::ConnectionCut { server, why })
        };
        let wrapped = || anyhow::Error::from(hermes_memory::Error::Store(cut()));
        for attempts in [1, 4, 5, 500] {
            for error in [anyhow::Error::from(cut()), wrapped(), wrapped().context("taking in")] {
                let Ended::Away { at, .. } = failed(&error, attempts, now) else {
                    panic!("after {attempts} tries: {error:#}");
                };
                assert_eq!(at, now + WHILE_AWAY);
            }
        }
        let wrong = anyhow::anyhow!("no such model");
        assert!(matches!(failed(&wrong, 2, now), Ended::Again { at, .. } if at > now + WHILE_AWAY));
        assert!(matches!(failed(&wrong, 5, now), Ended::GivenUp { .. }));
    }
}
