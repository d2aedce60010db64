//! The daemon: one long-running process for a root home with all its profiles.

pub mod backup;
pub mod compaction;
pub mod jobs;
pub mod life;
pub mod log;
pub mod look;
pub mod pruning;
pub mod reflection;
pub mod schedule;
pub mod work;

#[cfg(test)]
mod schedule_tests;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hermes_home::{Home, lock};
use hermes_store::memory::{Admin, Job, JobState, Memory};
use hermes_store::sqlite::Access;
use jiff::SignedDuration;

use crate::app::App;
use crate::clock;
use crate::problem::{Kind, Problem};
use crate::running::{DAEMON, Holder, find};
use work::Means;

/// Why work of a profile stands still, though nothing has failed: its workers go away in the middle each time, or nobody
/// takes what is due.
pub fn stands_still(app: &App, home: &Home, store: &Memory) -> anyhow::Result<Option<String>> {
    let zone = app.zone(home)?;
    let open = store.open_jobs(Admin, jobs::MANY)?;
    let open: Vec<&Job> = open.iter().filter(|job| jobs::is_ours(app, home, &job.kind)).collect();
    if let Some(job) = open.iter().find(|job| job.cut_short() >= MANY_CUTS) {
        let next = match job.state {
            JobState::Leased => "it is running now".to_owned(),
            _ => format!("next try at {}", clock::minute(job.run_at, &zone)),
        };
        return Ok(Some(format!(
            "{} ({}) was interrupted {} times in a row without progress: the daemon or the machine \
             stopped each time; {next}",
            job.kind,
            job.id,
            job.cut_short()
        )));
    }
    let is_late = |job: &&&Job| job.state == JobState::Waiting && job.run_at + LATE < app.now;
    let late =
        open.iter().find(is_late).filter(|_| find(home).is_ok_and(|found| found.pid.is_some()));
    Ok(late.map(|job| {
        let since = clock::minute(job.run_at, &zone);
        format!("the daemon is running, but {} ({}) has been due since {since}", job.kind, job.id)
    }))
}

/// So often in a row is no accident.
const MANY_CUTS: u32 = 3;
/// What is due for longer than this is not about to be done. One job may well take some minutes, others wait for it.
const LATE: SignedDuration = SignedDuration::from_mins(30);

/// What background work is done with.
pub fn models_line(app: &App, home: &Home) -> String {
    match app.models(home) {
        Ok(models) => models.describe(),
        Err(error) => format!("background work: rules only ({})", crate::problem::message(&error)),
    }
}

/// Does the work of catching up within a bound of time, if no daemon runs that would do it.
///
/// Says what was done; nothing if a daemon runs, or somebody else catches up in this moment.
pub fn try_catch_up(app: &App, home: &Home, bound: Duration) -> anyhow::Result<Option<String>> {
    if !jobs::can(CATCH_UP) {
        return Ok(None);
    }
    let Some(mut held) = lock::try_hold(&home.daemon_lock())? else { return Ok(None) };
    held.sign(&Holder { what: CATCH_UP, pid: std::process::id() }.to_string())?;
    let memory = app.memory(home, Access::Write)?;
    let means = Means {
        app,
        home,
        owner: &work::owner("command", app.now),
        stop: &AtomicBool::new(false),
        deadline: Some(Instant::now() + bound),
    };
    match work::run_now(&means, memory, CATCH_UP)? {
        work::Ended::Done(text) => Ok(Some(text)),
        _ => Ok(None),
    }
}

/// The kind of job that takes in what was recorded elsewhere.
pub const CATCH_UP: &str = "catch_up";
/// Takes the lock of the daemon; somebody who only catches up is waited for.
pub fn take_lock(home: &Home) -> anyhow::Result<lock::Held> {
    const PATIENCE: Duration = Duration::from_secs(5);
    const STEP: Duration = Duration::from_millis(20);
    let begun = Instant::now();
    loop {
        if let Some(mut held) = lock::try_hold(&home.daemon_lock())? {
            held.sign(&Holder { what: DAEMON, pid: std::process::id() }.to_string())?;
            return Ok(held);
        }
        if let Some(pid) = find(home)?.pid {
            let what =
                format!("the daemon of {} is already running: pid {pid}", home.root().display());
            return Err(Problem::new(Kind::Locked, what)
                .hint("see `hermes status`; stop it with `hermes stop`")
                .into());
        }
        if begun.elapsed() > PATIENCE {
            let what = format!("could not lock {}", home.daemon_lock().display());
            return Err(Problem::new(Kind::Locked, what).hint("try again in a moment").into());
        }
        std::thread::sleep(STEP);
    }
}
