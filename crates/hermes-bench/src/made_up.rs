//! Sessions of made-up messages, as the lines of JSON that `hermes sessions export` writes.

use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use anyhow::ensure;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde_json::json;

/// How many messages a session has.
pub(crate) const PER_SESSION: usize = 20;
/// How many sessions come in at once.
const BATCH: usize = 500;
/// How long to wait for another program that writes.
pub(crate) const WAIT: Duration = Duration::from_secs(30);

/// One session: the user and the assistant take turns, a message a minute.
pub(crate) struct Session {
    pub(crate) number: usize,
    pub(crate) title: Option<String>,
    /// In seconds since 1970.
    pub(crate) begins: f64,
    pub(crate) texts: Vec<String>,
}

impl Session {
    /// Adds the line that stands for it.
    pub(crate) fn write(&self, lines: &mut Vec<u8>) -> anyhow::Result<()> {
        let message = |(place, text): (usize, &String)| {
            json!({
                "role": role(place),
                "content": text,
                "timestamp": self.begins + place as f64 * 60.0,
            })
        };
        let line = json!({
            "id": format!("bench_{:06}", self.number),
            "source": "bench",
            "title": self.title,
            "started_at": self.begins,
            "messages": self.texts.iter().enumerate().map(message).collect::<Vec<_>>(),
        });
        serde_json::to_writer(&mut *lines, &line)?;
        lines.push(b'\n');
        Ok(())
    }
}

/// Who says the message at a place of a session.
pub(crate) fn role(place: usize) -> &'static str {
    if place.is_multiple_of(2) { "user" } else { "assistant" }
}

/// The numbers of the sessions that so many messages fill, each with how many it has.
pub(crate) fn sessions_of(messages: usize) -> impl Iterator<Item = (usize, usize)> {
    let whole = messages.div_ceil(PER_SESSION);
    (0..whole).map(move |number| (number, PER_SESSION.min(messages - number * PER_SESSION)))
}

/// The session database at a path, open to write; it is made if there is none.
pub(crate) fn session_store(path: &Path) -> anyhow::Result<SessionStore> {
    if !path.exists() {
        SessionStore::create(path)?;
    }
    Ok(SessionStore::open(path, Access::Write, WAIT)?)
}

/// Puts so many messages into a session database; `make` makes a session from its number and how many messages it has.
pub(crate) fn fill(
    store: &mut SessionStore,
    messages: usize,
    now: Timestamp,
    mut make: impl FnMut(usize, usize) -> Session,
) -> anyhow::Result<()> {
    let mut added = 0;
    let mut lines = Vec::new();
    for (number, count) in sessions_of(messages) {
        make(number, count).write(&mut lines)?;
        if number % BATCH == BATCH - 1 {
            added += store.import(&mut Cursor::new(&lines), now)?.messages_added;
            lines.clear();
        }
    }
    added += store.import(&mut Cursor::new(&lines), now)?.messages_added;
    ensure!(added == messages as u64, "not all messages came in");
    Ok(())
}
