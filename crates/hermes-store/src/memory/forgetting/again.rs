//! What was taken back in one memory, taken back again in an older copy of it.

use std::collections::HashSet;

use rusqlite::params;

use super::super::episodes::{self, episode_of, episode_where};
use super::super::{Outcome, audit, graves, people};
use super::choose::{self, Chosen};
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{Episode, EpisodeState, ItemKind, TakenBack, Uid, UserNumber};

/// The episodes, procedures and events that are out of every answer by a person's word, and those that were erased.
pub(super) fn taken_back(connection: &Connection) -> backend::Result<TakenBack> {
    let mut by_people = connection.prepare(BY_PEOPLE)?;
    let by_people: HashSet<String> =
        by_people.query_map([], |row| row.get(0))?.collect::<backend::Result<_>>()?;
    let mut found = TakenBack::default();
    for (kind, sql) in KINDS {
        let mut statement = connection.prepare(sql)?;
        let rows =
            statement.query_map([], |row| Ok((row.get(0)?, Uid::from_bytes(row.get(1)?))))?;
        for row in rows {
            let (id, uid): (i64, Uid) = row?;
            // Only a person's rewinding or forgetting retires an episode.
            if kind == ItemKind::Summary || by_people.contains(&audit::item_name(kind, id)) {
                found.retired.push((kind, uid));
            }
        }
    }
    let mut statement = connection.prepare(ERASED)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, Uid::from_bytes(row.get(1)?))))?;
    for row in rows {
        let (kind, uid): (i64, Uid) = row?;
        found.erased.extend(ItemKind::from_number(kind).map(|kind| (kind, uid)));
    }
    Ok(found)
}

/// What of it is here and still held, and by the graves that are here.
pub(super) fn to_retire(transaction: &Connection, taken: &TakenBack) -> Outcome<Chosen> {
    let mut chosen = found(transaction, &taken.retired, true)?;
    let mut known: HashSet<i64> = chosen.episodes.iter().map(|episode| episode.id).collect();
    for (session, user, session_id) in sessions(transaction)? {
        let numbers = people::numbers_of(transaction, user)?;
        let buried_at = graves::session_buried_at(transaction, &numbers, &session_id)?;
        let Some(buried_at) = buried_at else { continue };
        let mut statement = transaction.prepare_cached(HELD_IN_SESSION)?;
        for episode in statement.query_map(params![session, buried_at], episode_of)? {
            let episode = episode?;
            if known.insert(episode.id) {
                chosen.episodes.push(episode);
            }
        }
    }
    add_messages(transaction, &mut chosen)?;
    Ok(chosen)
}

/// What of it is here, whether held or not, and what messages that were erased one by one are in.
pub(super) fn to_erase(transaction: &Connection, taken: &TakenBack) -> Outcome<Chosen> {
    let mut chosen = found(transaction, &taken.erased, false)?;
    let mut known: HashSet<i64> = chosen.episodes.iter().map(|episode| episode.id).collect();
    let mut statement = transaction.prepare_cached(OF_BURIED_MESSAGES)?;
    for episode in statement.query_map([], episode_of)? {
        let episode = episode?;
        if known.insert(episode.id) {
            chosen.episodes.push(episode);
        }
    }
    add_messages(transaction, &mut chosen)?;
    choose::add_emptied_sessions(transaction, &mut chosen)?;
    Ok(chosen)
}

fn found(transaction: &Connection, items: &[(ItemKind, Uid)], is_held: bool) -> Outcome<Chosen> {
    let mut chosen = Chosen::default();
    for (kind, uid) in items {
        let held = |sql: &str| -> Outcome<Option<i64>> {
            let asked = params![uid.as_bytes(), is_held];
            Ok(transaction.prepare_cached(sql)?.query_row(asked, |row| row.get(0)).optional()?)
        };
        match kind {
            ItemKind::Summary | ItemKind::Message => {
                let asked = params![uid.as_bytes(), is_held];
                let mut statement = transaction.prepare_cached(EPISODE)?;
                let episode: Option<Episode> = statement.query_row(asked, episode_of).optional()?;
                chosen.episodes.extend(episode);
            }
            ItemKind::Procedure => chosen.procedures.extend(held(PROCEDURE)?),
            ItemKind::Event => chosen.events.extend(held(EVENT)?),
            // Facts are carried by their graves.
            ItemKind::Fact => {}
        }
    }
    Ok(chosen)
}

fn sessions(transaction: &Connection) -> Outcome<Vec<(i64, UserNumber, String)>> {
    let mut statement = transaction.prepare_cached(SESSIONS)?;
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, UserNumber::new(row.get(1)?), row.get(2)?)))?
        .collect::<backend::Result<_>>()?;
    Ok(rows)
}

fn add_messages(transaction: &Connection, chosen: &mut Chosen) -> Outcome<()> {
    for episode in chosen.episodes.iter().filter(|one| one.state == EpisodeState::Raw) {
        chosen.messages.extend(episodes::message_keys(transaction, episode)?);
    }
    Ok(())
}

const BY_PEOPLE: &str = "
    select distinct item from audit
    where action in ('procedure.retire', 'event.retire')
      and (actor = 'user' or actor like 'user:%')";
const KINDS: [(ItemKind, &str); 3] = [
    (ItemKind::Summary, "select id, uid from episode where retired_at is not null"),
    (ItemKind::Procedure, "select id, uid from procedure where retired_at is not null"),
    (ItemKind::Event, "select id, uid from event where retired_at is not null"),
];
const ERASED: &str = "select kind, uid from tombstone where kind in (2, 3, 4)";
const EPISODE: &str = episode_where!("e.uid = ?1 and (?2 = 0 or e.retired_at is null)");
const PROCEDURE: &str =
    "select id from procedure where uid = ?1 and (?2 = 0 or retired_at is null)";
const EVENT: &str = "select id from event where uid = ?1 and (?2 = 0 or retired_at is null)";
const SESSIONS: &str = "select id, user_id, session_id from session order by id";
const HELD_IN_SESSION: &str =
    episode_where!("e.session = ?1 and e.retired_at is null and e.started_at <= ?2");
const OF_BURIED_MESSAGES: &str = episode_where!(
    "e.id in (select m.episode from message m join origin o on o.kind = 0 and o.item = m.id
              join grave g on g.kind = 3 and g.key = o.key)"
);
