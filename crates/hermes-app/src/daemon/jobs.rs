//! The kinds of jobs: one line for each, with what it does and when it comes.

use hermes_home::Home;
use hermes_home::config::{Config, Schedule as Often};
use hermes_memory::chunk::Vectors;
use hermes_memory::reembed;
use hermes_store::memory::{Admin, Job, JobState, Memory, NewJob};
use jiff::{SignedDuration, Timestamp};

use super::pruning::{self, PRUNE};
use super::work::Worker;
use super::{CATCH_UP, compaction, life, reflection};
use crate::app::App;
use crate::clock;
use crate::embedding::{self, Haste};
use crate::problem::{Kind as Failed, Problem};
use crate::text::{bytes, counted};

/// A kind of job.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub does: &'static str,
    /// When it comes.
    pub comes: Comes,
    /// Whose daemon does it, where several homes share a memory.
    at: At,
    /// The work: returns what was done, in counts, since that is logged.
    work: Work,
}

/// Where a job may be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// By whoever is free: all it touches is in the memory.
    Anywhere,
    /// In the home that it is for: it reads or writes files there.
    Home,
}

/// What a job does.
type Work = fn(&mut Worker<'_>) -> anyhow::Result<String>;

/// When a kind of job comes.
#[derive(Clone, Copy)]
pub enum Comes {
    /// By a rule that the settings give: a cron line, or `every 15m`; none: never.
    ByRule(fn(&Config) -> Option<String>),
    /// When a look at the profile shows that it is needed.
    WhenNeeded(fn(&Look<'_>) -> anyhow::Result<Need>),
}

/// Whether a job is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// At once.
    Now,
    /// Not before this time, if nothing changes.
    At(Timestamp),
    /// Not as things are.
    No,
}

/// What a look at a profile sees.
pub struct Look<'a> {
    /// Its settings.
    pub app: &'a App,
    /// The profile.
    pub home: &'a Home,
    /// Its memory; none if there is no memory.db yet.
    pub store: Option<&'a Memory>,
}

/// Every kind of job.
#[rustfmt::skip] // One kind a row reads as a table.
pub const KINDS: &[Kind] = &[
    kind(CATCH_UP, At::Home, "record messages and turns that arrived elsewhere", Comes::WhenNeeded(life::lacks_messages), life::catch_up),
    kind("extract", At::Home, "extract facts from finished conversations", Comes::WhenNeeded(life::has_waiting_episodes), life::extract),
    kind("reflect", At::Home, "reflect on finished conversations", Comes::WhenNeeded(reflection::has_waiting_sessions), reflection::reflect),
    kind("look_back", At::Home, "compare many conversations, and find outdated entries", Comes::ByRule(look_back_rule), reflection::look_back),
    kind("learn", At::Home, "draft skills from tasks that went well", Comes::ByRule(learn_rule), reflection::learn),
    kind("compact", At::Anywhere, "summarise old conversations", Comes::ByRule(compaction::rule), compaction::compact),
    kind(PRUNE, At::Home, "delete sessions past their retention period", Comes::ByRule(pruning::rule), pruning::prune),
    kind("vacuum", At::Anywhere, "free unused space", Comes::ByRule(vacuum_rule), vacuum),
    kind("reembed", At::Anywhere, "compute missing vectors", Comes::WhenNeeded(lacks_vectors), reembed),
];

/// More jobs than this are not looked through.
pub const MANY: usize = 1000;
/// How long a job that is done is shown.
const KEPT: SignedDuration = SignedDuration::from_hours(24 * 30);

/// How long a daemon of another home may take to begin with its job.
const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

const fn kind(name: &'static str, at: At, does: &'static str, comes: Comes, work: Work) -> Kind {
    Kind { name, does, comes, at, work }
}

/// Does a job of a kind.
pub fn perform(kind: &str, worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let kind = find(kind).ok_or_else(|| {
        Problem::new(Failed::Refused, format!("this version cannot run jobs of the kind {kind}"))
    })?;
    (kind.work)(worker)
}

/// Lets a kind of job be done at once; false if one waits already. The daemon hears of it.
pub fn queue_now(store: &mut Memory, kind: &str, now: Timestamp) -> anyhow::Result<bool> {
    let job = NewJob { kind, payload: "{}", dedupe_key: Some(kind), user: None, run_at: now };
    let queued = store.queue_job(Admin, &job, now)?.is_some();
    // Whoever asks over the listener sits in the daemon itself.
    let _ = crate::process::nudge(std::process::id());
    Ok(queued)
}

/// The kind with this name, whichever home it is for.
pub fn find(name: &str) -> Option<&'static Kind> {
    let kind = name.split('@').next().unwrap_or_default();
    KINDS.iter().find(|known| known.name == kind)
}

/// The name of a kind for a profile. What reads or writes the files of a home is for that home alone: on a server that
/// several share, its name says whose it is.
pub fn name_here(app: &App, home: &Home, kind: &str) -> String {
    let is_for_home = find(kind).is_some_and(|kind| kind.at == At::Home);
    match app.is_on_server(home) {
        Ok(true) if is_for_home => format!("{kind}@{}", app.home_name(home)),
        _ => kind.to_owned(),
    }
}

/// Whether a job is one that this profile's daemon does.
pub fn is_ours(app: &App, home: &Home, name: &str) -> bool {
    find(name).is_some_and(|kind| name_here(app, home, kind.name) == name)
}

/// Whether the same work is under way for another home, so that two do not do it at once. One that nobody took for a
/// while is no reason to wait: its daemon may be gone. What each home has to take in is its own.
pub fn is_under_way_elsewhere(open: &[Job], name: &str, now: Timestamp) -> bool {
    let base = |name: &str| name.split('@').next().unwrap_or_default().to_owned();
    let is_fresh = |job: &Job| {
        job.state == JobState::Leased
            || (job.run_at > now - PATIENCE && job.run_at < now + PATIENCE)
    };
    let is_same = |job: &&Job| job.kind != name && base(&job.kind) == base(name);
    base(name) != CATCH_UP && open.iter().filter(is_same).any(is_fresh)
}

/// Whether this build does jobs of a kind.
pub fn can(name: &str) -> bool {
    find(name).is_some()
}

/// The names of the kinds that this build does for a profile.
pub fn names(app: &App, home: &Home) -> Vec<String> {
    KINDS.iter().map(|kind| name_here(app, home, kind.name)).collect()
}

fn look_back_rule(config: &Config) -> Option<String> {
    config.memory.reflection_enabled.then(|| "15 4 * * *".to_owned())
}

fn learn_rule(config: &Config) -> Option<String> {
    config.memory.reflection_enabled.then(|| "45 * * * *".to_owned())
}

/// At half past three, when few people work.
fn vacuum_rule(config: &Config) -> Option<String> {
    let line = match config.memory.vacuum_schedule {
        Often::Never => return None,
        Often::Daily => "30 3 * * *",
        Often::Weekly => "30 3 * * 0",
        Often::Monthly => "30 3 1 * *",
    };
    Some(line.to_owned())
}

fn vacuum(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let store = &mut worker.memory.store;
    let now = clock::now();
    hermes_home::before_upgrade::sweep(worker.home, now);
    let cleared = store.clear_jobs(Admin, now - KEPT)?;
    let dropped = store.drop_retired_vectors(Admin)?;
    let vacuumed = store.vacuum(Admin, now)?;
    let gained = vacuumed.before.saturating_sub(vacuumed.after);
    let (cleared, dropped) = (counted(cleared, "old job"), counted(dropped, "old vector"));
    Ok(format!("{} freed, {dropped} and {cleared} removed", bytes(gained)))
}

/// Another model than the settings ask for answers, or some texts have no vector.
fn lacks_vectors(look: &Look<'_>) -> anyhow::Result<Need> {
    let Some(store) = look.store else { return Ok(Need::No) };
    let Some(active) = store.active_model()? else { return Ok(Need::Now) };
    let is_wanted = match look.app.embedder(look.home, Haste::Work) {
        Ok(embedder) => reembed::is_model(&active, embedder.id()),
        // The job says what is missing, where people look for it.
        Err(_) => false,
    };
    if !is_wanted {
        return Ok(Need::Now);
    }
    if embedding::vectors(Some(&active)) == Vectors::Now {
        // Made with the text itself, so there is nothing to count.
        return Ok(Need::No);
    }
    let coverage = store.coverage(Admin, active.id)?;
    Ok(if coverage.done < coverage.all { Need::Now } else { Need::No })
}

fn reembed(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let Worker { app, home, memory, pulse, .. } = worker;
    let embedder = app.embedder(home, Haste::Work)?;
    let (mut going_on, mut first) = (Ok(()), None);
    let report = app.reembed(home, &mut memory.store, embedder.as_ref(), &mut |coverage| {
        if going_on.is_ok() {
            let is_more = coverage.done > *first.get_or_insert(coverage.done);
            going_on = pulse.beat().and_then(|()| if is_more { pulse.came_on() } else { Ok(()) });
        }
    });
    going_on?;
    let report = report?;
    let made = counted(report.embedded, "vector");
    Ok(format!("{made} computed with {}", embedding::name(&report.model)))
}

#[cfg(test)]
mod tests {
    use super::super::schedule;
    use super::*;

    #[test]
    fn the_same_work_is_not_begun_twice_but_nobody_is_waited_for_long() {
        let now = clock::now();
        let job = |kind: &str, state, run_at| Job {
            id: 1,
            kind: kind.to_owned(),
            payload: String::new(),
            state,
            run_at,
            attempts: 0,
            last_error: None,
            finished_at: None,
        };
        let hour = SignedDuration::from_hours(1);
        for (kind, state, run_at, expected) in [
            ("reflect@b", JobState::Leased, now - hour, true),
            ("reflect@b", JobState::Waiting, now, true),
            ("reflect@b", JobState::Waiting, now - hour, false),
            ("reflect@b", JobState::Waiting, now + hour, false),
            ("reflect@a", JobState::Leased, now, false),
            ("learn@b", JobState::Leased, now, false),
        ] {
            let found = is_under_way_elsewhere(&[job(kind, state, run_at)], "reflect@a", now);
            assert_eq!(found, expected, "{kind} {state:?}");
        }
        let taking_in = [job("catch_up@b", JobState::Leased, now)];
        assert!(!is_under_way_elsewhere(&taking_in, "catch_up@a", now));
    }

    #[test]
    fn every_kind_has_a_name_of_its_own_and_every_rule_is_understood() {
        let mut names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), KINDS.len());
        for often in [Often::Never, Often::Daily, Often::Weekly, Often::Monthly] {
            let mut config = Config::default();
            config.memory.vacuum_schedule = often;
            for kind in KINDS {
                let Comes::ByRule(rule) = kind.comes else { continue };
                let line = rule(&config);
                let is_read = line.as_deref().is_none_or(|line| schedule::parse(line).is_some());
                assert!(is_read, "{}: {line:?}", kind.name);
            }
        }
    }
}
