//! Checks for secrets: how many lie in the transcript, and in a memory that was recorded before they were replaced.

use std::time::Duration;

use hermes_home::Home;
use hermes_home::redaction::{self, Policy};
use hermes_store::memory::Admin;
use hermes_store::sessions::{Owner, SessionStore};
use hermes_store::sqlite::Access;

use super::Check;
use crate::app::App;
use crate::text::counted;

/// Doctor should answer even while another program writes.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let keeps =
        app.config(home).is_ok_and(|loaded| loaded.config.recording.secrets == Policy::Keep);
    let found = [in_transcript(home), in_memory(app, home)].into_iter().flatten();
    match keeps {
        // Who keeps them in clear has no need of a command.
        true => found.map(|check| Check::ok(check.name, check.evidence)).collect(),
        false => found.collect(),
    }
}

fn in_transcript(home: &Home) -> Option<Check> {
    let store = SessionStore::open(&home.state_db(), Access::Read, PATIENCE).ok()?;
    let count = store.count_rewrites(&shown).ok()?;
    if count == 0 {
        return None;
    }
    let found = format!("{} in state.db with secrets in clear text", counted(count, "message"));
    Some(match store.layout().owner() {
        Owner::Ours => Check::warn("secrets", found).repair("hermes sessions redact"),
        Owner::Extended | Owner::Foreign => Check::warn(
            "secrets",
            format!("{found}; Hermes Agent writes to it, so Hermes never alters it"),
        ),
    })
}

fn in_memory(app: &App, home: &Home) -> Option<Check> {
    if !app.has_memory(home) {
        return None;
    }
    let memory = app.memory(home, Access::Read).ok()?;
    let counts = memory.store.count_rewrites(Admin, &shown).ok()?;
    let count: u64 = counts.values().sum();
    let found = format!("{} in the memory with secrets", counted(count, "text"));
    (count > 0).then(|| Check::warn("secrets", found).repair("hermes memory redact"))
}

/// Only whether there is one is asked.
fn shown(text: &str) -> Option<String> {
    redaction::has_secret(text).then(String::new)
}
