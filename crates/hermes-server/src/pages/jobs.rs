//! Jobs and health: what waits and failed, what comes when, what the checks say, the end of the log.

use askama::Template;
use hermes_store::memory::{Admin, Job, JobState, NewJob, Schedule};
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::daemon::{jobs, log};
use hermes_app::doctor::{self, Check, Status};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::process;

const NAME: &str = "Jobs";
/// So many jobs that are over are shown.
const PAST: usize = 30;
/// So many lines of the log are shown.
const LINES: usize = 25;

/// The page.
pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "j" });
    Page { path: "/p/{profile}/jobs", menu, show, deed: Some(change) }
}

#[derive(Template, Serialize)]
#[template(path = "jobs.html")]
struct Shown {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    /// Open and failed ones first.
    results: Vec<Job>,
    kinds: Vec<Work>,
    /// What the doctor says; only when it was asked, since it reads whole databases.
    #[serde(skip_serializing_if = "Option::is_none")]
    checks: Option<Vec<Check>>,
    #[serde(skip)]
    doctor: String,
    log: Vec<String>,
}

/// A kind of work.
#[derive(Serialize)]
struct Work {
    name: &'static str,
    does: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule: Option<Schedule>,
}

impl Shown {
    fn word(&self, state: &JobState) -> (&'static str, &'static str) {
        match state {
            JobState::Waiting => ("", "pending"),
            JobState::Leased => ("on", "running"),
            JobState::Done => ("good", "done"),
            JobState::Failed => ("bad", "failed"),
        }
    }

    fn verdict(&self, status: &Status) -> (&'static str, &'static str) {
        match status {
            Status::Ok => ("good", "ok"),
            Status::Warn => ("care", "warning"),
            Status::Fail => ("bad", "failed"),
        }
    }

    fn is_open(&self, job: &Job) -> bool {
        job.state != JobState::Done && job.state != JobState::Leased
    }
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (app, home, memory) = seat.reader()?;
    let mut results = memory.store.jobs(Admin, Some(JobState::Failed), PAST)?;
    results.extend(memory.store.open_jobs(Admin, PAST)?);
    results.extend(memory.store.jobs(Admin, Some(JobState::Done), PAST)?);
    let schedules = memory.store.schedules(Admin)?;
    let kinds = jobs::KINDS
        .iter()
        .map(|kind| {
            let name = jobs::name_here(app, home, kind.name);
            let schedule = schedules.iter().find(|one| one.name == name).cloned();
            Work { name: kind.name, does: kind.does, schedule }
        })
        .collect();
    let checks = visit.asked("doctor").map(|_| {
        let app = seat.app.for_profile(&seat.home);
        doctor::checks(&app, &seat.home)
    });
    let (log, _) = log::last(&seat.home.sibling(None), LINES)?;
    let shown = Shown {
        address: frame.link("jobs"),
        doctor: frame.link_with("jobs", "doctor", "1"),
        frame,
        results,
        kinds,
        checks,
        log,
    };
    let command = "hermes status".to_owned();
    show::view(visit, Head { title: "Jobs and health".to_owned(), section: NAME, command }, &shown)
}

fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let said = match (visit.said("retry"), visit.said("run")) {
        (Some(id), _) => retry(seat, id)?,
        (_, Some(kind)) => queue(seat, kind)?,
        _ => return Err(unknown_deed(visit)),
    };
    // The daemon is this very process: it looks at once.
    let _ = process::nudge(std::process::id());
    Ok(Answer::Done { back: visit.back(), notice: Notice::new(said) })
}

fn retry(seat: &mut Seat, id: &str) -> anyhow::Result<String> {
    let missing = || Problem::new(Kind::NotFound, format!("could not find job {id}"));
    let number: i64 = id.parse().map_err(|_| missing())?;
    let (_, _, memory) = seat.reader()?;
    let job = memory.store.job(Admin, number)?;
    let (app, _, memory) = seat.writer()?;
    memory.store.retry_job(Admin, number, app.now)?;
    Ok(format!("Retrying {}", job.kind))
}

fn queue(seat: &mut Seat, kind: &str) -> anyhow::Result<String> {
    if !jobs::can(kind) {
        return Err(Problem::usage(format!("there is no job type {kind:?}")).into());
    }
    let (app, home, memory) = seat.writer()?;
    let name = jobs::name_here(app, home, kind);
    let kind = name.as_str();
    let job = NewJob { kind, payload: "{}", dedupe_key: Some(kind), user: None, run_at: app.now };
    let queued = memory.store.queue_job(Admin, &job, app.now)?.is_some();
    Ok(match queued {
        true => format!("Queued {kind}"),
        false => format!("{kind} is already queued"),
    })
}
