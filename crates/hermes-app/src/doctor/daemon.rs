//! Checks of the background work: the daemon, its jobs, what waits to be taken in.

use hermes_home::Home;
use hermes_memory::record::spool;
use hermes_store::memory::{Admin, JobState};
use hermes_store::sqlite::Access;

use super::Check;
use crate::app::App;
use crate::background;
use crate::clock;
use crate::daemon::{self, jobs, pruning};
use crate::hooks::finish;
use crate::problem::message;
use crate::running::{self, Found};
use crate::text::counted;

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let found = match running::find(home) {
        Ok(found) => found,
        Err(error) => return vec![Check::fail("daemon", message(&error))],
    };
    let mut results = vec![running(app, home, &found)];
    results.extend(failed(app, home));
    results.extend(model(app, home));
    results.extend(pruned(app, home, &found));
    results.push(spooled(app, home));
    results
}

fn running(app: &App, home: &Home, found: &Found) -> Check {
    let zone = app.zone(home).unwrap_or(jiff::tz::TimeZone::UTC);
    let Some(state) = &found.state else {
        return match found.pid {
            Some(pid) => Check::ok("daemon", format!("running, pid {pid}")),
            None => Check::ok("daemon", "never started: `hermes start` starts it"),
        };
    };
    let since = clock::minute(state.last_seen(), &zone);
    match (found.pid, state.stopped_at) {
        (Some(pid), _) => match state.trouble.iter().next() {
            Some((profile, why)) => {
                Check::warn("daemon", format!("running, but not for {profile}: {why}"))
                    .repair("hermes restart")
            }
            None => Check::ok(
                "daemon",
                format!("running, pid {pid}, since {}", clock::minute(state.started_at, &zone)),
            ),
        },
        (None, Some(_)) => {
            Check::warn("daemon", format!("no daemon since {since}")).repair("hermes start")
        }
        (None, None) => {
            let what = format!(
                "no daemon since about {since}: pid {} ended unexpectedly, and daemon.json is \
                 outdated",
                state.pid
            );
            Check::warn("daemon", what).repair("hermes start")
        }
    }
}

/// Jobs that were given up; what is wrong with memory.db itself has a check of its own.
fn failed(app: &App, home: &Home) -> Option<Check> {
    let memory = app.has_memory(home).then(|| app.memory(home, Access::Read).ok()).flatten()?;
    let failed = match memory.store.jobs(Admin, Some(JobState::Failed), jobs::MANY) {
        Ok(failed) => failed,
        Err(error) => return Some(Check::fail("jobs", error.to_string())),
    };
    let Some(first) = failed.first() else {
        return Some(match daemon::stands_still(app, home, &memory.store) {
            Ok(None) => Check::ok("jobs", "none failed"),
            Ok(Some(why)) => {
                Check::warn("jobs", format!("work is stalled: {why}")).repair("hermes logs")
            }
            Err(error) => Check::fail("jobs", message(&error)),
        });
    };
    let why = first.last_error.as_deref().unwrap_or("the reason is unknown");
    let evidence = format!(
        "{} failed: {} ({}): {why}",
        counted(failed.len() as u64, "job"),
        first.kind,
        first.id
    );
    Some(Check::warn("jobs", evidence).repair("hermes jobs retry --all-failed"))
}

/// Whether the model that is named for background work answered the last time.
fn model(app: &App, home: &Home) -> Option<Check> {
    app.config(home).ok()?.config.model.light.as_ref()?;
    let Some(trouble) = background::trouble(app, home) else {
        return Some(Check::ok("model", daemon::models_line(app, home)));
    };
    let zone = app.zone(home).unwrap_or(jiff::tz::TimeZone::UTC);
    let evidence = format!(
        "{} did not respond at {}; rules were used instead: {}",
        trouble.model,
        clock::minute(trouble.at, &zone),
        trouble.error
    );
    Some(Check::warn("model", evidence).repair(format!("hermes model test {}", trouble.model)))
}

/// What the settings say is deleted every night, and what came of it.
fn pruned(app: &App, home: &Home, found: &Found) -> Option<Check> {
    match (pruning::state(app, home), found.pid) {
        (Ok(said), Some(_)) => said.map(|said| Check::ok("pruning", said)),
        (Ok(said), None) => said.map(|said| {
            Check::warn("pruning", format!("no daemon is running, so nothing is deleted; {said}"))
                .repair("hermes start")
        }),
        (Err(error), _) => Some(Check::fail("pruning", message(&error))),
    }
}

/// What could not be recorded at once should be taken in soon.
fn spooled(app: &App, home: &Home) -> Check {
    match spool::waiting(&home.spool()) + finish::waiting(app, home) {
        0 => Check::ok("spool", "no turns are waiting"),
        count => {
            let what = format!("{} not recorded yet", counted(count as u64, "turn file"));
            Check::warn("spool", what).repair("hermes memory catch-up")
        }
    }
}
