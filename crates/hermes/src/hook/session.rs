//! What a hook must know when the next one of the same session comes: the prompt, and what was answered.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hermes_home::{Home, atomic};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::event::{Caller, Event};
use crate::desk::context::Handed;

/// The turn that is under way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pending {
    #[serde(default)]
    pub(crate) turn: Option<String>,
    #[serde(default)]
    pub(crate) prompt: Option<String>,
    #[serde(default)]
    pub(crate) answers: Vec<String>,
    /// What the model was given, and is not noted yet.
    #[serde(default)]
    pub(crate) handed: Vec<Handed>,
}

/// A longer prompt is a pasted file; its beginning says what it is about.
const LONGEST: usize = 200_000;
/// Sessions that never ended are forgotten after a week.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
const MOST_LOOKED_AT: usize = 200;
const MOST_HANDED: usize = 50;

/// The file of a session.
pub(crate) fn path(home: &Home, caller: Caller, session: &str) -> PathBuf {
    let hash = Sha256::digest(session.as_bytes());
    let hash: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    home.hook_sessions().join(format!("{}-{hash}.json", caller.name()))
}

pub(crate) fn read(path: &Path) -> Pending {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Keeps the prompt of a turn that begins.
pub(crate) fn begin(path: &Path, event: &Event, given: Option<Handed>) -> hermes_home::Result<()> {
    let prompt = event.prompt.as_deref().map(short);
    // A prompt that was never answered leaves what its model was given.
    let mut handed = read(path).handed;
    handed.truncate(MOST_HANDED);
    handed.extend(given);
    write(path, &Pending { turn: event.turn.clone(), prompt, answers: Vec::new(), handed })
}

/// Keeps an answer of the turn that is under way.
pub(crate) fn answered(path: &Path, event: &Event) -> hermes_home::Result<()> {
    let Some(answer) = event.answer.as_deref() else { return Ok(()) };
    let mut pending = read(path);
    pending.answers.push(short(answer));
    write(path, &pending)
}

/// The turn is recorded, or the session over.
pub(crate) fn done(path: &Path) {
    // One that stays is read as an unanswered prompt, and goes after a week.
    let _ = fs::remove_file(path);
}

/// Takes away what sessions left that never ended.
pub(crate) fn tidy(home: &Home, now: SystemTime) {
    let listed = fs::read_dir(home.hook_sessions()).into_iter().flatten().flatten();
    for entry in listed.take(MOST_LOOKED_AT) {
        let changed = entry.metadata().and_then(|found| found.modified());
        let is_old = changed.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT));
        if is_old {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn write(path: &Path, pending: &Pending) -> hermes_home::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
        atomic::make_folder(folder)?;
    }
    let text = serde_json::to_string(pending).unwrap_or_default();
    atomic::write_passing(path, text.as_bytes())
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}
