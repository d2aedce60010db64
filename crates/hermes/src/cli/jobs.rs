//! hermes jobs list, run, retry

use crate::terminal::Terminal;
use hermes_app::text;
use std::io;
use std::sync::atomic::AtomicBool;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use hermes_home::Home;
use hermes_store::memory::{Admin, Job, JobState};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::clock;
use hermes_app::daemon::jobs;
use hermes_app::daemon::work::{self, Ended, Means};
use hermes_app::problem::{Kind, Problem};
use hermes_app::process;
use hermes_app::running;
use hermes_app::text::{counted, one_line};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the jobs of the profile, newest first
    List(List),
    /// Run a job now, with or without the daemon
    Run(Run),
    /// Run jobs again now that were given up or wait for their next try
    Retry(Retry),
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// List only jobs in this state
    #[arg(long, value_enum)]
    state: Option<State>,
    /// Maximum number of jobs to list
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// Kind of job to run
    #[arg(value_parser = PossibleValuesParser::new(jobs::KINDS.iter().map(|kind| {
        clap::builder::PossibleValue::new(kind.name).help(kind.does)
    })))]
    kind: String,
}

#[derive(Debug, Args)]
pub(crate) struct Retry {
    /// Number of the job
    #[arg(required_unless_present = "all_failed")]
    id: Option<i64>,
    /// Retry every job that was given up
    #[arg(long, conflicts_with = "id")]
    all_failed: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum State {
    Waiting,
    Leased,
    Done,
    Failed,
}

#[derive(Debug, Serialize)]
struct Listed {
    results: Vec<Job>,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Debug, Serialize)]
struct Ran {
    kind: String,
    result: String,
}

#[derive(Debug, Serialize)]
struct Retried {
    jobs: Vec<i64>,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    match command {
        Command::List(arguments) => list(arguments, app, &home),
        Command::Run(arguments) => run_now(arguments, app, &home),
        Command::Retry(arguments) => retry(arguments, app, &home),
    }
}

fn list(arguments: &List, app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let memory = app.memory(home, Access::Read)?;
    let state = arguments.state.map(JobState::from);
    let results = memory.store.jobs(Admin, state, arguments.limit)?;
    if results.is_empty() {
        app.out.note("no jobs found");
    }
    let zone = app.zone(home)?;
    app.out.show(&Listed { results, zone })?;
    Ok(Outcome::Done)
}

fn run_now(arguments: &Run, app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let kind = arguments.kind.clone();
    if !jobs::can(&kind) {
        let what = format!("this build cannot do jobs of the kind {kind}");
        return Err(Problem::new(Kind::Refused, what).into());
    }
    let memory = app.memory(home, Access::Write)?;
    let means = Means {
        app,
        home,
        owner: &work::owner("command", app.now),
        stop: &AtomicBool::new(false),
        deadline: None,
    };
    match work::run_now(&means, memory, &kind)? {
        Ended::Done(result) => app.out.show(&Ran { kind, result })?,
        Ended::Again { at, error, .. } | Ended::Away { at, error, .. } => {
            let at = clock::minute(at, &app.zone(home)?);
            let what = format!("{kind} failed: {error}");
            return Err(Problem::new(Kind::Failure, what)
                .hint(format!(
                    "the daemon tries again at {at}; to run it now: `hermes jobs run {kind}`"
                ))
                .into());
        }
        Ended::GivenUp { error, .. } => {
            let what = format!("{kind} failed: {error}");
            return Err(Problem::new(Kind::Failure, what).into());
        }
        Ended::Cut(cut) => return Err(cut.into()),
    }
    Ok(Outcome::Done)
}

fn retry(arguments: &Retry, app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let mut memory = app.memory(home, Access::Write)?;
    let jobs: Vec<i64> = match arguments.id {
        Some(id) => vec![memory.store.job(Admin, id)?.id],
        None => {
            let failed = memory.store.jobs(Admin, Some(JobState::Failed), usize::MAX)?;
            failed.iter().map(|job| job.id).collect()
        }
    };
    for id in &jobs {
        memory.store.retry_job(Admin, *id, app.now)?;
    }
    drop(memory);
    let daemon = running::find(home)?.pid;
    if let Some(pid) = daemon {
        // It would see the change within a minute anyway.
        let _ = process::nudge(pid);
    }
    let is_waiting = !jobs.is_empty() && daemon.is_none();
    app.out.show(&Retried { jobs })?;
    if is_waiting {
        app.out.hint("no daemon is running to do it: start it with `hermes start`");
    }
    Ok(Outcome::Done)
}

/// A state in one word.
pub(crate) fn word(state: JobState) -> &'static str {
    match state {
        JobState::Waiting => "waiting",
        JobState::Leased => "leased",
        JobState::Done => "done",
        JobState::Failed => "failed",
    }
}

impl From<State> for JobState {
    fn from(state: State) -> JobState {
        match state {
            State::Waiting => JobState::Waiting,
            State::Leased => JobState::Leased,
            State::Done => JobState::Done,
            State::Failed => JobState::Failed,
        }
    }
}

impl Show for Listed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return Ok(());
        }
        let row = |job: &Job| {
            let at = job.finished_at.unwrap_or(job.run_at);
            vec![
                job.id.to_string(),
                job.kind.clone(),
                word(job.state).to_owned(),
                job.attempts.to_string(),
                clock::minute(at, &self.zone),
                one_line(job.last_error.as_deref().unwrap_or_default(), 60),
            ]
        };
        let rows: Vec<Vec<String>> = self.results.iter().map(row).collect();
        page.table(&["id", "kind", "state", "tries", "when", "error"], &rows)
    }
}

impl Show for Ran {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{}: {}", self.kind, text::printable(&self.result)))
    }
}

impl Show for Retried {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let count = counted(self.jobs.len() as u64, "job");
        page.line(format_args!("{count} will run again"))
    }
}
