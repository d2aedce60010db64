//! A store to search in, and what the tests fill it with.

use hermes_store::sessions::{
    NewMessage, NewSession, SearchAnswer, SearchRequest, SessionId, SessionStore,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::{SignedDuration, Timestamp};
use rusqlite::Connection;

/// A store in a folder of its own, and a second connection for what the store does not offer.
pub(crate) struct Home {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) store: SessionStore,
}

pub(crate) fn start() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().unwrap()
}

pub(crate) fn minutes(count: i64) -> Timestamp {
    start() + SignedDuration::from_mins(count)
}

impl Home {
    pub(crate) fn new() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        SessionStore::create(&path).unwrap();
        let store = SessionStore::open(&path, Access::Write, DEFAULT_WAIT).unwrap();
        Home { folder, store }
    }

    pub(crate) fn session(
        &mut self,
        number: u8,
        change: impl FnOnce(&mut NewSession),
    ) -> SessionId {
        let mut new = NewSession::plain(SessionId::new(start(), [0, 0, number]), start(), "cli");
        change(&mut new);
        self.store.create_session(&new).unwrap()
    }

    /// Adds messages one minute apart, the roles taking turns.
    pub(crate) fn say(&mut self, session: &SessionId, texts: &[&str]) -> Vec<i64> {
        let message = |(n, text): (usize, &&str)| {
            let role = if n % 2 == 0 { "user" } else { "assistant" };
            NewMessage::text(role, text, minutes(n as i64))
        };
        let messages: Vec<NewMessage> = texts.iter().enumerate().map(message).collect();
        self.store.append(session, &messages).unwrap()
    }

    pub(crate) fn sql(&self, sql: &str) {
        #[expect(clippy::disallowed_methods, reason = "the test plays another program")]
        let other = Connection::open(self.folder.path().join("state.db")).unwrap();
        other.execute_batch(sql).unwrap();
    }

    pub(crate) fn search(&self, query: &str) -> SearchAnswer {
        self.store.search(&SearchRequest::new(query)).unwrap()
    }
}

pub(crate) fn ids(answer: &SearchAnswer) -> Vec<i64> {
    answer.results.iter().filter_map(|result| result.message_id).collect()
}

/// More rows than are read without the index, so that the index is asked.
pub(crate) fn crowd(home: &mut Home, count: usize) {
    let session = home.session(200, |_| {});
    let text = |n: usize| format!("filler number{n} about the weather and nothing else today");
    let message = |n: usize| NewMessage::text("tool", &text(n), minutes(n as i64));
    home.store.append(&session, &(0..count).map(message).collect::<Vec<_>>()).unwrap();
}
