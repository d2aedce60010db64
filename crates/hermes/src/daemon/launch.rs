//! Leave a daemon behind, and end one.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hermes_home::Home;

use hermes_app::clock;
use hermes_app::daemon::log;
use hermes_app::problem::{Kind, Problem};
use hermes_app::process;
use hermes_app::running::find;
use hermes_app::running::state::State;

/// How long a daemon may take to be ready, or to end.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

/// What came of starting.
#[derive(Debug, Clone)]
pub(crate) enum Launched {
    /// A new daemon; with what was last heard of one that ended without a word.
    Started { pid: u32, lost: Option<Box<State>> },
    /// One was there.
    Running { pid: u32 },
}

impl Launched {
    pub(crate) fn pid(&self) -> u32 {
        match self {
            Launched::Started { pid, .. } | Launched::Running { pid } => *pid,
        }
    }
}

/// Leaves a daemon behind and waits until it is ready, unless one runs already.
pub(crate) fn start(home: &Home) -> anyhow::Result<Launched> {
    let before = find(home)?;
    if let Some(pid) = before.pid {
        return Ok(Launched::Running { pid });
    }
    let lost = before.state.filter(|state| state.stopped_at.is_none()).map(Box::new);
    let mut child = spawn(home)?;
    let begun = Instant::now();
    loop {
        let found = find(home)?;
        let is_ready = found.state.is_some_and(|state| state.pid == child.id());
        match found.pid {
            Some(pid) if pid == child.id() && is_ready => {
                return Ok(Launched::Started { pid, lost });
            }
            // Two were started at once, and the other one has the lock.
            Some(pid) if pid != child.id() && child.try_wait()?.is_some() => {
                return Ok(Launched::Running { pid });
            }
            None if child.try_wait()?.is_some() => return Err(failed("it exited immediately")),
            _ if begun.elapsed() > PATIENCE => return Err(failed("it was not ready after 10 s")),
            _ => std::thread::sleep(STEP),
        }
    }
}

/// Ends the daemon and waits until it is gone; none if there was none.
pub(crate) fn stop(home: &Home) -> anyhow::Result<Option<u32>> {
    let Some(pid) = find(home)?.pid else { return Ok(None) };
    if let Err(error) = process::ask_to_end(pid) {
        let what = format!("could not stop the daemon, pid {pid}: {error}");
        return Err(Problem::new(Kind::Failure, what).into());
    }
    let begun = Instant::now();
    while find(home)?.pid == Some(pid) {
        if begun.elapsed() > PATIENCE {
            let what = format!("could not stop the daemon: pid {pid} is still running after 10 s");
            return Err(Problem::new(Kind::Failure, what)
                .hint(format!("kill it with `kill -9 {pid}`; interrupted work runs again"))
                .into());
        }
        std::thread::sleep(STEP);
    }
    Ok(Some(pid))
}

/// Waits until a daemon runs that is not the one before; somebody else starts it.
pub(crate) fn wait_for(home: &Home, before: Option<u32>) -> anyhow::Result<Launched> {
    let begun = Instant::now();
    loop {
        match find(home)?.pid {
            Some(pid) if Some(pid) != before => return Ok(Launched::Running { pid }),
            _ if begun.elapsed() > PATIENCE => return Err(failed("it was not ready after 10 s")),
            _ => std::thread::sleep(STEP),
        }
    }
}

fn spawn(home: &Home) -> anyhow::Result<Child> {
    let errors = log::open_today(home, clock::now())?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--home").arg(home.root()).args(["start", "--foreground", "--left-behind"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    // glibc would keep a heap for each of the threads that answer requests, and give none of them back.
    command.env("MALLOC_ARENA_MAX", "2");
    // A folder that is in use could not be unmounted.
    command.current_dir("/");
    Ok(command.spawn()?)
}

fn failed(why: &str) -> anyhow::Error {
    Problem::new(Kind::Failure, format!("could not start the daemon: {why}"))
        .hint("see `hermes logs`, or try `hermes start --foreground`")
        .into()
}
