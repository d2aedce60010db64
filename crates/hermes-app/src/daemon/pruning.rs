//! Sessions without activity for long are deleted every night, where the settings say so.

use hermes_home::config::Config;
use hermes_home::init::Owner;
use hermes_store::memory::{Admin, Schedule};
use hermes_store::sqlite::Access;

use super::life;
use super::work::Worker;
use crate::app::App;
use crate::clock;
use crate::sessions::prune::{self, OldSessions, Pruning};
use crate::text::counted;
use hermes_home::Home;

/// The name of the job.
pub const PRUNE: &str = "prune";

/// At twenty to four, when few people work.
pub(super) fn rule(config: &Config) -> Option<String> {
    config.sessions.auto_prune.then(|| "40 3 * * *".to_owned())
}

/// Deletes what is older than the settings say. Each session can be brought back for a month.
pub(super) fn prune(worker: &mut Worker<'_>) -> anyhow::Result<String> {
    let Worker { app, home, .. } = *worker;
    if let Some(why) = reason_not_to(app, home)? {
        return Ok(format!("nothing was deleted: {why}"));
    }
    // What is not in the memory yet could not be taken in afterwards.
    life::catch_up(worker)?;
    let old = OldSessions::default();
    let pruned = prune::prune_in_steps(app, home, &old, clock::now(), &mut || worker.step())?;
    Ok(told(&pruned, app.config(home)?.config.sessions.retention_days))
}

/// Why nothing is pruned in a home.
fn reason_not_to(app: &App, home: &Home) -> anyhow::Result<Option<&'static str>> {
    Ok(if !app.config(home)?.config.sessions.auto_prune {
        Some("sessions.auto_prune is off")
    } else if app.owner(home)? == Owner::HermesAgent {
        Some("Hermes Agent prunes its own sessions")
    } else if !home.state_db().exists() {
        Some("there are no sessions")
    } else {
        None
    })
}

/// What was deleted and what was kept, in counts.
fn told(pruned: &Pruning, days: u32) -> String {
    let sessions = counted(pruned.results.len() as u64, "session");
    let messages = counted(pruned.messages, "message");
    let kept = [
        (pruned.kept_pinned, "pinned"),
        (pruned.kept_unfinished, "still open"),
        (pruned.kept_continued, "continued"),
        (pruned.kept_for_owner, "left to their owner"),
        (pruned.changed_meanwhile.len() as u64, "used in the meantime"),
    ];
    let kept = kept.iter().filter(|(count, _)| *count > 0);
    let kept: String = kept.map(|(count, why)| format!(", {count} kept: {why}")).collect();
    format!("{sessions} with {messages} deleted after {days} days without activity{kept}")
}

/// What is to be said about pruning by the settings; none where it is off.
pub fn state(app: &App, home: &Home) -> anyhow::Result<Option<String>> {
    let sessions = &app.config(home)?.config.sessions;
    if !sessions.auto_prune || app.owner(home)? == Owner::HermesAgent {
        return Ok(None);
    }
    let zone = app.zone(home)?;
    let schedule = match app.has_memory(home) {
        true => schedule(app, home)?,
        false => None,
    };
    let last = schedule.as_ref().and_then(|one| Some((one.last_run?, one.last_result.as_ref()?)));
    let last = match last {
        Some((at, result)) => format!("last run on {}: {result}", clock::minute(at, &zone)),
        None => "not run yet".to_owned(),
    };
    Ok(Some(format!(
        "sessions are deleted after {} days without activity, unless they are pinned; {last}; \
         `hermes sessions restore` restores them for 30 days",
        sessions.retention_days
    )))
}

fn schedule(app: &App, home: &Home) -> anyhow::Result<Option<Schedule>> {
    let name = super::jobs::name_here(app, home, PRUNE);
    let schedules = app.memory(home, Access::Read)?.store.schedules(Admin)?;
    Ok(schedules.into_iter().find(|schedule| schedule.name == name))
}
