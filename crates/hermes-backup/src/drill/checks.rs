//! The checks of a drill, one after the other.

use std::path::Path;

use hermes_store::sessions::{
    Message, SearchFilter, SearchRequest, SearchResult, SessionId, SessionStore, Window,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::SignedDuration;
use sha2::{Digest, Sha256};

use crate::database_files::remove_sidecars;
use crate::drill::{Check, Request};
use crate::manifest::{Kind, Manifest};
use crate::restore::{From, check, unpack};
use crate::sign::{Signed, Trust};
use crate::{Error, Progress, Result, Tell};

/// How many searches are made.
const SEARCHES: u8 = 3;
/// How many sessions are tried for a message that has words.
const TRIES: usize = 50;
/// How many words of a message are tried, the longest first: the longest are the rarest.
const WORDS: usize = 5;

/// What is drilled, and where.
pub(super) struct Drilled<'a> {
    pub(super) request: &'a Request<'a>,
    pub(super) sha256: &'a str,
    pub(super) scratch: &'a Path,
}

/// Makes every check; fails only where nothing can be said about the backup.
pub(super) fn every(drilled: &Drilled<'_>, tell: Tell<'_>) -> Result<Vec<Check>> {
    let mut checks = vec![archive(drilled)];
    if !checks[0].passed {
        return Ok(checks);
    }
    let manifest = match members(drilled, tell) {
        Ok((check, manifest)) => {
            checks.push(check);
            manifest
        }
        Err(error @ (Error::Tampered { .. } | Error::NotArchive { .. })) => {
            checks.push(failed("members", error.to_string()));
            return Ok(checks);
        }
        Err(error) => return Err(error),
    };
    tell(Progress { doing: "checking databases", done: 0, of: 0 });
    for file in manifest.files.iter().filter(|file| file.kind == Kind::Damaged) {
        checks.push(failed(&file.path, "it was already damaged when it was backed up".to_owned()));
    }
    for listed in &manifest.databases {
        let differs = check::database(drilled.scratch, listed)?;
        let rows: u64 = listed.rows.values().sum();
        let (tables, indexes) = (listed.rows.len(), listed.indexes.len());
        let seen = format!(
            "intact ({}), {indexes} full-text indexes, {rows} rows in {tables} tables as listed",
            listed.checked
        );
        checks.push(if differs.is_empty() {
            passed(&listed.path, seen)
        } else {
            failed(&listed.path, differs.join("; "))
        });
    }
    checks.extend(links(&manifest));
    checks.extend(personas(drilled.scratch, &manifest));
    checks.extend(searches(drilled, &manifest));
    Ok(checks)
}

fn archive(drilled: &Drilled<'_>) -> Check {
    match &drilled.request.backup.sidecar {
        Some(sidecar) if sidecar.sha256 == drilled.sha256 => {
            passed("archive", "its SHA-256 matches the one recorded beside it".to_owned())
        }
        Some(_) => {
            failed("archive", "its SHA-256 does not match the one recorded beside it".to_owned())
        }
        None => passed("archive", "no SHA-256 is recorded beside it to compare with".to_owned()),
    }
}

fn members(drilled: &Drilled<'_>, tell: Tell<'_>) -> Result<(Check, Manifest)> {
    let Request { backup, keys, now, .. } = *drilled.request;
    let path = backup.path.as_path();
    let (signed, trust) = (Signed::No, Trust::Anybody);
    let from = From { archive: path, sha256: None, keys, signed, trust, now };
    let unpacked = unpack::unpack(&from, drilled.scratch, tell)?;
    let Some(manifest) = unpacked.manifest else {
        let why = "it has no list of its files".to_owned();
        return Err(Error::NotArchive { path: path.to_owned(), why });
    };
    let bytes: u64 = manifest.files.iter().map(|file| file.size).sum();
    let seen = format!("{} files of {bytes} bytes match the list", unpacked.files);
    Ok((passed("members", seen), manifest))
}

/// What links to folders lead to is not in the backup: no failure of it, but whoever reads the receipt must know.
fn links(manifest: &Manifest) -> Option<Check> {
    let names: Vec<&str> = manifest.links_left_out().collect();
    let seen =
        format!("not in this backup, because they are links to folders: {}", names.join(", "));
    (!names.is_empty()).then(|| passed("links", seen))
}

/// Every SOUL.md must be text; a home without one has none to check.
fn personas(folder: &Path, manifest: &Manifest) -> Vec<Check> {
    let is_persona = |path: &str| {
        path == "SOUL.md"
            || path
                .strip_prefix("profiles/")
                .and_then(|path| path.split_once('/'))
                .is_some_and(|(_, inside)| inside == "SOUL.md")
    };
    let paths = manifest.files.iter().map(|file| file.path.as_str());
    let found: Vec<Check> = paths
        .filter(|path| is_persona(path))
        .map(|path| match std::fs::read_to_string(folder.join(path)) {
            Ok(text) => passed(path, format!("{} characters", text.chars().count())),
            Err(error) => failed(path, error.to_string()),
        })
        .collect();
    if found.is_empty() {
        return vec![passed("SOUL.md", "this backup has none".to_owned())];
    }
    found
}

fn searches(drilled: &Drilled<'_>, manifest: &Manifest) -> Vec<Check> {
    let is_state = |path: &str| path == "state.db" || path.ends_with("/state.db");
    let mut files = manifest.files.iter().filter(|file| file.kind == Kind::Database);
    let Some(file) = files.find(|file| is_state(&file.path)) else {
        return vec![passed("search", "this backup has no state.db to search".to_owned())];
    };
    let path = drilled.scratch.join(&file.path);
    let checks = search(&path, &manifest.id);
    match remove_sidecars(&path).and(checks) {
        Ok(checks) => checks,
        Err(error) => vec![failed("search", error.to_string())],
    }
}

fn search(path: &Path, id: &str) -> Result<Vec<Check>> {
    let store = SessionStore::open(path, Access::Read, DEFAULT_WAIT)?;
    let sessions = store.every_id()?;
    let mut checks = Vec::new();
    for number in 1..=SEARCHES {
        let name = format!("search {number}");
        let Some(message) = message_for(&store, &sessions, id, number)? else {
            checks.push(passed(&name, "no message has words to search for".to_owned()));
            continue;
        };
        checks.push(found(&store, &name, &message)?);
    }
    Ok(checks)
}

/// A message with words, chosen by the backup's id and the number of the search.
fn message_for(
    store: &SessionStore,
    sessions: &[SessionId],
    id: &str,
    number: u8,
) -> Result<Option<Message>> {
    if sessions.is_empty() {
        return Ok(None);
    }
    let digest = Sha256::new().chain_update(id).chain_update([number]).finalize();
    let [first, second] = [0, 8].map(|at| {
        digest[at..at + 8].iter().fold(0usize, |sum, byte| (sum << 8) | usize::from(*byte))
    });
    for step in 0..sessions.len().min(TRIES) {
        let session = &sessions[first.wrapping_add(step) % sessions.len()];
        let mut messages = store.messages(session, Window::First(200))?;
        messages.retain(|message| !words(&message.text).is_empty());
        if !messages.is_empty() {
            return Ok(Some(messages.swap_remove(second % messages.len())));
        }
    }
    Ok(None)
}

/// Searches by the words of a message, one by one, near the time it was said: words that all messages have find it too.
fn found(store: &SessionStore, name: &str, message: &Message) -> Result<Check> {
    let near = SignedDuration::from_secs(1);
    let filter = SearchFilter {
        session: Some(message.session_id.clone()),
        since: message.timestamp.checked_sub(near).ok(),
        until: message.timestamp.checked_add(near).ok(),
        include_rewound: true,
        ..SearchFilter::default()
    };
    // Another message that says the same is as good.
    let is_it = |result: &SearchResult| {
        result.message_id == Some(message.id) || message.text.starts_with(&result.text)
    };
    let number = message.id;
    for word in words(&message.text).into_iter().take(WORDS) {
        let filter = filter.clone();
        let request = SearchRequest { filter, limit: 50, ..SearchRequest::new(&word) };
        if store.search(&request)?.results.iter().any(is_it) {
            return Ok(passed(name, format!("message {number} was found by one of its words")));
        }
    }
    Ok(failed(name, format!("message {number} was not found by any of its words")))
}

/// The words of a text, the longest first.
fn words(text: &str) -> Vec<String> {
    let split = text.split(|c: char| !c.is_alphanumeric());
    let mut words: Vec<String> =
        split.filter(|word| (3..=40).contains(&word.chars().count())).map(str::to_owned).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    words.dedup();
    words
}

fn passed(name: &str, seen: String) -> Check {
    Check { name: name.to_owned(), passed: true, seen }
}

fn failed(name: &str, seen: String) -> Check {
    Check { name: name.to_owned(), passed: false, seen }
}
