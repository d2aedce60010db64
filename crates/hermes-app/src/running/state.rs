//! daemon.json: what the daemon last said about itself.

use std::collections::BTreeMap;

use hermes_home::{Home, atomic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What the daemon says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it last wrote this.
    pub beat_at: Timestamp,
    /// When it ended, if it did so in good order.
    #[serde(default)]
    pub stopped_at: Option<Timestamp>,
    /// Where other programs reach it, if it listens: `http://127.0.0.1:8420`.
    #[serde(default)]
    pub url: Option<String>,
    /// Where a browser finds the dashboard, by the name that is its own.
    #[serde(default)]
    pub dashboard: Option<String>,
    /// Address and port alone.
    #[serde(default)]
    pub address: Option<String>,
    /// Why it does not listen though it should.
    #[serde(default)]
    pub server_trouble: Option<String>,
    /// What keeps it from working, by profile.
    #[serde(default)]
    pub trouble: BTreeMap<String, String>,
}

impl State {
    /// What a daemon says that begins now.
    pub fn new(now: Timestamp) -> State {
        State {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: now,
            beat_at: now,
            stopped_at: None,
            url: None,
            dashboard: None,
            address: None,
            server_trouble: None,
            trouble: BTreeMap::new(),
        }
    }

    /// Since when there is no daemon, if this was the last one.
    pub fn last_seen(&self) -> Timestamp {
        self.stopped_at.unwrap_or(self.beat_at)
    }

    /// Writes it down.
    pub fn write(&self, home: &Home) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        Ok(atomic::write_private(&home.daemon_state(), text.as_bytes())?)
    }
}

/// What was last said; nothing if there is no such file, or it cannot be understood.
pub fn read(home: &Home) -> anyhow::Result<Option<State>> {
    match std::fs::read(home.daemon_state()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(anyhow::Error::from(error)
            .context(format!("could not read {}", home.daemon_state().display()))),
        Ok(bytes) => {
            let state: Option<State> = serde_json::from_slice(&bytes).ok();
            Ok(state.map(|state| State { beat_at: touched(home, &state), ..state }))
        }
    }
}

/// When the daemon was last there: it touches the file between the times it writes it.
fn touched(home: &Home, state: &State) -> Timestamp {
    let modified = home.daemon_state().metadata().and_then(|found| found.modified());
    let modified = modified.ok().and_then(|at| Timestamp::try_from(at).ok());
    modified.map_or(state.beat_at, |at| at.max(state.beat_at))
}

/// Says that the daemon is there, at the cost of one time stamp.
pub fn touch(home: &Home) {
    let file = std::fs::File::options().write(true).open(home.daemon_state());
    // A file that is gone or full of trouble is written anew with the next beat.
    let _ = file.and_then(|file| file.set_modified(std::time::SystemTime::now()));
}
