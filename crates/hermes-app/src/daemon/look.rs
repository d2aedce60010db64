//! What a profile has to do: a cheap look at its files, and a full one when they changed or time has come.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hermes_home::Home;
use hermes_home::databases::Database;
use hermes_store::memory::{Admin, Job, JobState, Memory, NewJob, Schedule};
use hermes_store::postgres::Notices;
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};

use super::jobs::{self, Comes, KINDS, Look, Need};
use super::schedule::{self, Known};
use super::work;
use crate::app::App;
use crate::hooks::finish;
use crate::known_users;
use crate::memory::OpenMemory;
use crate::process::Signals;

/// After so long a job that is needed and was given up is tried again.
const RESPITE: SignedDuration = SignedDuration::from_hours(24);
/// No wait before another try is longer than this.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(7);
/// When to look again at a job that somebody else works on.
const SOON: SignedDuration = SignedDuration::from_secs(60);

/// A profile and what was last seen of it.
pub struct Watched {
    /// The profile.
    pub home: Home,
    /// What keeps the daemon from working on it.
    pub trouble: Option<String>,
    /// Whether it is left alone: its database is another one, and only the user knows what is right.
    pub is_held: bool,
    memory: Option<PathBuf>,
    is_on_server: bool,
    /// Which memory was last seen on a server, and which change of it.
    pulse: Option<(String, i64)>,
    /// Wakes the daemon when somebody changes the memory on its server.
    notices: Option<Notices>,
    seen: Option<Stamps>,
    next: Option<Timestamp>,
}

/// What a look came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// A job is due.
    Due,
    /// Nothing to do before this time.
    Until(Option<Timestamp>),
}

impl Watched {
    /// A profile that was not looked at yet.
    pub fn new(home: Home) -> Watched {
        Watched {
            home,
            trouble: None,
            is_held: false,
            memory: None,
            is_on_server: false,
            pulse: None,
            notices: None,
            seen: None,
            next: None,
        }
    }

    /// Looks whether something is due; opens the databases only if files changed or a time has come.
    pub fn look(
        &mut self,
        app: &App,
        owner: &str,
        signals: &Signals,
        now: Timestamp,
    ) -> anyhow::Result<Seen> {
        let stamps = Stamps::of(app, &self.home, self.memory.as_deref());
        let is_same = self.seen.as_ref() == Some(&stamps) && !self.changed_on_server(app)?;
        if is_same && self.next.is_none_or(|next| next > now) {
            return Ok(Seen::Until(self.next));
        }
        // Noted before the look: what changes meanwhile is seen by the next one.
        self.seen = Some(stamps);
        self.next = Some(now + SOON);
        let seen = self.look_fully(app, owner, signals, now);
        if seen.is_err() {
            // What is wrong stays so until a look finds it right.
            self.seen = None;
        }
        seen
    }

    fn look_fully(
        &mut self,
        app: &App,
        owner: &str,
        signals: &Signals,
        now: Timestamp,
    ) -> anyhow::Result<Seen> {
        let app = app.for_profile(&self.home);
        self.memory = app.memory_file(&self.home)?;
        self.is_on_server = app.is_on_server(&self.home)?;
        let Some(mut memory) = self.open(&app)? else {
            self.next = None;
            return Ok(Seen::Until(None));
        };
        let seen = plan(&app, &self.home, &mut memory.store, owner)?;
        if self.is_on_server {
            self.note_server(&memory.store, signals)?;
        }
        self.next = match seen {
            Seen::Due => Some(now),
            Seen::Until(next) => next,
        };
        Ok(seen)
    }

    /// Notes which memory is on the server now, how far it has come and who is known there.
    fn note_server(&mut self, store: &Memory, signals: &Signals) -> anyhow::Result<()> {
        let now = store.pulse_by_mark()?;
        let is_another = self.pulse.as_ref().is_none_or(|(mark, _)| *mark != now.0);
        self.pulse = Some(now);
        if self.notices.is_none() || is_another {
            let waker = signals.waker()?;
            self.notices = store.notices(move || waker.wake());
        }
        // What cannot be noted now is noted the next time.
        drop(known_users::note(&self.home, store));
        Ok(())
    }

    /// Whether somebody changed the memory on its server since the last look. A notice only says that there may be
    /// something, and does not come through every pooler, so the server is asked: one small statement.
    fn changed_on_server(&self, app: &App) -> anyhow::Result<bool> {
        if !self.is_on_server {
            return Ok(false);
        }
        let app = app.for_profile(&self.home);
        let memory = app.memory(&self.home, Access::Read)?;
        Ok(Some(memory.store.pulse_by_mark()?) != self.pulse)
    }

    /// The next look is a full one.
    pub fn look_again(&mut self) {
        self.seen = None;
    }

    /// The memory, if there is one or one is needed; fails if it is lost, or another one is in its place.
    fn open(&mut self, app: &App) -> anyhow::Result<Option<OpenMemory>> {
        let Some(path) = &self.memory else {
            return match self.is_on_server {
                true => app.memory(&self.home, Access::Write).map(Some),
                false => Ok(None),
            };
        };
        app.refuse_lost(&self.home, Database::Memory)?;
        let is_there = path.symlink_metadata().is_ok();
        let look = Look { app, home: &self.home, store: None };
        if !is_there && needed(&look)?.0.is_empty() {
            return Ok(None);
        }
        app.memory(&self.home, Access::Write).map(Some)
    }
}

/// Frees what dead workers left, queues what is due by rule or need, and finds the next time.
fn plan(app: &App, home: &Home, store: &mut Memory, owner: &str) -> anyhow::Result<Seen> {
    let now = app.now;
    free(store, owner, now)?;
    let changed = settings_changed(home);
    let mut next = keep_schedules(app, home, store)?;
    let (needed, later) = needed(&Look { app, home, store: Some(store) })?;
    next = earlier(next, later);
    for kind in needed {
        let kind = &jobs::name_here(app, home, kind);
        let rests_until = rest(store, kind)?.filter(|until| *until > now);
        match rests_until {
            Some(until) => next = earlier(next, Some(until)),
            None => next = earlier(next, queue_here(store, kind, now)?),
        }
    }
    let is_ours = |job: &Job| jobs::is_ours(app, home, &job.kind);
    begin_anew(store, &is_ours, changed, now)?;
    for job in store.open_jobs(Admin, jobs::MANY)?.iter().filter(|job| is_ours(job)) {
        let at = match job.state {
            JobState::Waiting if job.run_at <= now => return Ok(Seen::Due),
            JobState::Waiting if is_too_late(job, now) => {
                store.retry_job(Admin, job.id, now)?;
                return Ok(Seen::Due);
            }
            JobState::Waiting => job.run_at,
            _ => now + SOON,
        };
        next = earlier(next, Some(at));
    }
    Ok(Seen::Until(next))
}

/// When config.yaml or .env last changed.
fn settings_changed(home: &Home) -> Option<Timestamp> {
    let times = [home.config(), home.secrets()]
        .into_iter()
        .filter_map(|path| Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok());
    times.max()
}

/// What failed before the settings changed may succeed with the new ones: it begins anew at once.
fn begin_anew(
    store: &mut Memory,
    is_ours: &dyn Fn(&Job) -> bool,
    changed: Option<Timestamp>,
    now: Timestamp,
) -> anyhow::Result<()> {
    let Some(changed) = changed.filter(|changed| *changed <= now) else { return Ok(()) };
    let mut all = store.open_jobs(Admin, jobs::MANY)?;
    for job in store.jobs(Admin, Some(JobState::Failed), jobs::MANY)? {
        if all.iter().all(|other| other.kind != job.kind) {
            all.push(job);
        }
    }
    for job in all.iter().filter(|job| is_ours(job)) {
        let failed_at = match job.state {
            // What is due anyway keeps count of its tries: it may be what kills its worker.
            JobState::Waiting if job.own_tries() > 0 && job.run_at > now => {
                schedule::back_off(job.own_tries()).map(|wait| job.run_at - wait)
            }
            JobState::Failed => job.finished_at,
            _ => None,
        };
        if failed_at.is_some_and(|failed_at| failed_at < changed) {
            store.retry_job(Admin, job.id, now)?;
        }
    }
    Ok(())
}

/// Only a clock that was ahead makes a try wait so long.
fn is_too_late(job: &Job, now: Timestamp) -> bool {
    job.attempts > 0 && job.run_at > now + LONGEST_WAIT
}

/// Jobs whose worker is gone wait again, the longer the more often that was so without getting on.
fn free(store: &mut Memory, own: &str, now: Timestamp) -> anyhow::Result<()> {
    for leased in store.leases(Admin)? {
        // Whoever looks works on nothing: a server went away before it could be told how the job ended.
        let is_own = leased.owner == own;
        // Daemons of other homes work on a shared memory too: theirs end by time.
        let is_gone = work::is_gone(&leased.owner, own, !store.is_on_server());
        if is_own || is_gone || leased.until <= now {
            let wait = schedule::wait_after_cut(leased.cut_short.saturating_add(1));
            // The job did not kill its worker, who is here to try again.
            let wait = if is_own { wait.min(SOON) } else { wait };
            store.put_back_cut_job(Admin, &leased, now + wait)?;
        }
    }
    Ok(())
}

/// Keeps the schedules as the settings want them, queues what is due, and returns the next time.
fn keep_schedules(app: &App, home: &Home, store: &mut Memory) -> anyhow::Result<Option<Timestamp>> {
    let kept = store.schedules(Admin)?;
    let (zone, now) = (app.zone(home)?, app.now);
    let mut first = None;
    for kind in KINDS.iter().filter(|kind| jobs::can(kind.name)) {
        let Comes::ByRule(rule_of) = kind.comes else { continue };
        let cron = rule_of(&app.config(home)?.config);
        let name = jobs::name_here(app, home, kind.name);
        let before = kept.iter().find(|schedule| schedule.name == name);
        let rule = cron.as_deref().and_then(schedule::parse);
        let is_same = before.is_some_and(|before| Some(&before.cron) == cron.as_ref());
        let known = Known {
            last: before.and_then(|before| before.last_run),
            planned: before.and_then(|before| before.next_run).filter(|_| is_same),
        };
        let next = rule.and_then(|rule| schedule::next_run(&rule, known, now, &zone));
        let wanted = Schedule {
            name: name.clone(),
            cron: cron.unwrap_or_default(),
            next_run: next,
            last_run: known.last,
            last_result: before.and_then(|before| before.last_result.clone()),
        };
        let is_worth_keeping = before.is_some() || next.is_some();
        if is_worth_keeping && before != Some(&wanted) {
            store.keep_schedule(Admin, &wanted)?;
        }
        match next {
            Some(next) if next <= now => first = earlier(first, queue_here(store, &name, now)?),
            next => first = earlier(first, next),
        }
    }
    Ok(first)
}

/// The kinds that a look shows to be needed, and when one will be if nothing changes.
fn needed(look: &Look<'_>) -> anyhow::Result<(Vec<&'static str>, Option<Timestamp>)> {
    let (mut found, mut later) = (Vec::new(), None);
    for kind in KINDS.iter().filter(|kind| jobs::can(kind.name)) {
        let Comes::WhenNeeded(need_of) = kind.comes else { continue };
        match need_of(look)? {
            Need::Now => found.push(kind.name),
            Need::At(at) => later = earlier(later, Some(at)),
            Need::No => {}
        }
    }
    Ok((found, later))
}

/// Until when a kind rests after it was done: work that leaves something undone must not spin.
fn rest(store: &Memory, kind: &str) -> anyhow::Result<Option<Timestamp>> {
    let done = store.jobs(Admin, Some(JobState::Done), jobs::MANY)?;
    let last = done.iter().filter(|job| job.kind == kind).filter_map(|job| job.finished_at).max();
    Ok(last.map(|last| last + SOON))
}

/// Queues a job of a kind, unless the same is under way for another home: then it says when to look again.
fn queue_here(store: &mut Memory, kind: &str, now: Timestamp) -> anyhow::Result<Option<Timestamp>> {
    if store.is_on_server() {
        let open = store.open_jobs(Admin, jobs::MANY)?;
        if jobs::is_under_way_elsewhere(&open, kind, now) {
            return Ok(Some(now + SOON));
        }
    }
    queue(store, kind, now)?;
    Ok(None)
}

/// Queues a job of a kind once; one that was given up rests a day, then all begins again.
fn queue(store: &mut Memory, kind: &str, now: Timestamp) -> anyhow::Result<()> {
    let failed = store.jobs(Admin, Some(JobState::Failed), jobs::MANY)?;
    match failed.iter().find(|job| job.kind == kind) {
        Some(job) if job.run_at + RESPITE <= now || job.run_at > now + LONGEST_WAIT => {
            store.retry_job(Admin, job.id, now)?;
        }
        Some(_) => {}
        None => {
            let job =
                NewJob { kind, payload: "{}", dedupe_key: Some(kind), user: None, run_at: now };
            store.queue_job(Admin, &job, now)?;
        }
    }
    Ok(())
}

fn earlier(left: Option<Timestamp>, right: Option<Timestamp>) -> Option<Timestamp> {
    left.into_iter().chain(right).min()
}

/// Sizes and times of the files whose change means work.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamps(Vec<Option<(u64, Option<SystemTime>)>>);

impl Stamps {
    fn of(app: &App, home: &Home, memory: Option<&Path>) -> Stamps {
        let mut paths = vec![home.config(), home.secrets()];
        for database in [Some(home.state_db().as_path()), memory].into_iter().flatten() {
            let mut log = database.as_os_str().to_owned();
            log.push("-wal");
            paths.extend([database.to_owned(), log.into()]);
        }
        let inside = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let waiting = [home.spool(), home.hook_sessions()].into_iter().flat_map(inside);
        let mut spooled: Vec<PathBuf> = waiting.map(|entry| entry.path()).collect();
        spooled.extend(finish::files_outside(app));
        spooled.sort();
        paths.extend(spooled);
        Stamps(paths.iter().map(|path| stamp(path)).collect())
    }
}

fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    path.metadata().ok().map(|found| (found.len(), found.modified().ok()))
}

#[cfg(test)]
mod tests {
    use hermes_store::memory::{Change, Lease, Wanted};
    use hermes_store::sqlite::DEFAULT_WAIT;

    use super::*;

    const GONE: &str = "command:4194305:0";

    /// One try of the job that is cut short: by the time it ends it came on, or not.
    fn dies(store: &mut Memory, now: Timestamp, came_on: bool) -> Job {
        let lease = Lease { owner: GONE, until: now + SOON };
        let job = store.lease_job(Admin, &["extract"], lease, now).unwrap().unwrap();
        if came_on {
            assert!(store.note_job_came_on(Admin, job.id, GONE).unwrap());
        }
        free(store, "daemon:1:0", now).unwrap();
        store.job(Admin, job.id).unwrap()
    }

    #[test]
    fn a_job_that_comes_on_is_tried_again_at_once_however_often_its_worker_dies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let wanted = Wanted { path: &path, profile: "default" };
        // To the millisecond, as databases keep times.
        let mut now = Timestamp::from_millisecond(1_800_000_000_000).unwrap();
        Memory::create(wanted, "owner", Change { actor: "test", at: now }).unwrap();
        let mut store = Memory::open(wanted, Access::Write, DEFAULT_WAIT).unwrap();
        queue(&mut store, "extract", now).unwrap();
        for _ in 0..20 {
            let job = dies(&mut store, now, true);
            assert_eq!((job.state, job.cut_short()), (JobState::Waiting, 1));
            assert_eq!(job.run_at, now + SignedDuration::from_secs(1));
            now = job.run_at;
        }
        let mut waits = Vec::new();
        for _ in 0..8 {
            let job = dies(&mut store, now, false);
            assert_eq!((job.state, job.own_tries()), (JobState::Waiting, 0));
            waits.push(job.run_at.duration_since(now).as_secs());
            now = job.run_at;
        }
        assert_eq!(waits, [4, 16, 64, 256, 900, 900, 900, 900]);
        // Who wants it at once gets it, and all is as in the beginning.
        let id = store.open_jobs(Admin, 1).unwrap()[0].id;
        store.retry_job(Admin, id, now).unwrap();
        let job = dies(&mut store, now, false);
        assert_eq!((job.attempts, job.cut_short()), (1, 1));
    }

    #[test]
    fn what_this_daemon_still_holds_is_tried_again_within_a_minute_however_often_it_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let wanted = Wanted { path: &path, profile: "default" };
        let mut now = Timestamp::from_millisecond(1_800_000_000_000).unwrap();
        Memory::create(wanted, "owner", Change { actor: "test", at: now }).unwrap();
        let mut store = Memory::open(wanted, Access::Write, DEFAULT_WAIT).unwrap();
        queue(&mut store, "catch_up", now).unwrap();
        let own = format!("daemon:{}:0", std::process::id());
        let mut waits = Vec::new();
        for _ in 0..8 {
            let lease = Lease { owner: &own, until: now + SOON };
            let job = store.lease_job(Admin, &["catch_up"], lease, now).unwrap().unwrap();
            free(&mut store, &own, now).unwrap();
            let job = store.job(Admin, job.id).unwrap();
            assert_eq!((job.state, job.own_tries()), (JobState::Waiting, 0));
            waits.push(job.run_at.duration_since(now).as_secs());
            now = job.run_at;
        }
        assert_eq!(waits, [1, 4, 16, 60, 60, 60, 60, 60]);
    }

    #[test]
    fn a_lease_that_ran_out_is_a_worker_that_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory.db");
        let wanted = Wanted { path: &path, profile: "default" };
        let now = crate::clock::now();
        Memory::create(wanted, "owner", Change { actor: "test", at: now }).unwrap();
        let mut store = Memory::open(wanted, Access::Write, DEFAULT_WAIT).unwrap();
        queue(&mut store, "extract", now).unwrap();
        // A worker of another machine: only its lease tells.
        let lease = Lease { owner: "daemon:1:0:elsewhere", until: now + SOON };
        let job = store.lease_job(Admin, &["extract"], lease, now).unwrap().unwrap();
        free(&mut store, "daemon:1:0", now).unwrap();
        assert_eq!(store.job(Admin, job.id).unwrap().state, JobState::Leased);
        free(&mut store, "daemon:1:0", now + SOON).unwrap();
        let job = store.job(Admin, job.id).unwrap();
        assert_eq!((job.state, job.cut_short()), (JobState::Waiting, 1));
    }
}
