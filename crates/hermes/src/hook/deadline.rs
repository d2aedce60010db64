//! When a hook ends at the latest: the agent does not wait longer, and what it told is not lost by that.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use hermes_home::Home;
use hermes_home::env::Env;
use serde_json::Value;

use hermes_app::hooks::event::Caller;
use hermes_app::hooks::{counts, elsewhere};

/// An agent is never kept waiting longer than this.
pub(crate) const HARD_STOP: Duration = Duration::from_millis(800);
/// So long before the end it is noted that it was not enough.
const LAST_WORD: Duration = Duration::from_millis(120);
/// How much longer it may take to write down what would be lost otherwise; agents give a hook three seconds or more.
const GRACE: Duration = Duration::from_millis(1_500);
const STEP: Duration = Duration::from_millis(5);

/// What would be lost if the process ended now.
#[derive(Default)]
struct Stake {
    /// An event was read, and is not written down yet.
    is_busy: bool,
    /// Turns that are in no file, and the home they are for.
    unsaved: Option<(Home, Vec<Value>)>,
    /// A home with turns in files that are not recorded yet.
    unfinished: Option<Home>,
    /// Whom to tell that it was not enough.
    counts: Option<PathBuf>,
}

/// Ends the process when the time is up; not if it is dropped before.
pub(crate) struct Deadline {
    stake: Arc<Mutex<Stake>>,
    _guard: mpsc::Sender<()>,
}

impl Deadline {
    /// Begins to count.
    pub(super) fn begin(caller: Option<Caller>, env: &Env, now: jiff::Timestamp) -> Deadline {
        let stake = Arc::new(Mutex::new(Stake::default()));
        let (guard, over) = mpsc::channel::<()>();
        let (watched, env) = (Arc::clone(&stake), env.clone());
        std::thread::spawn(move || {
            let waited = over.recv_timeout(HARD_STOP - LAST_WORD);
            if waited != Err(mpsc::RecvTimeoutError::Timeout) {
                return;
            }
            let has_stake = has_stake(&watched);
            let (done, is_done) = mpsc::channel::<()>();
            std::thread::spawn(move || {
                save(&watched, &env);
                let counts = lock(&watched).counts.take();
                if let (Some(path), Some(caller)) = (counts, caller) {
                    let why = Some(format!("it took longer than {} ms", HARD_STOP.as_millis()));
                    let _ = counts::count(&path, caller.name(), "?", now, why);
                }
                let _ = done.send(());
            });
            let _ = is_done.recv_timeout(if has_stake { GRACE } else { LAST_WORD });
            std::process::exit(0);
        });
        Deadline { stake, _guard: guard }
    }

    /// Whom to tell that the time was not enough.
    pub(super) fn tells(&self, home: &Home) {
        lock(&self.stake).counts = Some(home.hook_counts());
    }

    /// An event was read that must be written down.
    pub(super) fn is_busy(&self) {
        lock(&self.stake).is_busy = true;
    }

    /// What the event told is in a file of the home, and not recorded yet.
    pub(super) fn is_kept(&self, home: &Home) {
        self.becomes(Stake { unfinished: Some(home.clone()), ..Stake::default() });
    }

    /// What the event told could not be written into a file of the home.
    pub(super) fn is_not_kept(&self, home: &Home, told: &[Value]) {
        let unsaved = Some((home.clone(), told.to_vec()));
        self.becomes(Stake { unsaved, ..Stake::default() });
    }

    /// Nothing is at stake any more.
    pub(super) fn is_done(&self) {
        self.becomes(Stake::default());
    }

    fn becomes(&self, next: Stake) {
        let mut stake = lock(&self.stake);
        let counts = stake.counts.take();
        *stake = Stake { counts, ..next };
    }
}

fn has_stake(stake: &Mutex<Stake>) -> bool {
    let stake = lock(stake);
    stake.is_busy || stake.unsaved.is_some() || stake.unfinished.is_some()
}

/// Writes down what is in no file, and lets a process of its own do the rest.
fn save(stake: &Mutex<Stake>, env: &Env) {
    let begun = Instant::now();
    while lock(stake).is_busy && begun.elapsed() < GRACE {
        std::thread::sleep(STEP);
    }
    let (unsaved, unfinished) = {
        let mut stake = lock(stake);
        (stake.unsaved.take(), stake.unfinished.take())
    };
    if let Some((home, told)) = unsaved {
        for turn in &told {
            let _ = elsewhere::put_line(env, &home, turn);
        }
    }
    if let Some(home) = unfinished {
        finish_alone(&home);
    }
}

/// Starts a process that takes in what is left, however long that takes; it outlives the agent.
fn finish_alone(home: &Home) {
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.arg("--home").arg(home.root()).args(["--profile", home.profile_name()]);
    command.args(["--quiet", "memory", "catch-up"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let _ = command.spawn();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
