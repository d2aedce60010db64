//! What hooks did: the last event of each agent, how many came, and what went wrong last.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hermes_home::{atomic, lock};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What was seen of all agents.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    #[serde(default)]
    agents: BTreeMap<String, Seen>,
}

/// What was seen of one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// The last event that came.
    pub last_event: String,
    /// When it came.
    pub last_at: Timestamp,
    /// How many events came, by their names.
    pub events: BTreeMap<String, u64>,
    /// How many of them went wrong.
    #[serde(default)]
    pub failures: u64,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<LastError>,
}

/// The last thing that went wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastError {
    /// The event.
    pub event: String,
    /// When.
    pub at: Timestamp,
    /// What it said.
    pub why: String,
}

/// No agent has so many kinds of events; more are somebody's garbage.
const MOST_EVENTS: usize = 64;

impl Counts {
    /// What the file says; nothing, if it is not there or cannot be read.
    pub fn read(path: &Path) -> Counts {
        let bytes = fs::read(path).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// What was seen of an agent.
    pub fn of(&self, agent: &str) -> Option<&Seen> {
        self.agents.get(agent)
    }

    /// All agents that were seen.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Seen)> {
        self.agents.iter().map(|(agent, seen)| (agent.as_str(), seen))
    }

    fn add(&mut self, agent: &str, event: &str, at: Timestamp, error: Option<String>) {
        let seen = self.agents.entry(agent.to_owned()).or_insert_with(|| Seen {
            last_event: String::new(),
            last_at: at,
            events: BTreeMap::new(),
            failures: 0,
            last_error: None,
        });
        (seen.last_event, seen.last_at) = (event.to_owned(), at);
        if seen.events.contains_key(event) || seen.events.len() < MOST_EVENTS {
            *seen.events.entry(event.to_owned()).or_default() += 1;
        }
        if let Some(why) = error {
            seen.failures += 1;
            seen.last_error = Some(LastError { event: event.to_owned(), at, why });
        }
    }
}

/// Counts one event, unless somebody else is at it: a hook is not kept waiting for a number.
pub fn count(
    path: &Path,
    agent: &str,
    event: &str,
    at: Timestamp,
    error: Option<String>,
) -> hermes_home::Result<()> {
    let Some(_held) = lock::try_hold_beside(path)? else { return Ok(()) };
    let mut counts = Counts::read(path);
    counts.add(agent, event, at, error);
    let text = serde_json::to_string(&counts).unwrap_or_default();
    atomic::write_passing(path, format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_and_the_last_error_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hooks.json");
        let at = Timestamp::UNIX_EPOCH;
        count(&path, "codex", "Stop", at, Some("locked".to_owned())).unwrap();
        count(&path, "codex", "Stop", at, None).unwrap();
        let counts = Counts::read(&path);
        let seen = counts.of("codex").unwrap();
        assert_eq!((seen.events["Stop"], seen.failures), (2, 1));
        assert_eq!(seen.last_error.as_ref().unwrap().why, "locked");
        assert_eq!(counts.of("cursor"), None);
    }
}
