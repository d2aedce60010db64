//! Sessions without activity for a long time are deleted.

use std::path::Path;
use std::time::Duration;

use hermes_home::{Home, pins};
use hermes_store::sessions::{PrunePlan, PruneRequest, PrunedSession, SessionId, SessionStore};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde::Serialize;

use super::{export, restore};
use crate::app::App;

/// Which sessions are old.
#[derive(Debug, Clone, Default)]
pub struct OldSessions {
    /// Without activity for so long; none: as long as the settings say.
    pub older_than: Option<Duration>,
    /// Only from this source.
    pub source: Option<String>,
}

/// Whether work goes on: asked before each session.
type GoesOn<'a> = &'a mut dyn FnMut() -> anyhow::Result<()>;

/// Sessions that go, or would go, because nothing happened in them for long.
#[derive(Debug, Serialize)]
pub struct Pruning {
    /// Whether nothing was deleted yet.
    pub dry_run: bool,
    /// Nothing happened in them since.
    pub before: Timestamp,
    /// The sessions.
    pub results: Vec<PrunedSession>,
    /// How many messages they have.
    pub messages: u64,
    /// How long those are.
    pub text_bytes: u64,
    /// How many stay because they are pinned.
    pub kept_pinned: u64,
    /// How many stay because they are open.
    pub kept_unfinished: u64,
    /// How many stay because one that stays continues them.
    pub kept_continued: u64,
    /// How many stay because only Hermes Agent can delete them.
    pub kept_for_owner: u64,
    /// Sessions that were used between plan and deed and therefore stay.
    pub changed_meanwhile: Vec<SessionId>,
}

/// What would go; nothing is deleted.
pub fn plan(app: &App, home: &Home, old: &OldSessions) -> anyhow::Result<Pruning> {
    let request = request(app, home, old, app.now)?;
    let plan = app.sessions(home, Access::Read)?.prune_plan(&request)?;
    Ok(Pruning::of(plan, true))
}

/// Deletes what is old; `copy` names a file to which it is written first. Each session can be brought back for a month.
pub fn prune(
    app: &App,
    home: &Home,
    old: &OldSessions,
    copy: Option<&Path>,
) -> anyhow::Result<Pruning> {
    let request = request(app, home, old, app.now)?;
    let mut store = app.sessions(home, Access::Write)?;
    let plan = store.prune_plan(&request)?;
    if let Some(path) = copy {
        let ids: Vec<SessionId> = plan.sessions.iter().map(|session| session.id.clone()).collect();
        export::save_lines(&store, &ids, path)?;
    }
    carry_out(home, &mut store, plan, app.now, &mut || Ok(()))
}

/// The same at a moment, for one who may be told to end between two sessions.
pub fn prune_in_steps(
    app: &App,
    home: &Home,
    old: &OldSessions,
    now: Timestamp,
    goes_on: GoesOn<'_>,
) -> anyhow::Result<Pruning> {
    let request = request(app, home, old, now)?;
    let mut store = app.sessions(home, Access::Write)?;
    let plan = store.prune_plan(&request)?;
    carry_out(home, &mut store, plan, now, goes_on)
}

/// Deletes what a plan says, one session after the other; each is kept aside before it goes.
fn carry_out(
    home: &Home,
    store: &mut SessionStore,
    plan: PrunePlan,
    now: Timestamp,
    goes_on: GoesOn<'_>,
) -> anyhow::Result<Pruning> {
    restore::sweep(home, now);
    let (mut messages, mut changed) = (0, Vec::new());
    for session in &plan.sessions {
        goes_on()?;
        let aside = restore::keep(home, store, &session.id, now)?;
        let report = store.prune(std::slice::from_ref(session));
        if !report.as_ref().is_ok_and(|report| report.changed.is_empty()) {
            // It is still where it was.
            let _ = std::fs::remove_file(aside);
        }
        let report = report?;
        messages += report.messages;
        changed.extend(report.changed);
    }
    let mut pruned = Pruning::of(plan, false);
    pruned.results.retain(|session| !changed.contains(&session.id));
    pruned.messages = messages;
    pruned.changed_meanwhile = changed;
    Ok(pruned)
}

fn request(
    app: &App,
    home: &Home,
    old: &OldSessions,
    now: Timestamp,
) -> anyhow::Result<PruneRequest> {
    let older_than = match old.older_than {
        Some(age) => age,
        None => {
            let days = app.config(home)?.config.sessions.retention_days;
            Duration::from_secs(u64::from(days) * 24 * 3600)
        }
    };
    let keep = pins::read(home)?.into_iter().map(SessionId::from).collect();
    Ok(PruneRequest { now, older_than, source: old.source.clone(), keep })
}

impl Pruning {
    fn of(plan: PrunePlan, dry_run: bool) -> Pruning {
        Pruning {
            dry_run,
            before: plan.before,
            results: plan.sessions,
            messages: plan.messages,
            text_bytes: plan.text_bytes,
            kept_pinned: plan.kept_pinned,
            kept_unfinished: plan.kept_unfinished,
            kept_continued: plan.kept_continued,
            kept_for_owner: plan.kept_for_owner,
            changed_meanwhile: Vec::new(),
        }
    }
}
