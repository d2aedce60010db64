//! Checks of memory.db: does it open, is it whole, does the model of the settings answer.

use std::time::Duration;

use hermes_home::Home;
use hermes_memory::reembed;
use hermes_store::ErrorKind;
use hermes_store::memory::{
    Admin, Audit as _, ChainState, EmbedModel, MemoryFinding, SqliteMemory, Upkeep as _,
    Vectors as _, Wanted,
};
use hermes_store::sqlite::Access;

use super::{Check, users};
use crate::app::App;
use crate::embedding::{self, Haste};
use crate::failure::store_hint;
use crate::output::{counted, thousands};

/// Doctor should answer even while another program writes.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let path = match app.memory_path(home) {
        Ok(path) => path,
        Err(error) => return vec![Check::fail("memory.db", error.to_string())],
    };
    if path.symlink_metadata().is_err() {
        return vec![Check::ok("memory.db", "not made yet: the first fact or recording makes it")];
    }
    let store = match open(app, home, Access::Read) {
        Ok(store) => store,
        Err(error) if error.kind() == ErrorKind::Locked => {
            return vec![Check::warn("memory.db", error.to_string())];
        }
        Err(error) => {
            let check = Check::fail("memory.db", error.to_string());
            return vec![match store_hint(&error) {
                Some(hint) => check.repair(hint),
                None => check,
            }];
        }
    };
    let mut results = vec![whole(&store), audit(&store)];
    results.extend(model(app, home, &store));
    results.extend(users::checks(&store));
    results
}

/// Makes damaged segments anew from the vectors; says what was done.
pub(super) fn fix(app: &App, home: &Home) -> anyhow::Result<Vec<String>> {
    let is_there = app.memory_path(home).is_ok_and(|path| path.symlink_metadata().is_ok());
    let Some(store) = open(app, home, Access::Read).ok().filter(|_| is_there) else {
        return Ok(Vec::new());
    };
    let findings = store.check_memory(Admin).unwrap_or_default();
    if !findings.iter().any(|finding| finding.repaired_by_rebuilding) {
        return Ok(Vec::new());
    }
    drop(store);
    let count = open(app, home, Access::Write)?.rebuild_segments(Admin)?;
    Ok(vec![format!("memory.db: {} of vectors made anew", counted(count, "segment"))])
}

fn open(app: &App, home: &Home, access: Access) -> hermes_store::Result<SqliteMemory> {
    let path = app.memory_path(home).unwrap_or_else(|_| home.folder().join("memory.db"));
    SqliteMemory::open(Wanted { path: &path, profile: home.profile_name() }, access, PATIENCE)
}

fn whole(store: &SqliteMemory) -> Check {
    let findings = match store.check_memory(Admin) {
        Ok(findings) => findings,
        Err(error) => return Check::fail("memory.db", error.to_string()),
    };
    if let Some(MemoryFinding { problem, repaired_by_rebuilding }) = findings.first() {
        let more = findings.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        let check = Check::fail("memory.db", format!("{problem}{more}"));
        return match repaired_by_rebuilding {
            true => check.repair("hermes doctor --fix"),
            false => check,
        };
    }
    match store.counts(Admin) {
        Ok(counts) => {
            let episodes = counts.raw_episodes + counts.compressed_episodes;
            let (episodes, facts) = (counted(episodes, "episode"), counted(counts.facts, "fact"));
            Check::ok("memory.db", format!("{episodes} and {facts}, database is whole"))
        }
        Err(error) => Check::fail("memory.db", error.to_string()),
    }
}

fn audit(store: &SqliteMemory) -> Check {
    match store.check_audit(Admin) {
        Ok(ChainState::Whole { entries }) => {
            Check::ok("audit", format!("the chain of {} is whole", counted(entries, "change")))
        }
        Ok(ChainState::Broken { id }) => Check::fail(
            "audit",
            format!("change {id} does not follow from the one before: the chain was altered"),
        ),
        Err(error) => Check::fail("audit", error.to_string()),
    }
}

fn model(app: &App, home: &Home, store: &SqliteMemory) -> Option<Check> {
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
            let evidence = format!(
                "{shown} answers; the settings ask for {} ({}{dims})",
                id.name, id.provider
            );
            Some(Check::warn("embeddings", evidence).repair("hermes memory reembed"))
        }
        Err(error) => Some(
            Check::warn("embeddings", format!("{shown} answers; {error}"))
                .repair("hermes config set memory.embeddings.provider embedded"),
        ),
    }
}

fn lacking(store: &SqliteMemory, active: &EmbedModel) -> Check {
    match store.coverage(Admin, active.id) {
        Ok(coverage) if coverage.done < coverage.all => {
            let missing = thousands(coverage.all - coverage.done);
            let evidence = format!("{missing} texts lack a vector of {}", embedding::name(active));
            Check::warn("embeddings", evidence).repair("hermes memory reembed")
        }
        Ok(coverage) => Check::ok(
            "embeddings",
            format!("{} answers, {}", embedding::name(active), counted(coverage.all, "vector")),
        ),
        Err(error) => Check::fail("embeddings", error.to_string()),
    }
}
