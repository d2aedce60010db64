//! What the tests share: folders, stores, SQLite as other programs use it.

use std::path::{Path, PathBuf};

use hermes_store::sessions::{NewMessage, NewSession, SessionId, SessionStore};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::sql::run_on;

/// A folder with the path of a state.db in it.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn empty() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    /// With a new database of ours.
    pub(crate) fn ours() -> Place {
        let place = Place::empty();
        SessionStore::create(&place.path()).unwrap();
        place
    }

    /// With a database made of SQL text by another program.
    pub(crate) fn foreign(sql: &str) -> Place {
        let place = Place::empty();
        run_on(&place.path(), sql);
        place
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }

    pub(crate) fn read(&self) -> SessionStore {
        SessionStore::open(&self.path(), Access::Read, DEFAULT_WAIT).unwrap()
    }

    pub(crate) fn write(&self) -> SessionStore {
        SessionStore::open(&self.path(), Access::Write, DEFAULT_WAIT).unwrap()
    }

    /// The database and its log as they are now: what a crash would leave.
    pub(crate) fn crashed(&self) -> Place {
        let crashed = Place::empty();
        for suffix in ["", "-wal"] {
            std::fs::copy(self.beside(suffix), crashed.beside(suffix)).unwrap();
        }
        crashed
    }

    pub(crate) fn beside(&self, suffix: &str) -> PathBuf {
        PathBuf::from(format!("{}{suffix}", self.path().display()))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }

    pub(crate) fn log_bytes(&self) -> Vec<u8> {
        std::fs::read(self.beside("-wal")).unwrap()
    }

    pub(crate) fn file_names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Fails the test unless the file and its full-text index are whole as SQLite itself says.
pub(crate) fn assert_whole(path: &Path) {
    assert_eq!(run_on(path, "pragma integrity_check; pragma foreign_key_check;"), "ok");
    run_on(path, "insert into messages_fts (messages_fts, rank) values ('integrity-check', 1);");
}

pub(crate) fn schema(path: &Path) -> String {
    run_on(path, "select type, name, tbl_name, sql from sqlite_master order by 1, 2;")
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The `n`th minute of the tests' day.
pub(crate) fn minute(n: i64) -> Timestamp {
    at("2026-06-01T12:00:00Z") + jiff::SignedDuration::from_mins(n)
}

pub(crate) fn new_session(number: u8, started_at: Timestamp) -> NewSession {
    NewSession::plain(SessionId::new(started_at, [0, 0, number]), started_at, "cli")
}

/// Begins a session and says each text in turn, a minute apart, user first.
pub(crate) fn converse(
    store: &mut SessionStore,
    number: u8,
    start: i64,
    texts: &[&str],
) -> SessionId {
    let id = store.create_session(&new_session(number, minute(start))).unwrap();
    let messages: Vec<NewMessage> = texts
        .iter()
        .zip(0..)
        .map(|(text, n)| {
            let role = if n % 2 == 0 { "user" } else { "assistant" };
            NewMessage::text(role, text, minute(start + n))
        })
        .collect();
    store.append(&id, &messages).unwrap();
    id
}
