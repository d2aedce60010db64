//! The loop of the daemon: look at every profile, do what is due, sleep.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hermes_home::{Home, ProfileName, lock, profile};
use hermes_store::Error as StoreError;
use hermes_store::memory::Job;
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};

use hermes_app::app::App;
use hermes_app::clock;
use hermes_app::daemon::backup::Backups;
use hermes_app::daemon::log::Log;
use hermes_app::daemon::look::{Seen, Watched};
use hermes_app::daemon::take_lock;
use hermes_app::daemon::work::{self, Cut, Ended, Means};
use hermes_app::problem::{Kind, Problem, kind_word, message};
use hermes_app::process::{self, Identity, Signals};
use hermes_app::running::find;
use hermes_app::running::state::{self, State};
use hermes_server::Running;

/// The longest sleep: a look at the files costs nothing worth counting.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);
/// How often daemon.json is written while nothing happens; in between it is only touched.
const BEAT: SignedDuration = SignedDuration::from_mins(5);
/// How long a job may take to end when the daemon must stop.
const GRACE: Duration = Duration::from_secs(2);
/// How long all of it may take, whatever a server or a disk does meanwhile.
const LONGEST_END: Duration = Duration::from_millis(3500);

/// How the daemon was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Somebody, or a service manager, watches its standard error.
    Watched,
    /// Left behind by a command.
    LeftBehind,
}

/// Runs until it is told to stop; fails if another daemon runs for this home.
pub(crate) fn run(app: &App, manner: Manner) -> anyhow::Result<()> {
    if manner == Manner::LeftBehind {
        process::leave_terminal();
    }
    let home = app.root_home()?;
    home.must_exist()?;
    let held = match take_lock(&home) {
        // Whoever left this one behind looks for the other; its standard error is the log.
        Err(_) if manner == Manner::LeftBehind && find(&home)?.pid.is_some() => {
            return Ok(());
        }
        other => other?,
    };
    let signals = Signals::listen()?;
    end_in_any_case(&signals, &home, manner)?;
    hermes_home::atomic::make_folder(&home.logs())?;
    let before = state::read(&home)?;
    let now = clock::now();
    let mut daemon = Daemon {
        app,
        owner: work::owner("daemon", now),
        lock: process::identity(&home.daemon_lock()),
        log: Log::new(&home, manner == Manner::Watched),
        state: State::new(now),
        profiles: BTreeMap::new(),
        backups: Backups::default(),
        server: None,
        signals,
        home,
    };
    daemon.listen();
    daemon.begin(before)?;
    let ended = daemon.go_on();
    daemon.end(held, ended)
}

/// Ends the process when it was asked to stop and something in it waits for what never comes, such as the answer of a
/// server. All that is written is whole at any moment, and work that is cut short is done again.
#[expect(clippy::exit, reason = "what keeps the daemon from ending cannot be asked to end")]
fn end_in_any_case(signals: &Signals, home: &Home, manner: Manner) -> anyhow::Result<()> {
    let (bell, home) = (signals.stop_bell()?, home.clone());
    std::thread::Builder::new().name("stop".to_owned()).spawn(move || {
        if !bell.wait() {
            return;
        }
        std::thread::sleep(LONGEST_END);
        let now = clock::now();
        let mut log = Log::new(&home, manner == Manner::Watched);
        log.line(now, "stopped before its work was finished: something did not respond");
        if let Ok(Some(state)) = state::read(&home) {
            let _ = State { beat_at: now, stopped_at: Some(now), ..state }.write(&home);
        }
        std::process::exit(0);
    })?;
    Ok(())
}

struct Daemon<'a> {
    app: &'a App,
    home: Home,
    owner: String,
    lock: Option<Identity>,
    log: Log,
    state: State,
    profiles: BTreeMap<Option<ProfileName>, Watched>,
    backups: Backups,
    server: Option<Running>,
    signals: Signals,
}

impl Daemon<'_> {
    fn begin(&mut self, before: Option<State>) -> anyhow::Result<()> {
        let (now, pid) = (self.state.started_at, self.state.pid);
        if let Some(before) = before.filter(|before| before.stopped_at.is_none()) {
            let seen = before.beat_at.strftime("%Y-%m-%dT%H:%M:%SZ");
            let line = format!(
                "the previous daemon ended unexpectedly: pid {}, last seen {seen}",
                before.pid
            );
            self.log.line(now, &line);
        }
        self.log.line(now, &format!("started: pid {pid}, version {}", self.state.version));
        self.state.write(&self.home)
    }

    /// Lets other programs in; whatever keeps it from that does not keep it from its work.
    fn listen(&mut self) {
        let app = self.app.for_profile(&self.home);
        self.state.server_trouble = None;
        match hermes_server::start(&app, &self.home) {
            Ok(server) => self.server = server,
            Err(error) => {
                let text = message(&error);
                self.log.line(clock::now(), &format!("not listening: {text}"));
                self.state.server_trouble = Some(text);
            }
        }
        self.state.url = self.server.as_ref().map(Running::url);
        self.state.dashboard = self.server.as_ref().map(|server| server.dashboard.clone());
        self.state.address = self.server.as_ref().map(|server| server.address.to_string());
        if let Some(url) = &self.state.url {
            self.log.line(clock::now(), &format!("listening on {url}"));
        }
    }

    /// Until it must stop.
    fn go_on(&mut self) -> anyhow::Result<()> {
        let stop = self.signals.stop();
        while !stop.load(Ordering::SeqCst) {
            if self.signals.take_reload() {
                self.log.line(clock::now(), "settings reloaded");
                self.profiles.clear();
                self.state.trouble.clear();
                self.backups.look_again();
                if let Some(server) = self.server.take() {
                    server.end();
                }
                self.listen();
                self.state.write(&self.home)?;
            }
            if self.signals.take_nudge() {
                self.profiles.values_mut().for_each(Watched::look_again);
                self.backups.look_again();
            }
            self.refuse_lost_home()?;
            self.find_profiles();
            let (did_work, next) = self.round(&stop);
            let backup = self.backups.look(self.app, &self.home, &mut self.log);
            let next = next.into_iter().chain(backup).min();
            self.beat()?;
            if !did_work && !stop.load(Ordering::SeqCst) {
                self.signals.wait(sleep(next, clock::now()));
            }
        }
        Ok(())
    }

    /// One job of each profile that has one due; says whether there was any, and when the next is.
    fn round(&mut self, stop: &Arc<AtomicBool>) -> (bool, Option<Timestamp>) {
        let (mut did_work, mut first) = (false, None);
        let names: Vec<Option<ProfileName>> = self.profiles.keys().cloned().collect();
        for name in names {
            if stop.load(Ordering::SeqCst) {
                break;
            }
            match self.look(&name) {
                Some(Seen::Due) => did_work |= self.work(&name, stop),
                Some(Seen::Until(next)) => first = first.into_iter().chain(next).min(),
                None => {}
            }
        }
        (did_work, first)
    }

    fn look(&mut self, name: &Option<ProfileName>) -> Option<Seen> {
        let now = clock::now();
        let watched = self.profiles.get_mut(name)?;
        if watched.is_held {
            return None;
        }
        match watched.look(self.app, &self.owner, &self.signals, now) {
            Ok(seen) => {
                self.clear_trouble(name);
                Some(seen)
            }
            Err(error) => {
                self.in_trouble(name, &error);
                None
            }
        }
    }

    /// Does one job; false if there was none after all, or it could not be begun.
    fn work(&mut self, name: &Option<ProfileName>, stop: &Arc<AtomicBool>) -> bool {
        let Some(watched) = self.profiles.get(name) else { return false };
        let profile = watched.home.profile_name().to_owned();
        match self.in_thread(watched, stop) {
            Ok(Some((job, ended))) => {
                self.tell(&profile, &job, &ended);
                if ended == Ended::Cut(Cut::Replaced)
                    && let Some(watched) = self.profiles.get_mut(name)
                {
                    // Which memory is there now the next look finds out.
                    watched.look_again();
                }
                true
            }
            Ok(None) => false,
            Err(error) => {
                self.in_trouble(name, &error);
                false
            }
        }
    }

    /// In a thread of its own, so that a job that does not end cannot keep the daemon from ending.
    fn in_thread(
        &self,
        watched: &Watched,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Option<(Job, Ended)>> {
        let home = watched.home.clone();
        let app = self.app.for_profile(&home);
        let (owner, stop, waker) = (self.owner.clone(), Arc::clone(stop), self.signals.waker()?);
        let thread = std::thread::Builder::new().name("job".to_owned()).spawn(move || {
            let (app, home, owner, stop) = (&app, &home, owner.as_str(), stop.as_ref());
            let means = Means { app, home, owner, stop, deadline: None };
            let memory = app.memory(home, Access::Write);
            let done = memory.and_then(|memory| work::run_next(&means, memory));
            waker.wake();
            done
        })?;
        self.wait_for(thread)
    }

    fn wait_for<T>(
        &self,
        thread: JoinHandle<anyhow::Result<Option<T>>>,
    ) -> anyhow::Result<Option<T>> {
        let stop = self.signals.stop();
        let mut asked: Option<Instant> = None;
        let mut touched = Instant::now();
        while !thread.is_finished() {
            if touched.elapsed() >= LONGEST_SLEEP {
                state::touch(&self.home);
                touched = Instant::now();
            }
            if stop.load(Ordering::SeqCst) {
                let asked = asked.get_or_insert_with(Instant::now);
                if asked.elapsed() > GRACE {
                    return Err(Cut::Stopped.into());
                }
                self.signals.wait(Duration::from_millis(100));
            } else {
                self.signals.wait(Duration::from_secs(1));
            }
        }
        thread
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the job ended with an internal error")))
    }

    fn tell(&mut self, profile: &str, job: &Job, ended: &Ended) {
        let how = match ended {
            Ended::Done(text) => format!("done: {text}"),
            Ended::Again { at, kind, .. } | Ended::Away { at, kind, .. } => {
                format!("failed ({kind}), retry at {}", at.strftime("%Y-%m-%dT%H:%M:%SZ"))
            }
            Ended::GivenUp { kind, .. } => format!("failed ({kind}), given up"),
            Ended::Cut(cut) => format!("interrupted: {cut}"),
        };
        let line = format!("job {} {} of {profile}: {how}", job.id, job.kind);
        self.log.line(clock::now(), &line);
    }

    fn in_trouble(&mut self, name: &Option<ProfileName>, error: &anyhow::Error) {
        let Some(watched) = self.profiles.get_mut(name) else { return };
        let profile = watched.home.profile_name().to_owned();
        let text = message(error);
        if matches!(error.downcast_ref(), Some(StoreError::Replaced { .. })) {
            let text =
                "memory.db was replaced or removed: the daemon does not write to it".to_owned();
            watched.is_held = true;
            watched.trouble = Some(text.clone());
            self.log.line(clock::now(), &format!("{profile}: {text} until `hermes restart`"));
            self.say_trouble(profile, text);
            return;
        }
        if watched.trouble.as_ref() != Some(&text) {
            self.log
                .line(clock::now(), &format!("{profile}: could not work ({})", kind_word(error)));
            watched.trouble = Some(text.clone());
            self.say_trouble(profile, text);
        }
    }

    fn say_trouble(&mut self, profile: String, text: String) {
        self.state.trouble.insert(profile, text);
        let _ = self.state.write(&self.home);
    }

    fn clear_trouble(&mut self, name: &Option<ProfileName>) {
        let Some(watched) = self.profiles.get_mut(name) else { return };
        if watched.trouble.take().is_some() {
            self.state.trouble.remove(watched.home.profile_name());
            let _ = self.state.write(&self.home);
        }
    }

    /// The root home and every profile that is there now.
    fn find_profiles(&mut self) {
        let names = profile::list(&self.home).unwrap_or_default();
        self.profiles.retain(|name, _| name.as_ref().is_none_or(|name| names.contains(name)));
        for name in names.into_iter().map(Some).chain([None]) {
            let home = self.home.sibling(name.clone());
            self.profiles.entry(name).or_insert_with(|| Watched::new(home));
        }
    }

    /// Without its lock file the home is gone or another one, and another daemon may run for it.
    fn refuse_lost_home(&self) -> anyhow::Result<()> {
        let path = self.home.daemon_lock();
        if path.exists() && process::identity(&path) == self.lock {
            return Ok(());
        }
        let what = format!("{} is missing: the home was moved or removed", path.display());
        Err(Problem::new(Kind::Missing, what).into())
    }

    fn beat(&mut self) -> anyhow::Result<()> {
        let now = clock::now();
        let since = now.duration_since(self.state.beat_at);
        // A clock that went back is noted too.
        if since < BEAT && since >= SignedDuration::ZERO {
            state::touch(&self.home);
            return Ok(());
        }
        self.state.beat_at = now;
        self.state.write(&self.home)
    }

    fn end(mut self, held: lock::Held, ended: anyhow::Result<()>) -> anyhow::Result<()> {
        self.backups.stop();
        if let Some(server) = self.server.take() {
            server.end();
        }
        let now = clock::now();
        if self.refuse_lost_home().is_ok() {
            self.log.line(
                now,
                &match &ended {
                    Ok(()) => "stopped".to_owned(),
                    Err(error) => format!("stopped after an error ({})", kind_word(error)),
                },
            );
            self.state.beat_at = now;
            self.state.stopped_at = Some(now);
            self.state.write(&self.home)?;
        }
        drop(held);
        ended
    }
}

/// How long to sleep when the next thing is due then.
fn sleep(next: Option<Timestamp>, now: Timestamp) -> Duration {
    let until = next.map(|next| now.duration_until(next));
    let until = until.map(|until| Duration::try_from(until).unwrap_or_default());
    until.unwrap_or(LONGEST_SLEEP).min(LONGEST_SLEEP)
}
