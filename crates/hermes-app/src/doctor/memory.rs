//! Checks of memory.db: does it open, is it whole, does the model of the settings answer.

use crate::problem::ErrorText;
use std::time::Duration;

use hermes_home::Home;
use hermes_home::databases::Database;
use hermes_memory::reembed;
use hermes_store::memory::{Admin, ChainState, EmbedModel, Memory, MemoryFinding};
use hermes_store::sqlite::Access;

use super::{Check, server, users};
use crate::app::App;
use crate::embedding::{self, Haste};
use crate::problem::{Kind, told};
use crate::text::{counted, thousands};

/// Doctor should answer even while another program writes.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    if let Err(error) = app.is_on_server(home).map(drop) {
        return vec![Check::fail("memory.db", error.to_string())];
    }
    if let Some(lost) = app.lost(home, Database::Memory) {
        return vec![Check::fail("memory.db", lost.said()).repair(lost.repair())];
    }
    if !app.has_memory(home) {
        return vec![Check::ok(
            "memory.db",
            "not created yet: the first fact or recording creates \
             it",
        )];
    }
    let mut results = server::checks(app, home);
    let store = match open(app, home, Access::Read) {
        Ok(store) => store,
        Err(error) => {
            let ErrorText { kind, message, hint } = told(&error);
            let name = name_of(app, home);
            let check = match kind {
                Kind::Locked => Check::warn(name, message),
                _ => Check::fail(name, message),
            };
            results.push(match hint {
                Some(hint) if kind != Kind::Locked => check.repair(hint),
                _ => check,
            });
            return results;
        }
    };
    results.extend([whole(name_of(app, home), &store), audit(&store)]);
    results.extend(model(app, home, &store));
    let mode = app.config(home).map(|loaded| loaded.config.users.mode).unwrap_or_default();
    results.extend(users::checks(&store, mode));
    results
}

/// Makes damaged segments anew from the vectors; says what was done.
pub(super) fn fix(app: &App, home: &Home) -> anyhow::Result<Vec<String>> {
    if !app.has_memory(home) {
        return Ok(Vec::new());
    }
    let Ok(store) = open(app, home, Access::Read) else { return Ok(Vec::new()) };
    let findings = store.check_memory(Admin).unwrap_or_default();
    if !findings.iter().any(|finding| finding.repaired_by_rebuilding) {
        return Ok(Vec::new());
    }
    drop(store);
    let count = open(app, home, Access::Write)?.rebuild_segments(Admin)?;
    Ok(vec![format!("memory.db: {} of vectors recomputed", counted(count, "segment"))])
}

fn open(app: &App, home: &Home, access: Access) -> anyhow::Result<Memory> {
    if app.is_on_server(home)? {
        return app.server_memory(home, access, PATIENCE);
    }
    let path = app.memory_path(home)?;
    Ok(app.opened_memory(home, &path, access, PATIENCE)?)
}

/// What the database is called.
fn name_of(app: &App, home: &Home) -> &'static str {
    match app.is_on_server(home) {
        Ok(true) => "server",
        _ => "memory.db",
    }
}

fn whole(name: &'static str, store: &Memory) -> Check {
    let findings = match store.check_memory(Admin) {
        Ok(findings) => findings,
        Err(error) => return Check::fail(name, error.to_string()),
    };
    if let Some(MemoryFinding { problem, repaired_by_rebuilding }) = findings.first() {
        let more = findings.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        let check = Check::fail(name, format!("{problem}{more}"));
        return match repaired_by_rebuilding {
            true => check.repair("hermes doctor --fix"),
            false => check,
        };
    }
    match store.counts(Admin) {
        Ok(counts) => {
            let episodes = counts.raw_episodes + counts.compressed_episodes;
            let (episodes, facts) = (counted(episodes, "episode"), counted(counts.facts, "fact"));
            Check::ok(name, format!("{episodes} and {facts}, database intact"))
        }
        Err(error) => Check::fail(name, error.to_string()),
    }
}

fn audit(store: &Memory) -> Check {
    match store.check_audit(Admin) {
        Ok(ChainState::Whole { entries }) => {
            Check::ok("audit", format!("the chain of {} is intact", counted(entries, "change")))
        }
        Ok(ChainState::Broken { id }) => Check::fail(
            "audit",
            format!("change {id} does not match the one before it: the chain was altered"),
        ),
        Err(error) => Check::fail("audit", error.to_string()),
    }
}

fn model(app: &App, home: &Home, store: &Memory) -> Option<Check> {
    let active = match store.active_model() {
        Ok(active) => active?,
        Err(error) => return Some(Check::fail("embeddings", error.to_string())),
    };
    Some(mismatch(app, home, &active).unwrap_or_else(|| lacking(store, &active)))
}

fn mismatch(app: &App, home: &Home, active: &EmbedModel) -> Option<Check> {
    let shown = format!("{}, {} dimensions", embedding::name(active), active.dims);
    match app.embedder(home, Haste::Question) {
        Ok(wanted) if reembed::is_model(active, wanted.id()) => None,
        Ok(wanted) => {
            let id = wanted.id();
            let dims = id.dims.map(|dims| format!(", {dims} dimensions")).unwrap_or_default();
            let evidence =
                format!("{shown} is active; the settings name {} ({}{dims})", id.name, id.provider);
            Some(Check::warn("embeddings", evidence).repair("hermes memory reembed"))
        }
        Err(error) => Some(
            Check::warn("embeddings", format!("{shown} is active; {error}"))
                .repair("hermes config set memory.embeddings.provider embedded"),
        ),
    }
}

fn lacking(store: &Memory, active: &EmbedModel) -> Check {
    match store.coverage(Admin, active.id) {
        Ok(coverage) if coverage.done < coverage.all => {
            let missing = thousands(coverage.all - coverage.done);
            let evidence = format!("{missing} texts have no vector of {}", embedding::name(active));
            Check::warn("embeddings", evidence).repair("hermes memory reembed")
        }
        Ok(coverage) => Check::ok(
            "embeddings",
            format!("{} is active, {}", embedding::name(active), counted(coverage.all, "vector")),
        ),
        Err(error) => Check::fail("embeddings", error.to_string()),
    }
}
