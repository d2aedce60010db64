//! Whether a daemon runs for a home, and what it last said about itself.

pub mod state;

use hermes_home::{Home, lock};
use hermes_memory::record::spool;
use hermes_store::memory::{Admin, Memory};

use crate::app::App;
use crate::clock;
use crate::process;
use crate::rules::IDLE;
use crate::text::counted;
use state::State;

/// What is known about the daemon of a home.
#[derive(Debug, Clone)]
pub struct Found {
    /// The process that runs now.
    pub pid: Option<u32>,
    /// What it, or the last one, said about itself.
    pub state: Option<State>,
}

/// Looks for the daemon of a home; makes nothing.
pub fn find(home: &Home) -> anyhow::Result<Found> {
    let holder = lock::holder(&home.daemon_lock())?;
    let pid = holder.as_deref().and_then(Holder::parse).and_then(|holder| {
        let is_daemon = holder.what == DAEMON && process::is_alive(holder.pid);
        is_daemon.then_some(holder.pid)
    });
    Ok(Found { pid, state: state::read(home)? })
}

/// What is to be said where a daemon once ran, none does now, and work has piled up since: turns in files,
/// or conversations that nothing was drawn from. Whoever never started one does without by choice.
pub fn left_alone(app: &App, home: &Home, store: &Memory) -> anyhow::Result<Option<String>> {
    let found = find(home)?;
    let Some(state) = found.state.filter(|_| found.pid.is_none()) else { return Ok(None) };
    let files = spool::waiting(&home.spool()) as u64;
    let undrawn = !store.waiting_episodes(Admin, app.now - IDLE, 1)?.is_empty();
    let what = match (files, undrawn) {
        (0, false) => return Ok(None),
        (0, true) => "no facts were extracted from the latest conversations".to_owned(),
        (files, _) => format!("{} not recorded yet", counted(files, "turn file")),
    };
    let since = clock::minute(state.last_seen(), &app.zone(home)?);
    Ok(Some(format!("no daemon since {since}, and {what}; start it with `hermes start`")))
}

/// What the lock says when a daemon has it.
pub(crate) const DAEMON: &str = "daemon";

/// Who has the lock of the daemon, as the lock file says it: `daemon 1234`.
pub(crate) struct Holder<'a> {
    pub(crate) what: &'a str,
    pub(crate) pid: u32,
}

impl Holder<'_> {
    fn parse(text: &str) -> Option<Holder<'_>> {
        let (what, pid) = text.split_once(' ')?;
        Some(Holder { what, pid: pid.parse().ok()? })
    }
}

impl std::fmt::Display for Holder<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.what, self.pid)
    }
}
