//! Which rows of a transcript are summaries that our own conversations wrote. The memory keeps their numbers: the words of
//! a row say nothing, since anybody can begin a message with them.

use std::path::Path;

use hermes_store::memory::{Admin, Memory};
use hermes_store::sessions::{NewMessage, RowNames, RowPrint, SessionId, SessionStore};
use jiff::Timestamp;

use super::transcript;
use crate::{Error, Result};

/// A summary: its number, what the row is called by that number and its database, and a hash of what it says.
type Kept = (i64, String, [u8; 8]);

/// Where messages leave the window of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Leaving<'a> {
    /// The session.
    pub session: &'a SessionId,
    /// The last message that leaves.
    pub up_to: i64,
    /// The file that says which state.db the transcript is, where the database cannot say so itself.
    pub transcript_note: &'a Path,
    /// The time.
    pub now: Timestamp,
}

/// Lets a summary stand for messages of a session; the memory knows it before the transcript has it.
pub fn compact(
    sessions: &mut SessionStore,
    store: &mut Memory,
    leaving: &Leaving<'_>,
    summary: &str,
) -> Result<i64> {
    let names = transcript::names(sessions, leaving.transcript_note, leaving.now)?;
    let id = leaving.session;
    let mut kept = read(store, id)?;
    let summary = NewMessage::summary(summary, leaving.now);
    let mut note = |(number, print): RowPrint| -> hermes_store::Result<()> {
        kept.push((number, names.name(number), print));
        store.keep_note(Admin, &key(id), &text_of(&kept))
    };
    Ok(sessions.compact((id, leaving.up_to), &summary, &mut note)?)
}

/// The numbers of the summaries of a session, as far as they are what was written.
pub fn of_session(
    sessions: &SessionStore,
    store: &Memory,
    id: &SessionId,
    names: &RowNames,
) -> Result<Vec<i64>> {
    let kept = read(store, id)?;
    if kept.is_empty() {
        return Ok(Vec::new());
    }
    let now = sessions.prints_in(id)?;
    let found = |(number, name, print): &Kept| {
        let is_there = names.name(*number) == *name && now.contains(&(*number, *print));
        // A session that was deleted and brought back has other numbers.
        let moved = || now.iter().find(|(_, other)| other == print).map(|(number, _)| *number);
        if is_there { Some(*number) } else { moved() }
    };
    Ok(kept.iter().filter_map(found).collect())
}

/// The same, for whoever has not asked which database it is; what an earlier version wrote is noted first.
pub fn known(
    sessions: &SessionStore,
    store: &mut Memory,
    id: &SessionId,
    transcript_note: &Path,
    now: Timestamp,
) -> Result<Vec<i64>> {
    let names = transcript::names(sessions, transcript_note, now)?;
    adopt(sessions, store, &names)?;
    of_session(sessions, store, id, &names)
}

/// Notes the summaries that an earlier version wrote, once for each database; returns how many there were.
pub(crate) fn adopt(sessions: &SessionStore, store: &mut Memory, names: &RowNames) -> Result<u64> {
    let done = format!("summaries.noted.{}", names.database());
    if store.read_note(Admin, &done)?.is_some() {
        return Ok(0);
    }
    let mut count = 0;
    for (id, number) in sessions.old_summaries()? {
        let mut kept = read(store, &id)?;
        if kept.iter().any(|(known, ..)| *known == number) {
            continue;
        }
        kept.extend(
            sessions
                .prints_of(&[number])?
                .into_iter()
                .map(|(number, print)| (number, names.name(number), print)),
        );
        store.keep_note(Admin, &key(&id), &text_of(&kept))?;
        count += 1;
    }
    store.keep_note(Admin, &done, &count.to_string())?;
    Ok(count)
}

fn key(session: &SessionId) -> String {
    format!("summaries.{session}")
}

fn text_of(kept: &[Kept]) -> String {
    serde_json::json!(kept).to_string()
}

fn read(store: &Memory, session: &SessionId) -> Result<Vec<Kept>> {
    match store.read_note(Admin, &key(session))? {
        None => Ok(Vec::new()),
        Some(text) => serde_json::from_str(&text).map_err(|why| Error::Unreadable(why.into())),
    }
}
