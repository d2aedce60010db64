//! A memory on a server: taken along by a backup, and brought back to its server by a restore.

use std::path::{Path, PathBuf};

use hermes_backup::server_dump::{self, Dumping, Reach};
use hermes_backup::{erasure, restore};
use hermes_home::{Home, atomic, profile};
use hermes_store::memory::{
    Memory, Wanted, has_profile, has_profile_number, migrate_server, server_state,
};
use hermes_store::postgres::Pool;
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::problem::message;
use crate::{later, server_copy as copy};

/// The copy of a memory that any home can open.
const TWIN: &str = "memory.db";

/// Whether a dump goes into the archive beside the twin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dump {
    /// What is carried elsewhere needs none.
    No,
    /// If pg_dump can make one.
    IfPossible,
}

/// How a memory is, or was, carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum How {
    /// As pg_dump wrote it: rows, vectors and index as they were.
    Dump,
    /// As memory.db, made by an export in one transaction.
    Export,
    /// Not at all: the server has a memory of the profile.
    Left,
    /// It did not come to its end.
    Failed,
}

/// A memory that was taken from its server.
#[derive(Debug, Serialize)]
pub struct Taken {
    profile: String,
    server: String,
    how: How,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_no_dump: Option<String>,
}

impl Taken {
    /// The files it is in.
    pub fn files(&self) -> Vec<&'static str> {
        match self.how {
            How::Dump => vec![TWIN, server_dump::FILE],
            _ => vec![TWIN],
        }
    }

    /// The same in words.
    pub fn said(&self) -> String {
        let Taken { profile, server, .. } = self;
        match (&self.how, &self.why_no_dump) {
            (How::Dump, _) => {
                format!("of {profile} on {server}: dumped with pg_dump, and exported as {TWIN}")
            }
            (_, None) => format!("of {profile} on {server}: exported as {TWIN}"),
            (_, Some(why)) => {
                format!("of {profile} on {server}: exported as {TWIN}, without a dump: {why}")
            }
        }
    }
}

/// Reads everything that a server has of a profile into files of a folder, as it was at one moment.
pub fn take(app: &App, home: &Home, folder: &Path, dump: Dump) -> anyhow::Result<Taken> {
    let pool = app.pool(home)?;
    let source = app.server_memory(home, Access::Read, app.lock_wait(home)?)?;
    let to = folder.join(server_dump::FILE);
    // Asked before the state is held: there may be one connection alone.
    let allowed = (dump == Dump::IfPossible).then(|| may_dump(&pool));
    let held = source.view()?;
    let dumping = allowed.map(|allowed| allowed.and_then(|()| begin_dump(&pool, &source, &to)));
    copy::twin(app, home, &source, &folder.join(TWIN))?;
    let dumped = dumping.map(|begun| begun.and_then(|(run, reach)| Ok(run.finish(&reach, &to)?)));
    drop(held);
    let how = if matches!(dumped, Some(Ok(()))) { How::Dump } else { How::Export };
    Ok(Taken {
        profile: home.profile_name().to_owned(),
        server: pool.address().place(),
        how,
        why_no_dump: dumped.and_then(Result::err).map(|error| message(&error)),
    })
}

/// Fails if pg_dump is missing or too old, or would see what is not this profile's.
fn may_dump(pool: &Pool) -> anyhow::Result<()> {
    let state = server_state(pool)?;
    server_dump::must_know(&state.version)?;
    if state.passes_rules && state.profiles.is_none_or(|count| count > 1) {
        anyhow::bail!(
            "the role {} bypasses the row-level security of the server, and the database has other \
             profiles",
            state.user
        );
    }
    Ok(())
}

fn begin_dump(pool: &Pool, source: &Memory, to: &Path) -> anyhow::Result<(Dumping, Reach)> {
    let Some(shared) = source.shared_view()? else { anyhow::bail!("it is not on a server") };
    let reach = Reach { variables: pool.address().as_variables(), profile: shared.profile };
    Ok((server_dump::begin(&reach, &shared.snapshot, to)?, reach))
}

/// What becomes of a memory that the server has of the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It stays, and the one of the backup does not come.
    Stays,
    /// It gets another name, and the one of the backup its place.
    GoesAside,
}

/// A memory that was brought back to its server, or why it was not.
#[derive(Debug, Serialize)]
pub struct Brought {
    profile: String,
    server: String,
    how: How,
    /// The name on the server of the one that was there.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_as: Option<String>,
    remarks: Vec<String>,
}

impl Brought {
    /// Whether a memory could not be brought back.
    pub fn has_failed(&self) -> bool {
        self.how == How::Failed
    }

    /// The same in words.
    pub fn said(&self) -> String {
        let Brought { profile, server, .. } = self;
        let mut said = match self.how {
            How::Dump => format!("of {profile} was restored on {server}, from its dump"),
            How::Export => format!("of {profile} was restored on {server}, from {TWIN}"),
            How::Left => format!(
                "of {profile} on {server} was left as it is: `--replace-memory` replaces it with \
                 the one from the backup"
            ),
            How::Failed => format!(
                "of {profile} was NOT restored on {server}; it is in {TWIN} of the home: copy it \
                 there with `hermes --profile {profile} db copy --to postgres`"
            ),
        };
        if let Some(name) = &self.kept_as {
            said.push_str(&format!("; the previous one is kept as {name}"));
        }
        for remark in &self.remarks {
            said.push_str(&format!("; {remark}"));
        }
        said
    }
}

/// Brings every memory of what was restored (`all`, or a profile) to the server that its settings name.
pub fn bring_all(app: &App, root: &Home, what: &str, standing: Standing) -> Vec<Brought> {
    let mut all = Vec::new();
    for home in homes(root).into_iter().filter(|home| what == "all" || what == home.profile_name())
    {
        let own = app.for_profile(&home);
        if !own.is_on_server(&home).unwrap_or(false) || !home.folder().join(TWIN).exists() {
            continue;
        }
        let server = own.address(&home).map_or_else(|_| "its server".to_owned(), |at| at.place());
        let profile = home.profile_name().to_owned();
        let mut brought =
            Brought { profile, server, how: How::Failed, kept_as: None, remarks: Vec::new() };
        match bring(&own, &home, standing, &mut brought) {
            Ok(how) => brought.how = how,
            Err(error) => {
                brought.remarks.push(message(&error));
                // The twin is enough, and forgetting people reaches it; a dump it would not.
                let _ = std::fs::remove_file(home.folder().join(server_dump::FILE));
            }
        }
        all.push(brought);
    }
    all
}

fn bring(app: &App, home: &Home, standing: Standing, brought: &mut Brought) -> anyhow::Result<How> {
    forget_note(home)?;
    let wait = app.lock_wait(home)?;
    let pool = app.pool(home)?;
    if server_state(&pool)?.schema == 0 {
        migrate_server(&pool)?;
    }
    let name = home.profile_name();
    let is_taken =
        has_profile(&pool, name)? && !app.server_memory(home, Access::Read, wait)?.is_blank()?;
    match (is_taken, standing) {
        (false, _) => {}
        (true, Standing::Stays) => {
            remove_copies(home)?;
            return Ok(How::Left);
        }
        (true, Standing::GoesAside) => brought.kept_as = Some(move_aside(app, home)?),
    }
    let how = match give_dump(&pool, home) {
        Ok(true) => How::Dump,
        Ok(false) => How::Export,
        Err(error) => {
            brought.remarks.push(format!("its dump was not used: {}", message(&error)));
            How::Export
        }
    };
    let path = home.folder().join(TWIN);
    let twin = Memory::open(Wanted { path: &path, profile: name }, Access::Write, wait)?;
    let mut store = app.server_memory(home, Access::Write, wait)?;
    if how == How::Export {
        copy::whole(copy::carry(app, home, &twin, &mut store)?)?;
        later::fill_in(home, app, &mut store)?;
    }
    let mut erased = forget_again(home, &mut store, app.now);
    if let Some(aside) = &brought.kept_as {
        let old = app.server_memory_of(home, aside, Access::Read, wait)?;
        erased.extend(restore::carry_marks_between(&old, &mut store, name, app.now)?);
    }
    if erased.is_empty() {
        let differing = copy::differing_parts(&twin, &store)?;
        if !differing.is_empty() {
            brought.remarks.push(format!("it differs from {TWIN} in {}", differing.join(", ")));
        }
    }
    brought.remarks.extend(erased);
    drop(twin);
    remove_copies(home)?;
    Ok(how)
}

/// Gives the dump of a home to the server; false if there is none, or the profile is there.
fn give_dump(pool: &Pool, home: &Home) -> anyhow::Result<bool> {
    let dump = home.folder().join(server_dump::FILE);
    if !dump.exists() || has_profile(pool, home.profile_name())? {
        return Ok(false);
    }
    let found = server_dump::look(&dump)?;
    let state = server_state(pool)?;
    if found.name != home.profile_name() {
        anyhow::bail!("it belongs to profile {}", found.name);
    }
    if found.schema != state.schema {
        anyhow::bail!(
            "its schema is {}, the schema of the server is {}",
            found.schema,
            state.schema
        );
    }
    if has_profile_number(pool, found.profile)? {
        anyhow::bail!("another profile on the server has its number");
    }
    let variables = pool.address().as_variables();
    server_dump::give_back(&Reach { variables, profile: found.profile }, &dump)?;
    Ok(true)
}

/// Whoever was forgotten since does not come back to the server either.
pub fn forget_again(home: &Home, store: &mut Memory, now: Timestamp) -> Vec<String> {
    let places = [home.root().to_owned(), home.backups()];
    erasure::again_on_server(store, home, &places, "a memory on a server", now)
}

/// What was brought to the server is not kept beside it: nobody would look after it.
fn remove_copies(home: &Home) -> anyhow::Result<()> {
    for name in [TWIN, "memory.db-wal", "memory.db-shm", server_dump::FILE] {
        let path = home.folder().join(name);
        if path.symlink_metadata().is_ok() {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// That a restore gave a memory on a server another name.
#[derive(Debug, Serialize, Deserialize)]
pub struct Aside {
    profile: String,
    name: String,
}

fn note_of(home: &Home) -> PathBuf {
    home.own().join("server-memory-aside.json")
}

/// A note that came with the archive is of an earlier restore.
fn forget_note(home: &Home) -> anyhow::Result<()> {
    let path = note_of(home);
    if path.exists() {
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

fn move_aside(app: &App, home: &Home) -> anyhow::Result<String> {
    let profile = home.profile_name().to_owned();
    let name = format!("{profile}.before-restore-{}", stamp(app.now));
    let note = Aside { profile, name: name.clone() };
    atomic::write_private(&note_of(home), &serde_json::to_vec_pretty(&note)?)?;
    rename(app, home, home.profile_name(), &name)?;
    Ok(name)
}

/// What the last restore of a home moved aside on servers.
pub fn kept_aside(root: &Home) -> Vec<Aside> {
    let read = |home: Home| serde_json::from_slice(&std::fs::read(note_of(&home)).ok()?).ok();
    homes(root).into_iter().filter_map(read).collect()
}

/// Gives memories on servers their names back; says what was done, and what could not be.
pub fn put_back(app: &App, root: &Home, aside: &[Aside]) -> Vec<String> {
    let homes = homes(root);
    let mut said = Vec::new();
    for one in aside {
        let Some(home) = homes.iter().find(|home| home.profile_name() == one.profile) else {
            continue;
        };
        let own = app.for_profile(home);
        match put_one_back(&own, home, &one.name) {
            Ok(lines) => said.extend(lines),
            Err(error) => said.push(format!(
                "the memory of {} on its server is still called {}: {}",
                one.profile,
                one.name,
                message(&error)
            )),
        }
    }
    said
}

fn put_one_back(app: &App, home: &Home, aside: &str) -> anyhow::Result<Vec<String>> {
    let pool = app.pool(home)?;
    let profile = home.profile_name();
    if !has_profile(&pool, aside)? {
        return Ok(vec![format!("{aside} is no longer on {}", pool.address().place())]);
    }
    let mut said = format!("the memory of {profile} on its server is the earlier one again");
    if has_profile(&pool, profile)? {
        let name = format!("{profile}.restored-{}", stamp(app.now));
        rename(app, home, profile, &name)?;
        said.push_str(&format!("; the restored one is kept as {name}"));
    }
    rename(app, home, aside, profile)?;
    let mut store = app.server_memory(home, Access::Write, app.lock_wait(home)?)?;
    let mut lines = vec![said];
    lines.extend(forget_again(home, &mut store, app.now));
    Ok(lines)
}

fn rename(app: &App, home: &Home, from: &str, to: &str) -> anyhow::Result<()> {
    let wait = app.lock_wait(home)?;
    Ok(app.server_memory_of(home, from, Access::Write, wait)?.rename_profile(to)?)
}

fn stamp(now: Timestamp) -> String {
    now.strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// The home itself and its profiles.
fn homes(root: &Home) -> Vec<Home> {
    let names = profile::list(root).unwrap_or_default();
    [None].into_iter().chain(names.into_iter().map(Some)).map(|name| root.sibling(name)).collect()
}
