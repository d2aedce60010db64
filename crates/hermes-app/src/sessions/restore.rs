//! Sessions that were deleted are kept for a month, and can be brought back.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hermes_home::{Home, atomic, pins};
use hermes_memory::catch_up;
use hermes_memory::record::summaries;
use hermes_store::memory::{Admin, TakenIn};
use hermes_store::sessions::{ImportReport, SessionId, SessionStore};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::export;
use crate::app::App;
use crate::asker::Asker;
use crate::problem::{Kind, Problem};

/// How long a deleted session can be brought back.
const KEPT: SignedDuration = SignedDuration::from_hours(24 * 30);

/// A session that can be brought back.
#[derive(Debug, Serialize)]
pub struct DeletedSession {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// Where it is kept.
    pub file: PathBuf,
}

/// What is read of a kept session.
#[derive(Deserialize)]
struct Head {
    id: String,
    title: Option<String>,
}

/// Brings back a session that was deleted, by its id or the beginning of it.
pub fn restore(app: &App, home: &Home, wanted: &str) -> anyhow::Result<ImportReport> {
    let kept = all(home)?;
    let found = kept.iter().find(|one| one.id == *wanted);
    let found = found.or_else(|| kept.iter().find(|one| one.id.starts_with(wanted)));
    let found = found.ok_or_else(|| {
        Problem::new(Kind::NotFound, format!("there is no deleted session {wanted} to restore"))
            .hint("`hermes sessions restore` lists those that can be restored")
    })?;
    let failed = || format!("could not read {}", found.file.display());
    let mut lines = BufReader::new(File::open(&found.file).with_context(failed)?);
    let report = super::import(app, home, &mut lines)?;
    note_as_known(app, home, &found.id)?;
    if app.config(home)?.config.sessions.auto_prune && pins::set(home, &found.id, true)? {
        app.note(format_args!("{} is now pinned, so that it is not pruned again", found.id));
        app.hint("`hermes sessions unpin` allows it to be pruned");
    }
    if !report.is_partial() {
        let failed = || format!("could not remove {}", found.file.display());
        fs::remove_file(&found.file).with_context(failed)?;
    }
    Ok(report)
}

/// What the memory took in of the session before it was deleted is not taken in again: its messages have other
/// numbers now.
fn note_as_known(app: &App, home: &Home, id: &str) -> anyhow::Result<()> {
    let mut memory = app.memory(home, Access::Read)?;
    if !memory.exists {
        return Ok(());
    }
    let sessions = app.sessions(home, Access::Read)?;
    let Some(mark) = sessions.marks()?.into_iter().find(|mark| mark.session_id.as_str() == id)
    else {
        return Ok(());
    };
    let database = catch_up::database(&sessions, &home.transcript_note(), app.now)?;
    let taken = memory.store.taken_in(Admin, &database)?;
    let before = taken.into_iter().find(|taken| taken.session_id == id);
    let is_known = !memory.store.sessions_named(Asker::owner().scope, id)?.is_empty();
    let live = match before {
        Some(taken) => taken.live.min(mark.live),
        None if is_known => mark.live,
        None => return Ok(()),
    };
    let last_message = match usize::try_from(live).ok().filter(|_| live < mark.live) {
        Some(count) => {
            let session = sessions.live_session(&mark.session_id)?;
            let note = home.transcript_note();
            memory = app.memory(home, Access::Write)?;
            let ours =
                summaries::known(&sessions, &mut memory.store, &mark.session_id, &note, app.now)?;
            let messages = sessions.live_messages(&session, 0, &ours)?;
            count.checked_sub(1).and_then(|at| messages.get(at)).map_or(0, |one| one.id)
        }
        None => mark.last_message,
    };
    memory = app.memory(home, Access::Write)?;
    let taken = TakenIn { database, session_id: id.to_owned(), last_message, live };
    memory.store.note_taken_in(Admin, &taken, app.now)?;
    Ok(())
}

/// Keeps a session that is about to be deleted.
pub(super) fn keep(
    home: &Home,
    store: &SessionStore,
    id: &SessionId,
    now: Timestamp,
) -> anyhow::Result<PathBuf> {
    let folder = home.deleted_sessions();
    atomic::make_folder(&folder)?;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let name: String = id.as_str().chars().take(80).map(plain).collect();
    let named = |more: String| folder.join(format!("{}-{name}{more}.jsonl", now.as_millisecond()));
    // Two ids may differ only in what a file name cannot hold.
    let more = (2..1_000).map(|number| named(format!("~{number}")));
    let mut paths = std::iter::once(named(String::new())).chain(more);
    let path = paths.find(|path| !path.exists()).unwrap_or_else(|| named("~".to_owned()));
    export::save_lines(store, std::slice::from_ref(id), &path)?;
    Ok(path)
}

/// What was kept for a month goes.
pub(super) fn sweep(home: &Home, now: Timestamp) {
    for path in files(&home.deleted_sessions()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let stamp = name.split('-').next().and_then(|stamp| stamp.parse::<i64>().ok());
        let at = stamp.and_then(|stamp| Timestamp::from_millisecond(stamp).ok());
        if at.is_some_and(|at| now.duration_since(at) > KEPT) {
            // The next one tries again.
            let _ = fs::remove_file(path);
        }
    }
}

/// What can be brought back, the last deleted first.
pub fn all(home: &Home) -> anyhow::Result<Vec<DeletedSession>> {
    let mut paths = files(&home.deleted_sessions());
    paths.sort();
    paths.reverse();
    let mut kept = Vec::new();
    for file in paths {
        let failed = || format!("could not read {}", file.display());
        let mut line = String::new();
        BufReader::new(File::open(&file).with_context(failed)?)
            .read_line(&mut line)
            .with_context(failed)?;
        let Ok(head) = serde_json::from_str::<Head>(&line) else { continue };
        kept.push(DeletedSession { id: head.id, title: head.title, file });
    }
    Ok(kept)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}
