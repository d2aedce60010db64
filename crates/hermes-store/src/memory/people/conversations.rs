//! What one user said becomes another's, or is given back: sessions, episodes, messages, what was handed to a model.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::params;
use serde_json::Value;

use super::super::{Outcome, Refusal, transfer};
use super::noted::Noted;
use super::texts::{Moving, Texts};
use crate::Error;
use crate::memory::backend::{self, Connection};
use crate::memory::{
    ChunkKey, ItemKind, MOST_PLACES, MessageKey, PortableText, SessionKey, UserNumber,
};

/// Where sessions went, by their old numbers.
pub(super) type Sessions = HashMap<i64, Went>;

/// Where a session went: up to a place to one, from there on to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Went {
    pub(super) to: i64,
    cut: i64,
    rest: i64,
}

/// Moves every conversation; a session that both have goes on in a next part.
pub(super) fn move_all(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    texts: &mut Texts<'_>,
    noted: &mut Noted,
) -> Outcome<Sessions> {
    let old: Vec<(i64, String, i64, i64)> = transaction
        .prepare(SESSIONS)?
        .query_map([from.get()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<backend::Result<_>>()?;
    let mut sessions = Sessions::new();
    for (row, session_id, part, messages) in old {
        let new = next_session(transaction, into)?;
        noted.sessions.push([row, new.get(), part, messages]);
        let last: Option<i64> = transaction
            .prepare_cached(LAST_PART)?
            .query_row(params![session_id, into.get()], |row| row.get(0))?;
        let part = last.map_or(part, |last| last + 1);
        move_session(transaction, [SessionKey::from_row(row), new], (into, part), texts)?;
        sessions.insert(row, Went { to: new.get(), cut: MOST_PLACES, rest: new.get() });
    }
    move_origins(transaction, from, &sessions)?;
    move_summaries(transaction, from, [from, into], texts)?;
    transaction.execute(MOVE_EPISODES, [from.get(), into.get()])?;
    Ok(sessions)
}

/// Gives the sessions of a merge their numbers back. The episodes have changed hands already: what is still the
/// other's in such a session was said later, and becomes a part of its own. Says also how many messages went back that
/// came later.
pub(super) fn give_back(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    noted: &Noted,
    texts: &mut Texts<'_>,
) -> Outcome<(Sessions, u64)> {
    let mut sessions = Sessions::new();
    let (mut free, mut later) = (next_session(transaction, into)?, 0);
    for [old, now, part, messages] in noted.sessions.iter().copied() {
        let asked = [now, into.get()];
        if !transaction.prepare_cached(IS_SESSION)?.exists(asked)? {
            continue;
        }
        let cut: Option<i64> =
            transaction.prepare_cached(LATER_PLACE)?.query_row(asked, |row| row.get(0))?;
        let mut went = Went { to: old, cut: cut.unwrap_or(MOST_PLACES), rest: old };
        let (row, back) = (SessionKey::from_row(now), SessionKey::from_row(old));
        if let Some(cut) = cut {
            went.rest = free.get();
            split_off(transaction, [row, free], cut, texts)?;
            free = SessionKey::from_row(free.get() + 1);
        }
        for sql in UNTIE {
            let rest = cut.map(|_| went.rest);
            transaction.prepare_cached(sql)?.execute(params![now, into.get(), rest])?;
        }
        let said: i64 = transaction.prepare_cached(SAID)?.query_row([now], |row| row.get(0))?;
        later += (said - messages).max(0).unsigned_abs();
        move_session(transaction, [row, back], (from, part), texts)?;
        sessions.insert(now, went);
    }
    move_origins(transaction, into, &sessions)?;
    move_summaries(transaction, from, [into, from], texts)?;
    Ok((sessions, later))
}

/// Makes what was said from a place on a session of its own; places keep their numbers.
fn split_off(
    transaction: &Connection,
    [row, rest]: [SessionKey; 2],
    cut: i64,
    texts: &mut Texts<'_>,
) -> Outcome<()> {
    transaction.prepare_cached(ADD_REST)?.execute([row.get(), rest.get()])?;
    transaction.prepare_cached(REST_EPISODES)?.execute([row.get(), rest.get(), cut])?;
    move_messages(transaction, [row, rest], cut, texts)?;
    transaction.prepare_cached(COUNT_REST)?.execute([rest.get()])?;
    transaction.prepare_cached(COUNT_FIRST)?.execute([row.get(), cut])?;
    Ok(())
}

fn move_session(
    transaction: &Connection,
    [old, new]: [SessionKey; 2],
    (user, part): (UserNumber, i64),
    texts: &mut Texts<'_>,
) -> Outcome<()> {
    let asked = [old.get(), new.get(), user.get(), part];
    transaction.prepare_cached(MOVE_SESSION)?.execute(asked)?;
    move_messages(transaction, [old, new], 0, texts)?;
    for sql in FOLLOW_SESSION {
        transaction.prepare_cached(sql)?.execute([old.get(), new.get()])?;
    }
    Ok(())
}

/// What was handed to a model names messages by their numbers; the receipts of one user become another's.
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
    let went = sessions.get(&old.session().get())?;
    let session = if old.place() < went.cut { went.to } else { went.rest };
    MessageKey::new(SessionKey::from_row(session), old.place())
}

fn next_session(connection: &Connection, user: UserNumber) -> Outcome<SessionKey> {
    let all = SessionKey::all_of(user);
    let last: Option<i64> = connection
        .prepare_cached(LAST_SESSION)?
        .query_row([all.start(), all.end()], |row| row.get(0))?;
    let number = last.map_or(0, |last| last - all.start() + 1);
    SessionKey::new(user, number).ok_or(Refusal::Rule(Error::Full { what: "the user" }))
}

/// Moves what was said from a place on. The index first: it is read by the old numbers.
fn move_messages(
    transaction: &Connection,
    [old, new]: [SessionKey; 2],
    place: i64,
    texts: &mut Texts<'_>,
) -> Outcome<()> {
    let (Some(first), Some(to)) = (MessageKey::new(old, place), MessageKey::new(new, place)) else {
        return Ok(());
    };
    let last = first.get() + MOST_PLACES - 1 - place;
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
    let last = last.get() + MOST_PLACES - 1;
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

/// Moves the texts of the summaries of a user.
fn move_summaries(
    transaction: &Connection,
    user: UserNumber,
    [from, into]: [UserNumber; 2],
    texts: &mut Texts<'_>,
) -> Outcome<()> {
    let summaries: Vec<(i64, String, i64)> = transaction
        .prepare(SUMMARIES)?
        .query_map([user.get()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
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
    select id, session_id, part, messages from session where user_id = ?1
    order by session_id, part";
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
const IS_SESSION: &str = "select 1 from session where id = ?1 and user_id = ?2";
const LATER_PLACE: &str = "
    select min(first_place) from episode where session = ?1 and user_id = ?2 and first_place >= 0";
const SAID: &str = "select messages from session where id = ?1";
const ADD_REST: &str = "
    insert into session (id, user_id, session_id, part, channel, source, started_at, last_at, ended_at,
      messages, reflected_at, dropped)
    select ?2, user_id, session_id, (
        select max(o.part) + 1 from session o
        where o.session_id = session.session_id and o.user_id = session.user_id),
      channel, source, started_at, last_at, ended_at, messages, reflected_at, dropped
    from session where id = ?1";
const REST_EPISODES: &str =
    "update episode set session = ?2 where session = ?1 and first_place >= ?3";
// The places before are taken and empty.
const COUNT_REST: &str = "
    update session set
      dropped = messages - (select count(*) from message where id between ?1 * 4096 and ?1 * 4096 + 4095),
      started_at = coalesce((
        select min(at) from message where id between ?1 * 4096 and ?1 * 4096 + 4095), started_at)
    where id = ?1";
const COUNT_FIRST: &str = "
    update session set messages = ?2,
      dropped = ?2 - (select count(*) from message where id between ?1 * 4096 and ?1 * 4096 + 4095),
      last_at = coalesce((
        select max(at) from message where id between ?1 * 4096 and ?1 * 4096 + 4095), last_at)
    where id = ?1";
// What the other noted of the session since.
const UNTIE: [&str; 2] = [
    "update event set session = ?3 where session = ?1 and user_id = ?2",
    "update task set session = ?3 where session = ?1 and user_id = ?2",
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
