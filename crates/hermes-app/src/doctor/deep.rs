//! The deep look: every page, every row against its checksum, every kept version against its hash.

use std::time::Duration;

use hermes_home::{Home, versions};
use hermes_memory::reembed;
use hermes_store::memory::{Admin, Memory, Wanted, compare_memory};
use hermes_store::rot::{Compared, DifferingRow, Sums};
use hermes_store::sessions::{self, SessionStore, compare_sessions};
use hermes_store::snapshot::{self, Depth};
use hermes_store::sqlite::Access;

use super::{Check, behind};
use crate::app::App;
use crate::text::counted;

/// A deep look takes its time anyway.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is not as it was written, in the databases of one home.
#[derive(Debug, Default)]
pub struct Differing {
    /// The sessions.
    pub sessions: Compared,
    /// The memory.
    pub memory: Compared,
}

/// Compares the rows of both databases with their checksums.
pub fn differing(app: &App, home: &Home) -> anyhow::Result<Differing> {
    let mut found = Differing::default();
    if home.state_db().exists() {
        let marks = app.high_water(home);
        let sums = Sums::read(&marks);
        found.sessions = compare_sessions(&home.state_db(), &marks, &sums, PATIENCE)?;
    }
    if !app.is_on_server(home)? && app.has_memory(home) {
        found.memory = compare_memory(&app.memory_path(home)?, PATIENCE)?;
    }
    Ok(found)
}

/// What a look at every page and row finds.
pub fn checks(app: &App, home: &Home) -> Vec<Check> {
    let mut results = vec![sessions_whole(home)];
    let on_server = app.is_on_server(home).unwrap_or(false);
    if on_server {
        let evidence = "not compared: the memory is on a server, which has its own checksums";
        results.push(Check::ok("texts", evidence));
    } else if app.has_memory(home) {
        results.extend(memory_whole(app, home));
    }
    match differing(app, home) {
        Ok(found) => results.extend(rows(app, home, &found)),
        Err(error) => results.push(Check::fail("texts", crate::problem::message(&error))),
    }
    results.push(kept_versions(home));
    results
}

/// Makes anew what can be made from its text: vectors, and the codes of them.
pub fn fix(app: &App, home: &Home) -> anyhow::Result<Vec<String>> {
    let mut done = Vec::new();
    if app.is_on_server(home)? || !app.has_memory(home) {
        return Ok(done);
    }
    let found = differing(app, home)?;
    let mut store = app.memory(home, Access::Write)?.store;
    let dropped = store.drop_differing_vectors(&found.memory.differing)?;
    if dropped > 0 {
        make_vectors(app, home, &mut store)?;
        done.push(format!("memory.db: {} recomputed", counted(dropped, "vector")));
    }
    let codes = store.differing_codes()?;
    if codes > 0 {
        store.rebuild_segments(Admin)?;
        done.push(format!("memory.db: {} of vectors recomputed", counted(codes, "code")));
    }
    if found.memory.without_sum > 0 {
        let count = store.complete_sums()?;
        done.push(format!("memory.db: {} computed", counted(count, "missing checksum")));
    }
    Ok(done)
}

/// Lets the model that answers make the vectors that are missing.
fn make_vectors(app: &App, home: &Home, store: &mut Memory) -> anyhow::Result<()> {
    let Some(active) = store.active_model()? else { return Ok(()) };
    let embedder = app.embedder(home, crate::embedding::Haste::Question)?;
    if reembed::is_model(&active, embedder.id()) {
        app.reembed(home, store, &*embedder, &mut |_| {})?;
    }
    Ok(())
}

/// Takes everything as it is now; says what was accepted.
pub fn accept(app: &App, home: &Home, is_deep: bool) -> anyhow::Result<Vec<String>> {
    let mut done = Vec::new();
    let marks = app.high_water(home);
    if home.state_db().exists() {
        let store = SessionStore::open(&home.state_db(), Access::Read, app.lock_wait(home)?)?;
        if store.behind(&marks)?.is_some() {
            store.accept_as_is(&marks)?;
            done.push("state.db is accepted as it is".to_owned());
        }
    }
    if !app.is_on_server(home)? && app.has_memory(home) {
        let marks = app.memory_marks(home)?;
        let path = app.memory_path(home)?;
        let wanted = Wanted { path: &path, profile: home.profile_name() };
        let store = Memory::open(wanted, Access::Read, PATIENCE)?;
        if store.behind(&marks)?.is_some() {
            store.accept_as_is(&marks)?;
            done.push("memory.db is accepted as it is".to_owned());
        }
    }
    if is_deep {
        done.extend(accept_rows(app, home)?);
    }
    Ok(done)
}

fn accept_rows(app: &App, home: &Home) -> anyhow::Result<Vec<String>> {
    let mut done = Vec::new();
    let found = differing(app, home)?;
    let said = |count: usize, of: &str| {
        format!("{} of {of} accepted as they are", counted(count as u64, "row"))
    };
    if !found.sessions.differing.is_empty() {
        let store = app.sessions(home, Access::Read)?;
        store.accept_rows(&found.sessions.differing, &app.high_water(home))?;
        done.push(said(found.sessions.differing.len(), "state.db"));
    }
    if !found.memory.differing.is_empty() {
        let mut store = app.memory(home, Access::Write)?.store;
        store.accept_rows(&found.memory.differing, app.change())?;
        done.push(said(found.memory.differing.len(), "memory.db"));
    }
    Ok(done)
}

fn sessions_whole(home: &Home) -> Check {
    const NAME: &str = "state.db";
    if !home.state_db().exists() {
        return Check::ok(NAME, "it does not exist");
    }
    match sessions::check(&home.state_db(), sessions::Depth::Full, PATIENCE) {
        Err(error) => Check::fail(NAME, error.to_string()).repair("hermes sessions repair"),
        Ok(report) => match report.findings.first() {
            Some(finding) => {
                Check::fail(NAME, finding.text.clone()).repair("hermes sessions repair")
            }
            None => Check::ok(NAME, "every page and the index were checked"),
        },
    }
}

fn memory_whole(app: &App, home: &Home) -> Vec<Check> {
    const NAME: &str = "memory.db";
    let Ok(path) = app.memory_path(home) else { return Vec::new() };
    let pages = match snapshot::examine(&path, Depth::Full) {
        Err(error) => Check::fail(NAME, error.to_string()),
        Ok(found) if !found.is_whole() => Check::fail(NAME, found.integrity),
        Ok(found) => match found.indexes.iter().find(|(_, said)| is_wrong(said)) {
            Some((index, said)) => Check::fail(NAME, format!("the index {index}: {said}")),
            None => Check::ok(NAME, "every page and the index were checked"),
        },
    };
    let wanted = Wanted { path: &path, profile: home.profile_name() };
    let codes =
        Memory::open(wanted, Access::Read, PATIENCE).and_then(|store| store.differing_codes());
    let codes = match codes {
        Err(error) => Check::fail("codes", error.to_string()),
        Ok(0) => Check::ok("codes", "every code matches its vector"),
        Ok(count) => {
            let said = format!("{} do not match their vectors", counted(count, "code"));
            Check::fail("codes", said).repair("hermes doctor --deep --fix")
        }
    };
    vec![pages, codes]
}

fn is_wrong(said: &str) -> bool {
    said != "ok" && !said.starts_with("not checked")
}

/// One line for each row that differs, else one for all of them.
fn rows(app: &App, home: &Home, found: &Differing) -> Vec<Check> {
    let restore = behind::bring_back_command(app, home, None);
    let mut results = Vec::new();
    for (file, compared) in [("state.db", &found.sessions), ("memory.db", &found.memory)] {
        results
            .extend(compared.differing.iter().map(|row| row_check(file, compared, row, &restore)));
        if compared.without_sum > 0 && file == "memory.db" {
            let count = counted(compared.without_sum, "row");
            let said = format!("{count} of {file} have no checksum yet");
            results.push(Check::warn("texts", said).repair("hermes doctor --deep --fix"));
        }
    }
    let rows = found.sessions.rows + found.memory.rows;
    if results.is_empty() {
        let said = format!("{} compared with their checksums", counted(rows, "row"));
        results.push(Check::ok("texts", said));
    }
    results
}

fn row_check(file: &str, compared: &Compared, row: &DifferingRow, restore: &str) -> Check {
    let said = format!("{} in {file} does not match its checksum", row.said());
    if row.kind == "vector" {
        return Check::fail(row.kind, said).repair("hermes doctor --deep --fix");
    }
    match compared.changed_by_others {
        true => Check::warn(row.kind, format!("{said}; another program may have changed it"))
            .repair("hermes doctor --deep --accept"),
        false => Check::fail(row.kind, said).repair(restore),
    }
}

/// A kept version has its hash for a name.
fn kept_versions(home: &Home) -> Check {
    const NAME: &str = "versions";
    match versions::differing(home) {
        Err(error) => Check::fail(NAME, error.to_string()),
        Ok((count, differing)) => match differing.first() {
            None => {
                let count = counted(count, "stored version");
                Check::ok(NAME, format!("{count} compared with their hashes"))
            }
            Some(first) => {
                let more = differing.len() - 1;
                let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
                let below = first.strip_prefix(home.root()).unwrap_or(first).display();
                Check::fail(NAME, format!("{below} does not match its hash{more}"))
                    .repair(format!("hermes backup restore latest --path {below} --replace"))
            }
        },
    }
}
