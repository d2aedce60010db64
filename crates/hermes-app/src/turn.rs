//! A finished turn is recorded: in state.db and memory.db, or it waits until that can be done.

use std::path::PathBuf;
use std::time::Duration;

use hermes_home::Home;
use hermes_memory::Error;
use hermes_memory::catch_up::catch_up;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::spool::{self, Spooled};
use hermes_memory::record::turn::{self, Kept, RecordedTurn, Settings, Turn};
use hermes_store::sessions::{SessionStore, random_bytes};
use hermes_store::{Error as StoreError, ErrorKind};
use serde::Serialize;

use super::later;
use crate::app::App;
use crate::embedding;
use crate::memory::OpenMemory;
use crate::transcript;
use crate::writer::Writer;

/// Whoever reports a turn must not be kept waiting by somebody else's long write.
pub const PATIENCE: Duration = Duration::from_millis(300);

/// Where a turn is now.
#[derive(Debug, Serialize)]
#[serde(tag = "kept_in", rename_all = "snake_case")]
pub enum Told {
    /// In the memory, and in state.db if the numbers say so.
    Memory(RecordedTurn),
    /// In state.db; the memory could not be written, for this reason.
    StateDb {
        /// The session.
        session_id: String,
        /// The numbers of its messages there.
        state_messages: Vec<i64>,
        /// Why it is not in the memory.
        because: Why,
    },
    /// In a file, for this reason.
    Spool {
        /// The session.
        session_id: String,
        /// Where it waits.
        file: PathBuf,
        /// Why it is in no database.
        because: Why,
    },
}

impl Told {
    /// Whether a database is damaged, lost or replaced.
    pub fn is_for_damage(&self) -> bool {
        match self {
            Told::Memory(_) => false,
            Told::StateDb { because, .. } | Told::Spool { because, .. } => because.is_damage,
        }
    }
}

/// Why a database could not be written.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Why {
    /// Its text.
    pub text: String,
    #[serde(skip)]
    is_damage: bool,
}

impl From<&StoreError> for Why {
    fn from(error: &StoreError) -> Why {
        let is_gone = matches!(error, StoreError::Lost { .. } | StoreError::Replaced { .. });
        let is_damage = is_gone || error.kind() == ErrorKind::Damaged;
        Why { text: error.to_string(), is_damage }
    }
}

impl From<&Error> for Why {
    fn from(error: &Error) -> Why {
        match error {
            Error::Store(error) => error.into(),
            other => Why { text: other.to_string(), is_damage: false },
        }
    }
}

/// The transcripts, or why they cannot be opened; none if there are none.
pub type Transcripts = Result<Option<SessionStore>, StoreError>;

/// The databases that a turn goes to.
pub struct Databases<'a> {
    /// The transcripts.
    pub sessions: &'a mut Transcripts,
    /// The memory, opened when the transcript has the turn, and left open for the next one.
    pub memory: &'a mut Writer,
    /// How long others who write to the memory are waited for.
    pub wait: Duration,
}

/// Records turns one after the other: both databases are opened once.
pub struct Recorder {
    sessions: Transcripts,
    memory: Writer,
}

impl Recorder {
    /// For turns whose transcript is kept here.
    pub fn open(home: &Home) -> Recorder {
        Recorder { sessions: open_sessions(home), memory: Writer::default() }
    }

    /// For turns of programs that keep their own transcripts.
    pub fn without_transcripts() -> Recorder {
        Recorder { sessions: Ok(None), memory: Writer::default() }
    }

    /// Records a turn; what cannot be written in time waits.
    pub fn record(&mut self, app: &App, home: &Home, turn: &Turn) -> anyhow::Result<Told> {
        let Recorder { sessions, memory } = self;
        record(app, home, turn, Databases { sessions, memory, wait: PATIENCE })
    }

    /// The transcripts, when all is recorded.
    pub fn into_sessions(self) -> Transcripts {
        self.sessions
    }
}

/// Both halves of a turn; what cannot be written in time waits.
pub fn record(
    app: &App,
    home: &Home,
    turn: &Turn,
    databases: Databases<'_>,
) -> anyhow::Result<Told> {
    let Databases { sessions, memory, wait } = databases;
    let zone = app.zone(home)?;
    let config = &app.config(home)?.config;
    let random = random_bytes();
    let settings = Settings {
        zone: &zone,
        now: app.now,
        vectors: Vectors::Later,
        random,
        secrets: config.recording.secrets,
        transcript_note: &home.transcript_note(),
    };
    let note = spool::sent_before(&home.spool(), turn, &settings)?;
    let turn = note.as_ref().map_or(turn, |note| &note.turn).clone();
    let is_on_server = app.is_on_server(home)?;
    let mut recording = Recording { app, home, turn, note, is_on_server };
    let mut sessions = match sessions {
        Ok(sessions) => sessions.as_mut(),
        Err(error) => return recording.wait_in_file(&settings, Why::from(&*error)),
    };
    let kept = match recording.keep(sessions.as_deref_mut(), &settings) {
        Ok(kept) => kept,
        // Nothing of it is in the transcript: it waits in a file, or the error says that it is nowhere.
        Err(error) if is_of_database(&error) => {
            return recording.wait_in_file(&settings, Why::from(&error));
        }
        Err(error) => return Err(error.into()),
    };
    match memory.memory(app, home, wait) {
        Ok(memory) => recording.remember(sessions, memory, kept, settings),
        Err(error) => recording.wait(kept, &settings, error),
    }
}

/// A turn on its way.
struct Recording<'a> {
    app: &'a App,
    home: &'a Home,
    turn: Turn,
    /// The file from which it is recorded if this process does not come to the end.
    note: Option<Spooled>,
    is_on_server: bool,
}

impl Recording<'_> {
    /// The first half; whose words they are is noted before, where the transcript would not tell.
    fn keep(
        &mut self,
        sessions: Option<&mut SessionStore>,
        settings: &Settings<'_>,
    ) -> hermes_memory::Result<Kept> {
        let needs_note = match &sessions {
            Some(sessions) => turn::needs_note(sessions, &self.turn)?,
            // A server may be slow, and whoever reports a turn may be ended in the middle.
            None => self.is_on_server,
        };
        if needs_note && self.note.is_none() {
            let note = spool::put(&self.home.spool(), &self.turn, settings)?;
            self.turn = note.turn.clone();
            self.note = Some(note);
        }
        turn::keep(sessions, &self.turn, settings)
    }

    /// The second half.
    fn remember(
        self,
        sessions: Option<&mut SessionStore>,
        memory: &mut OpenMemory,
        kept: Kept,
        mut settings: Settings<'_>,
    ) -> anyhow::Result<Told> {
        settings.vectors = match memory.store.active_model() {
            Err(error) => return self.wait(kept, &settings, error.into()),
            Ok(model) => embedding::vectors(model.as_ref()),
        };
        let recorded = turn::remember(&mut memory.store, &self.turn, &kept, &settings);
        let mut recorded = match recorded {
            Err(error) => return self.wait(kept, &settings, error.into()),
            Ok(recorded) => recorded,
        };
        if recorded.left_to_catch_up {
            // If it cannot be taken in now, it is in state.db, from where it is taken in later.
            if let Ok(report) = catch_up(sessions, &mut memory.store, &self.home.spool(), &settings)
            {
                recorded.recorded.added = usize::try_from(report.added).unwrap_or(usize::MAX);
            }
        }
        // The turn is recorded, whatever comes of the rest: a note that stays is read again and adds nothing, and
        // the daemon fills in what is missing beside the turn.
        if let Some(note) = &self.note {
            drop(note.done());
        }
        if settings.vectors == Vectors::Later {
            drop(later::fill_in(self.home, self.app, &mut memory.store));
        }
        Ok(Told::Memory(recorded))
    }

    /// What is in state.db is taken in from there, whatever was wrong with the memory; everything else waits in a
    /// file, if waiting helps.
    fn wait(
        self,
        kept: Kept,
        settings: &Settings<'_>,
        error: anyhow::Error,
    ) -> anyhow::Result<Told> {
        let because = why_of(&error);
        let is_noted = self.note.is_some() || !kept.messages.is_empty() || kept.is_theirs;
        if !is_noted && store_error(&error).is_none() {
            return Err(error);
        }
        if kept.messages.is_empty() && !kept.is_theirs {
            let turn = Turn { session_id: Some(kept.session_id), ..self.turn };
            return Recording { turn, ..self }.wait_in_file(settings, because);
        }
        let (session_id, state_messages) = (kept.session_id, kept.messages);
        Ok(Told::StateDb { session_id, state_messages, because })
    }

    fn wait_in_file(self, settings: &Settings<'_>, because: Why) -> anyhow::Result<Told> {
        let waits = match self.note {
            Some(note) => note,
            None => spool::put(&self.home.spool(), &self.turn, settings)?,
        };
        let session_id = waits.session_id().to_owned();
        Ok(Told::Spool { session_id, file: waits.path, because })
    }
}

/// The transcripts, opened to be written if they may be; none if there are none.
pub fn open_sessions(home: &Home) -> Transcripts {
    transcript::to_write(home, PATIENCE)
}

/// Whether a database is what went wrong, and not the turn.
fn is_of_database(error: &Error) -> bool {
    matches!(error, Error::Store(_))
}

/// Why something must wait, in the words of the database if it was that.
fn why_of(error: &anyhow::Error) -> Why {
    let otherwise = || Why { text: format!("{error:#}"), is_damage: false };
    store_error(error).map_or_else(otherwise, Why::from)
}

fn store_error(error: &anyhow::Error) -> Option<&StoreError> {
    error.chain().find_map(|cause| match cause.downcast_ref::<Error>() {
        Some(Error::Store(store)) => Some(store),
        _ => cause.downcast_ref::<StoreError>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Place, said};

    #[test]
    fn turns_one_after_the_other_open_the_memory_once() {
        let Place { app, home, .. } = &Place::new();
        let mut recorder = Recorder::open(home);
        for number in 0..20 {
            let turn = said("s", &format!("Turn number {number}."));
            let told = recorder.record(app, home, &turn).unwrap();
            assert!(matches!(told, Told::Memory(_)), "{told:?}");
        }
        assert_eq!(app.openings(), 1);
        // The same turn again adds nothing.
        let again = recorder.record(app, home, &said("s", "Turn number 7.")).unwrap();
        let Told::Memory(again) = again else { panic!("{again:?}") };
        assert_eq!(again.recorded.added, 0);
    }

    #[test]
    fn a_memory_that_is_put_in_the_place_of_the_open_one_is_not_taken_for_it() {
        let Place { app, home, .. } = &Place::new();
        let mut recorder = Recorder::without_transcripts();
        recorder.record(app, home, &said("s", "Said before.")).unwrap();
        let path = app.memory_path(home).unwrap();
        std::fs::rename(&path, path.with_extension("aside")).unwrap();
        let told = recorder.record(app, home, &said("s", "Said after.")).unwrap();
        assert!(matches!(told, Told::Spool { .. }) && told.is_for_damage(), "{told:?}");
    }
}
