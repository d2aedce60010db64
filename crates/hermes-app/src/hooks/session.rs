//! What hooks must know of a session when the next one comes: the prompt, what was answered, what is not recorded yet.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use hermes_home::lock::Held;
use hermes_home::{Home, atomic, lock};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::event::{Caller, Event};
use crate::context::Handed;

/// A session of an agent, and the turn that is under way in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// The agent, and what it calls the session.
    pub agent: String,
    /// What the agent calls it.
    pub id: String,
    /// The folder in which the agent works.
    pub folder: Option<PathBuf>,
    /// Where the agent writes down what is said.
    pub transcript: Option<PathBuf>,
    /// How long that was when the prompt came.
    pub transcript_length: u64,
    /// Which turn is under way.
    pub turn: Option<String>,
    /// What the user said in it.
    pub prompt: Option<String>,
    /// When the prompt came.
    pub at: Option<Timestamp>,
    /// What was answered so far.
    pub answers: Vec<String>,
    /// Whether the turn is over, and only its answer was not in the transcript yet.
    pub is_stopped: bool,
    /// Whether the session is over, and that is not told yet.
    pub is_ended: bool,
    /// What the model was given, and is not noted yet.
    pub handed: Vec<Handed>,
    /// Finished turns as they will be recorded, with an id for each message; each stays until it is somewhere else.
    pub told: Vec<Value>,
}

/// A longer prompt is a pasted file; its beginning says what it is about.
const LONGEST: usize = 200_000;
/// Sessions that never ended are forgotten after a week.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
const MOST_LOOKED_AT: usize = 2_000;
const MOST_HANDED: usize = 50;
/// How long another hook is waited for that is at a session; it writes one small file.
const PATIENCE: Duration = Duration::from_millis(300);
const STEP: Duration = Duration::from_millis(2);

/// The file of a session.
pub fn path(home: &Home, caller: Caller, session: &str) -> PathBuf {
    let hash = Sha256::digest(session.as_bytes());
    let hash: String = hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
    home.hook_sessions().join(format!("{}-{hash}.json", caller.name()))
}

/// The files of all sessions.
pub fn all(home: &Home) -> Vec<PathBuf> {
    let listed = fs::read_dir(home.hook_sessions()).into_iter().flatten().flatten();
    let paths = listed.map(|entry| entry.path());
    let is_one = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    paths.filter(is_one).take(MOST_LOOKED_AT).collect()
}

/// What is known of a session; nothing if there is no file.
pub fn read(path: &Path) -> Session {
    let bytes = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Changes what is known of a session; one at a time. What the change gives is there even if it cannot be written.
pub fn change<T>(
    path: &Path,
    change: impl FnOnce(&mut Session) -> T,
) -> (T, hermes_home::Result<()>) {
    let held = hold(path);
    let before = read(path);
    let mut session = before.clone();
    let given = change(&mut session);
    let written = match held {
        _ if session == before => Ok(()),
        Ok(_held) if session.says_nothing() => match fs::remove_file(path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(hermes_home::Error::Write { path: path.to_owned(), source })
            }
            _ => Ok(()),
        },
        Ok(_held) => {
            let text = serde_json::to_string(&session).unwrap_or_default();
            atomic::write_passing(path, text.as_bytes())
        }
        Err(error) => Err(error),
    };
    (given, written)
}

impl Session {
    /// Notes what every event says of its session.
    pub fn meet(&mut self, caller: Caller, event: &Event) {
        caller.name().clone_into(&mut self.agent);
        self.id = event.session.clone().unwrap_or_default();
        self.folder = event.folder.clone().or(self.folder.take());
        self.transcript = event.transcript.clone().or(self.transcript.take());
    }

    /// Keeps the prompt of a turn that begins.
    pub fn begin(&mut self, event: &Event, now: Timestamp) {
        let written = self.transcript.as_deref().and_then(|path| fs::metadata(path).ok());
        self.transcript_length = written.map_or(0, |found| found.len());
        self.turn.clone_from(&event.turn);
        self.prompt = event.prompt.as_deref().map(short);
        self.at = Some(now);
        self.answers = Vec::new();
        self.is_stopped = false;
        self.is_ended = false;
        // A prompt that was never answered leaves what its model was given.
        self.handed.truncate(MOST_HANDED);
    }

    /// Keeps an answer of the turn that is under way.
    pub fn answered(&mut self, event: &Event) {
        self.answers.extend(event.answer.as_deref().map(short));
    }

    /// Whether a turn is under way.
    pub fn is_open(&self) -> bool {
        self.prompt.is_some() || !self.answers.is_empty()
    }

    /// The turn that was under way is not any more.
    pub fn close(&mut self) {
        (self.turn, self.prompt, self.at) = (None, None, None);
        self.answers = Vec::new();
        self.is_stopped = false;
    }

    fn says_nothing(&self) -> bool {
        !self.is_open() && !self.is_ended && self.handed.is_empty() && self.told.is_empty()
    }
}

/// Takes away what sessions left that never ended, and half-written files; what is not recorded yet stays.
pub fn tidy(home: &Home, now: SystemTime) {
    let listed = fs::read_dir(home.hook_sessions()).into_iter().flatten().flatten();
    for entry in listed.take(MOST_LOOKED_AT) {
        let changed = entry.metadata().and_then(|found| found.modified());
        let is_old = changed.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT));
        let is_lock = entry.path().extension().is_some_and(|ending| ending == "lock");
        if is_old && !is_lock && read(&entry.path()).told.is_empty() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// One lock for all sessions: what is done under it takes a millisecond.
fn hold(path: &Path) -> hermes_home::Result<Held> {
    let begun = Instant::now();
    let lock = path.with_file_name("sessions.lock");
    loop {
        match lock::try_hold(&lock)? {
            Some(held) => return Ok(held),
            None if begun.elapsed() > PATIENCE => {
                return Err(hermes_home::Error::Locked { path: lock });
            }
            None => std::thread::sleep(STEP),
        }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => text[..end].to_owned(),
        None => text.to_owned(),
    }
}
