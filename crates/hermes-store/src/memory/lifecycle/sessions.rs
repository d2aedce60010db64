//! Sessions as they are kept: taken in, over, looked back on.

use jiff::Timestamp;
use rusqlite::params;

use super::super::Outcome;
use super::super::rows::{optional_time, time};
use crate::memory::backend::{self, Connection, OptionalExtension, Put, Row};
use crate::memory::{MessageKey, Scope, Session, SessionKey, TakenIn, UserNumber};

pub(super) fn taken_in(connection: &Connection, database: &str) -> backend::Result<Vec<TakenIn>> {
    connection
        .prepare_cached(TAKEN)?
        .query_map([database], |row| {
            Ok(TakenIn {
                database: database.to_owned(),
                session_id: row.get(0)?,
                last_message: row.get(1)?,
                live: row.get(2)?,
            })
        })?
        .collect()
}

pub(super) fn note_taken_in(
    transaction: &Connection,
    taken: &TakenIn,
    now: Timestamp,
) -> Outcome<()> {
    transaction.put(
        &NOTE_TAKEN,
        params![
            taken.database,
            taken.session_id,
            taken.last_message,
            taken.live,
            now.as_millisecond()
        ],
    )?;
    Ok(())
}

pub(super) fn read_note(connection: &Connection, key: &str) -> backend::Result<Option<String>> {
    connection.prepare_cached(READ_NOTE)?.query_row([key], |row| row.get(0)).optional()
}

pub(super) fn keep_note(transaction: &Connection, key: &str, value: &str) -> Outcome<()> {
    transaction.put(&super::super::upkeep::NOTE_TIME, params![key, value])?;
    Ok(())
}

const READ_NOTE: &str = "select value from meta where key = ?1";

/// Whether a session ends with these messages, all of them said since a time.
pub(super) fn ends_with(
    connection: &Connection,
    (scope, session_id): (Scope, &str),
    said: &[(&str, &str)],
    since: Timestamp,
) -> backend::Result<bool> {
    let part: Option<(i64, i64)> = connection
        .prepare_cached(LAST_PART)?
        .query_row(params![session_id, scope.user().get()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((part, places)) = part else { return Ok(false) };
    let count = i64::try_from(said.len()).unwrap_or(i64::MAX);
    let first = MessageKey::new(SessionKey::from_row(part), places.saturating_sub(count).max(0));
    let Some(first) = first.filter(|_| places >= count && count > 0) else { return Ok(false) };
    let range = [first.get(), first.get() + count - 1];
    let mut statement = connection.prepare_cached(SAID)?;
    let mut rows = statement.query(range)?;
    for (role, text) in said {
        let Some(row) = rows.next()? else { return Ok(false) };
        let (found, words): (String, String) = (row.get(0)?, row.get(1)?);
        let at: i64 = row.get(2)?;
        if found != *role || words != *text || at < since.as_millisecond() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An end that is said to be earlier than the last message is the time of that.
pub(super) fn end(
    transaction: &Connection,
    scope: Scope,
    session_id: &str,
    at: Timestamp,
) -> Outcome<bool> {
    let asked = params![scope.user().get(), session_id, at.as_millisecond()];
    Ok(transaction.prepare_cached(END)?.execute(asked)? > 0)
}

pub(super) fn to_reflect(
    connection: &Connection,
    idle_since: Timestamp,
    limit: usize,
) -> backend::Result<Vec<Session>> {
    connection
        .prepare_cached(TO_REFLECT)?
        .query_map(params![idle_since.as_millisecond(), limit], session_of)?
        .collect()
}

pub(super) fn mark_reflected(
    transaction: &Connection,
    session: SessionKey,
    now: Timestamp,
) -> Outcome<()> {
    transaction.prepare_cached(REFLECTED)?.execute([session.get(), now.as_millisecond()])?;
    Ok(())
}

pub(super) fn named(
    connection: &Connection,
    scope: Scope,
    session_id: &str,
) -> backend::Result<Vec<Session>> {
    connection
        .prepare_cached(NAMED)?
        .query_map(params![session_id, scope.user().get()], session_of)?
        .collect()
}

fn session_of(row: &Row<'_>) -> backend::Result<Session> {
    Ok(Session {
        key: SessionKey::from_row(row.get(0)?),
        session_id: row.get(1)?,
        user: UserNumber::new(row.get(2)?),
        channel: row.get(3)?,
        source: row.get(4)?,
        started_at: time(row, 5)?,
        last_at: time(row, 6)?,
        ended_at: optional_time(row, 7)?,
        reflected_at: optional_time(row, 8)?,
    })
}

macro_rules! session_where {
    ($rest:literal) => {
        concat!(
            "select s.id, s.session_id, s.user_id, (select text from label where id = s.channel), ",
            "(select text from label where id = s.source), s.started_at, s.last_at, s.ended_at, ",
            "s.reflected_at from session s where ",
            $rest
        )
    };
}

const TAKEN: &str = "
    select session_id, last_message, live from taken where database = ?1 order by session_id";
const NOTE_TAKEN: Put = Put {
    change: "
    update taken set last_message = ?3, live = ?4, at = ?5 where database = ?1 and session_id = ?2",
    add: "
    insert into taken (database, session_id, last_message, live, at) values (?1, ?2, ?3, ?4, ?5)",
};
const LAST_PART: &str = "
    select id, messages from session where session_id = ?1 and user_id = ?2
    order by part desc limit 1";
const SAID: &str = "select role, text, at from message where id between ?1 and ?2 order by id";
const END: &str = "
    update session set ended_at = case when last_at > ?3 then last_at else ?3 end where user_id = ?1 and session_id = ?2";
const TO_REFLECT: &str = session_where!(
    "s.reflected_at is null and (s.ended_at >= s.last_at or s.last_at <= ?1)
      and exists (
        select 1 from episode e where e.session = s.id and e.state = 'raw'
          and e.retired_at is null and e.quarantined_at is null)
    order by s.last_at, s.id limit ?2"
);
const REFLECTED: &str = "update session set reflected_at = ?2 where id = ?1";
const NAMED: &str =
    session_where!("s.session_id = ?1 and s.user_id in (?2, 0) order by s.user_id desc, s.part");
