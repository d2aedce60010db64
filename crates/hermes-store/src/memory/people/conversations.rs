//! What one user said becomes another's: sessions, episodes, messages, what was handed to a model.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::params;
use serde_json::Value;

use super::super::{Outcome, Refusal, transfer};
use super::texts::{Moving, Texts};
use crate::Error;
use crate::memory::backend::{self, Connection};
use crate::memory::{ChunkKey, ItemKind, MessageKey, PortableText, SessionKey, UserNumber};

/// The new numbers of sessions, by the old ones.
pub(super) type Sessions = HashMap<i64, i64>;

/// Moves every conversation; a session that both have goes on in a next part.
pub(super) fn move_all(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    texts: &mut Texts<'_>,
) -> Outcome<Sessions> {
    let old: Vec<(i64, String, i64)> = transaction
        .prepare(SESSIONS)?
        .query_map([from.get()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<backend::Result<_>>()?;
    let mut sessions = Sessions::new();
    for (row, session_id, part) in old {
        let new = next_session(transaction, into)?;
        let last: Option<i64> = transaction
            .prepare_cached(LAST_PART)?
            .query_row(params![session_id, into.get()], |row| row.get(0))?;
        let part = last.map_or(part, |last| last + 1);
        let asked = params![row, new.get(), into.get(), part];
        transaction.prepare_cached(MOVE_SESSION)?.execute(asked)?;
        move_messages(transaction, [SessionKey::from_row(row), new], texts)?;
        for sql in FOLLOW_SESSION {
            transaction.prepare_cached(sql)?.execute([row, new.get()])?;
        }
        sessions.insert(row, new.get());
    }
    move_origins(transaction, from, &sessions)?;
    move_summaries(transaction, [from, into], texts)?;
    transaction.execute(MOVE_EPISODES, [from.get(), into.get()])?;
    Ok(sessions)
}

/// What was handed to a model names messages by their numbers.
pub(super) fn move_receipts(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    sessions: &Sessions,
) -> Outcome<()> {
    let receipts: Vec<(i64, String)> = transaction
        .prepare("select id, items from receipt where user_id = ?1")?
        .query_map([from.get()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<backend::Result<_>>()?;
    for (id, items) in receipts {
        let items = renumbered(&items, sessions);
        transaction.prepare_cached(MOVE_RECEIPT)?.execute(params![id, into.get(), items])?;
    }
    Ok(())
}

/// A list of items with the new numbers of messages; one that cannot be read stays as it is.
fn renumbered(items: &str, sessions: &Sessions) -> String {
    let Ok(mut list) = serde_json::from_str::<Vec<Value>>(items) else { return items.to_owned() };
    for item in &mut list {
        if item.get("kind").and_then(Value::as_str) != Some("message") {
            continue;
        }
        let new = item.get("item").and_then(Value::as_i64).and_then(|old| moved(old, sessions));
        if let (Some(new), Some(item)) = (new, item.get_mut("item")) {
            *item = Value::from(new.get());
        }
    }
    serde_json::to_string(&list).unwrap_or_else(|_| items.to_owned())
}

fn moved(message: i64, sessions: &Sessions) -> Option<MessageKey> {
    let old = MessageKey::from_row(message);
    let session = sessions.get(&old.session().get())?;
    MessageKey::new(SessionKey::from_row(*session), old.place())
}

fn next_session(connection: &Connection, user: UserNumber) -> Outcome<SessionKey> {
    let all = SessionKey::all_of(user);
    let last: Option<i64> = connection
        .prepare_cached(LAST_SESSION)?
        .query_row([all.start(), all.end()], |row| row.get(0))?;
    let number = last.map_or(0, |last| last - all.start() + 1);
    SessionKey::new(user, number).ok_or(Refusal::Rule(Error::Full { what: "the user" }))
}

/// The index first: it is read by the old numbers.
fn move_messages(
    transaction: &Connection,
    [old, new]: [SessionKey; 2],
    texts: &mut Texts<'_>,
) -> Outcome<()> {
    let (Some(first), Some(to)) = (MessageKey::new(old, 0), MessageKey::new(new, 0)) else {
        return Ok(());
    };
    let last = first.get() + crate::memory::MOST_PLACES - 1;
    let mut statement = transaction.prepare_cached(MESSAGES)?;
    let mut found = statement.query([first.get(), last])?;
    while let Some(row) = found.next()? {
        let id: i64 = row.get(0)?;
        let at = Timestamp::from_millisecond(row.get(1)?).unwrap_or(Timestamp::UNIX_EPOCH);
        let (text, caption, speaker): (String, Option<String>, Option<String>) =
            (row.get(2)?, row.get(3)?, row.get(4)?);
        let text = PortableText {
            text: &text,
            caption: caption.as_deref(),
            speaker: speaker.as_deref(),
            at: Some(at),
            further: None,
        };
        texts.take(&Moving { from: id, to: id - first.get() + to.get(), text, at })?;
    }
    let change = to.get() - first.get();
    for sql in MOVE_MESSAGES {
        transaction.prepare_cached(sql)?.execute([first.get(), last, change])?;
    }
    Ok(())
}

/// Where messages came from: there is no index from a message to it, so all of it is read once.
fn move_origins(transaction: &Connection, from: UserNumber, sessions: &Sessions) -> Outcome<()> {
    let all = SessionKey::all_of(from);
    let bounds = [*all.start(), *all.end()].map(SessionKey::from_row);
    let [Some(first), Some(last)] = bounds.map(|session| MessageKey::new(session, 0)) else {
        return Ok(());
    };
    let last = last.get() + crate::memory::MOST_PLACES - 1;
    let origins: Vec<(Vec<u8>, i64)> = transaction
        .prepare(ORIGINS)?
        .query_map([first.get(), last], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<backend::Result<_>>()?;
    for (key, message) in origins {
        if let Some(new) = moved(message, sessions) {
            transaction.prepare_cached(MOVE_ORIGIN)?.execute(params![key, new.get()])?;
        }
    }
    Ok(())
}

fn move_summaries(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    texts: &mut Texts<'_>,
) -> Outcome<()> {
    let summaries: Vec<(i64, String, i64)> = transaction
        .prepare(SUMMARIES)?
        .query_map([from.get()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<backend::Result<_>>()?;
    if summaries.is_empty() {
        return Ok(());
    }
    let further = transfer::further_words(transaction)?;
    for (id, body, at) in summaries {
        let words = further.of(id, &body)?;
        let number = |user| ChunkKey::of_item(user, ItemKind::Summary, id, 0).text();
        let text = PortableText {
            text: &body,
            caption: None,
            speaker: None,
            at: None,
            further: Some(&words),
        };
        let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
        texts.take(&Moving { from: number(from), to: number(into), text, at })?;
    }
    Ok(())
}

const SESSIONS: &str = "
    select id, session_id, part from session where user_id = ?1 order by session_id, part";
const LAST_SESSION: &str = "select max(id) from session where id between ?1 and ?2";
const LAST_PART: &str = "select max(part) from session where session_id = ?1 and user_id = ?2";
const MOVE_SESSION: &str = "update session set id = ?2, user_id = ?3, part = ?4 where id = ?1";
const FOLLOW_SESSION: [&str; 5] = [
    "update episode set session = ?2 where session = ?1",
    "update event set session = ?2 where session = ?1",
    "update task set session = ?2 where session = ?1",
    "update covered set session = ?2 where session = ?1",
    "update summary_session set session = ?2 where session = ?1",
];
const MESSAGES: &str = "
    select id, at, text, caption, speaker from message where id between ?1 and ?2 order by id";
const MOVE_MESSAGES: [&str; 4] = [
    "update source set message = message + ?3
     where message between ?1 and ?2
       and episode in (select m.episode from message m where m.id between ?1 and ?2)",
    "update message set id = id + ?3 where id between ?1 and ?2",
    "update step set message = message + ?3 where message between ?1 and ?2",
    "update mention set item = item + ?3 where kind = 0 and item between ?1 and ?2",
];
const ORIGINS: &str = "select key, item from origin where kind = 0 and item between ?1 and ?2";
const MOVE_ORIGIN: &str = "update origin set item = ?2 where key = ?1";
const SUMMARIES: &str = "
    select id, body, started_at from episode
    where user_id = ?1 and state = 'compressed' and body is not null order by id";
const MOVE_EPISODES: &str = "update episode set user_id = ?2 where user_id = ?1";
const MOVE_RECEIPT: &str = "update receipt set user_id = ?2, items = ?3 where id = ?1";
