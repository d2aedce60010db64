//! Removing what was chosen from the file, with everything that still tells of it.

use std::collections::HashSet;

use rusqlite::params;

use super::super::graves::{self, Grave, GraveKind};
use super::super::lifecycle::items_of;
use super::super::{Outcome, audit, entities, index, people};
use super::choose::Chosen;
use super::copies;
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::facts::change::ADD_TOMBSTONE;
use crate::memory::{Change, Choice, ChunkKey, ItemKind, MessageKey, UserNumber};

/// Buries every message of the chosen sessions by where it came from, and for whole users the sessions too.
pub(super) fn bury_messages(
    transaction: &Connection,
    chosen: &Chosen,
    change: Change<'_>,
) -> Outcome<()> {
    let sessions: HashSet<i64> = chosen.sessions.iter().map(|session| session.row).collect();
    let origins: Vec<(graves::Key, MessageKey)> = transaction
        .prepare(ORIGINS)?
        .query_map([], |row| Ok((row.get(0)?, MessageKey::from_row(row.get(1)?))))?
        .collect::<backend::Result<_>>()?;
    for (key, message) in origins {
        if !sessions.contains(&message.session().get()) {
            continue;
        }
        let user = ChunkKey::of_message(message, 0).user();
        let grave = Grave { kind: GraveKind::Message, user, key, item: None };
        graves::bury(transaction, &grave, change)?;
        transaction.prepare_cached(DROP_ORIGIN)?.execute([key])?;
    }
    for session in chosen.sessions.iter().filter(|one| chosen.users.contains(&one.user)) {
        let key = graves::session_key(session.user, &session.session_id);
        let grave = Grave { kind: GraveKind::Session, user: session.user, key, item: None };
        graves::bury(transaction, &grave, change)?;
    }
    Ok(())
}

/// Erases everything that was chosen. The caller sees to it that foreign keys are not looked after.
pub(super) fn erase(
    transaction: &Connection,
    (choice, chosen): (&Choice, &Chosen),
    change: Change<'_>,
) -> Outcome<()> {
    copies::erase_answers(transaction)?;
    for fact in &chosen.facts {
        let said = transaction.prepare_cached(STATEMENT)?.query_row([fact], |row| row.get(0));
        let said: Option<String> = said.optional()?;
        said.map_or(Ok(()), |said| copies::erase_proposals(transaction, &said))?;
    }
    erase_receipts(transaction, chosen)?;
    erase_messages(transaction, chosen)?;
    erase_episodes(transaction, chosen, change)?;
    for (kind, items, steps) in [
        (ItemKind::Fact, &chosen.facts, &ERASE_FACT[..]),
        (ItemKind::Procedure, &chosen.procedures, &ERASE_PROCEDURE[..]),
        (ItemKind::Event, &chosen.events, &ERASE_EVENT[..]),
    ] {
        for item in items {
            erase_item(transaction, (kind, *item), steps, change)?;
        }
    }
    for proposal in &chosen.proposals {
        transaction.prepare_cached(DROP_PROPOSAL)?.execute([proposal])?;
    }
    erase_sessions(transaction, chosen)?;
    for user in &chosen.users {
        erase_belongings(transaction, *user)?;
    }
    if !matches!(choice, Choice::Kind(..)) || !chosen.sessions.is_empty() {
        forget_speakers(transaction, chosen)?;
    }
    // Answers to requests say what was kept; a request sent again is answered anew.
    transaction.execute_batch("delete from idempotency")?;
    Ok(transaction.execute_batch(DROP_UNUSED_LABELS)?)
}

/// Receipts of the chosen sessions and users, and those that name something that goes.
fn erase_receipts(transaction: &Connection, chosen: &Chosen) -> Outcome<()> {
    for session in &chosen.sessions {
        let asked = params![session.session_id, session.user.get()];
        transaction.prepare_cached(DROP_RECEIPTS_OF_SESSION)?.execute(asked)?;
    }
    let mut going: HashSet<(ItemKind, i64)> = HashSet::new();
    going.extend(chosen.messages.iter().map(|id| (ItemKind::Message, *id)));
    going.extend(chosen.episodes.iter().map(|episode| (ItemKind::Summary, episode.id)));
    going.extend(chosen.covered.iter().map(|id| (ItemKind::Summary, *id)));
    going.extend(chosen.facts.iter().map(|fact| (ItemKind::Fact, *fact)));
    going.extend(chosen.procedures.iter().map(|id| (ItemKind::Procedure, *id)));
    going.extend(chosen.events.iter().map(|id| (ItemKind::Event, *id)));
    let mut statement = transaction.prepare("select id, items from receipt")?;
    let receipts: Vec<(i64, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<backend::Result<_>>()?;
    for (id, items) in receipts {
        if items_of(&items).iter().any(|item| going.contains(item)) {
            transaction.prepare_cached("delete from receipt where id = ?1")?.execute([id])?;
        }
    }
    Ok(())
}

fn erase_messages(transaction: &Connection, chosen: &Chosen) -> Outcome<()> {
    index::remove_texts(transaction, &chosen.messages)?;
    for message in &chosen.messages {
        entities::forget_names(transaction, ItemKind::Message, *message)?;
        for sql in [DROP_STEPS, DROP_MESSAGE] {
            transaction.prepare_cached(sql)?.execute([message])?;
        }
    }
    Ok(())
}

fn erase_episodes(transaction: &Connection, chosen: &Chosen, change: Change<'_>) -> Outcome<()> {
    for episode in &chosen.episodes {
        let text = ChunkKey::of_item(episode.user, ItemKind::Summary, episode.id, 0).text();
        index::remove_text(transaction, text)?;
        entities::forget_names(transaction, ItemKind::Summary, episode.id)?;
        let at = change.at.as_millisecond();
        let kind = ItemKind::Summary.number();
        let uid = episode.uid.as_bytes();
        transaction.put(&ADD_TOMBSTONE, params![kind, uid, at, change.actor])?;
        for sql in [UNTELL, DROP_COVERED, DROP_TOLD_SESSIONS, DROP_QUOTES, DROP_EPISODE] {
            transaction.prepare_cached(sql)?.execute([episode.id])?;
        }
        let name = audit::item_name(ItemKind::Summary, episode.id);
        audit::append(transaction, change, "episode.erase", &name, None, None)?;
    }
    for episode in &chosen.covered {
        transaction.prepare_cached(DROP_QUOTES)?.execute([episode])?;
    }
    Ok(())
}

/// Erases one fact, procedure or event; `steps` end with its row and begin with what refers to it.
fn erase_item(
    transaction: &Connection,
    (kind, item): (ItemKind, i64),
    steps: &[&str],
    change: Change<'_>,
) -> Outcome<()> {
    let (uid, user): (Vec<u8>, i64) = transaction
        .prepare_cached(steps[0])?
        .query_row([item], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let text = ChunkKey::of_item(UserNumber::new(user), kind, item, 0).text();
    index::remove_text(transaction, text)?;
    entities::forget_names(transaction, kind, item)?;
    for sql in [DROP_SOURCES, DROP_REVISIONS] {
        transaction.prepare_cached(sql)?.execute([kind.number(), item])?;
    }
    for sql in &steps[1..] {
        transaction.prepare_cached(sql)?.execute([item])?;
    }
    let at = change.at.as_millisecond();
    let tombstone = params![kind.number(), uid, at, change.actor];
    transaction.put(&ADD_TOMBSTONE, tombstone)?;
    let action = match kind {
        ItemKind::Fact => "fact.erase",
        ItemKind::Procedure => "procedure.erase",
        _ => "event.erase",
    };
    audit::append(transaction, change, action, &audit::item_name(kind, item), None, None)
}

fn erase_sessions(transaction: &Connection, chosen: &Chosen) -> Outcome<()> {
    for session in &chosen.sessions {
        for sql in [DROP_COVERED_OF_SESSION, DROP_TASKS, UNTIE_EVENTS, DROP_SESSION] {
            transaction.prepare_cached(sql)?.execute([session.row])?;
        }
    }
    Ok(())
}

/// What else there is of a user of whom nothing remains; their row stays, and who the owner is.
fn erase_belongings(transaction: &Connection, user: UserNumber) -> Outcome<()> {
    for sql in DROP_BELONGINGS {
        transaction.prepare_cached(sql)?.execute([user.get()])?;
    }
    if user != UserNumber::OWNER {
        for sql in DROP_IDENTITIES {
            transaction.prepare_cached(sql)?.execute([user.get()])?;
        }
    }
    Ok(())
}

/// Names of speakers who say nothing any more.
fn forget_speakers(transaction: &Connection, chosen: &Chosen) -> Outcome<()> {
    let users: HashSet<UserNumber> = chosen.sessions.iter().map(|session| session.user).collect();
    for user in users {
        let range = ChunkKey::all_of(user, ItemKind::Message);
        let [first, last] = [range.start(), range.end()].map(|id| ChunkKey::from_row(*id).text());
        for number in people::numbers_of(transaction, user)? {
            transaction.prepare_cached(DROP_SPEAKERS)?.execute([number.get(), first, last])?;
        }
    }
    Ok(())
}

const STATEMENT: &str = "select statement from fact where id = ?1";
const ORIGINS: &str = "select key, item from origin where kind = 0";
const DROP_ORIGIN: &str = "delete from origin where key = ?1";
const DROP_RECEIPTS_OF_SESSION: &str = "delete from receipt where session_id = ?1 and user_id = ?2";
const DROP_STEPS: &str = "delete from step where message = ?1";
const DROP_MESSAGE: &str = "delete from message where id = ?1";
const UNTELL: &str = "update episode set compressed_into = null where compressed_into = ?1";
const DROP_COVERED: &str = "delete from covered where summary = ?1";
const DROP_TOLD_SESSIONS: &str = "delete from summary_session where summary = ?1";
const DROP_QUOTES: &str = "delete from source where episode = ?1";
const DROP_EPISODE: &str = "delete from episode where id = ?1";
const DROP_SOURCES: &str = "delete from source where kind = ?1 and item = ?2";
// With the reasons, which stand a hundred above.
const DROP_REVISIONS: &str = "delete from revision where kind in (cast(?1 as bigint), cast(?1 as bigint) + 100) and item = ?2";
// Origins of procedures and events stay: they are hashes, and keep the same from being kept again.
const ERASE_FACT: [&str; 6] = [
    "select uid, user_id from fact where id = ?1",
    "delete from origin where kind = 1 and item = ?1",
    "delete from conflict where fact = ?1 or other = ?1",
    "delete from file_entry where fact = ?1",
    "update fact set superseded_by = null where superseded_by = ?1",
    "delete from fact where id = ?1",
];
const ERASE_PROCEDURE: [&str; 4] = [
    "select uid, user_id from procedure where id = ?1",
    "update procedure set superseded_by = null where superseded_by = ?1",
    "update task set skill = null where skill = ?1",
    "delete from procedure where id = ?1",
];
const ERASE_EVENT: [&str; 2] =
    ["select uid, user_id from event where id = ?1", "delete from event where id = ?1"];
const DROP_PROPOSAL: &str = "delete from proposal where id = ?1";
const DROP_COVERED_OF_SESSION: &str = "delete from covered where session = ?1";
const DROP_TASKS: &str = "delete from task where session = ?1";
const UNTIE_EVENTS: &str = "update event set session = null where session = ?1";
const DROP_SESSION: &str = "delete from session where id = ?1";
const DROP_BELONGINGS: [&str; 7] = [
    "delete from mention where entity in (select id from entity where user_id = ?1)",
    "delete from entity_alias where user_id = ?1
       or entity in (select id from entity where user_id = ?1)",
    "delete from entity where user_id = ?1",
    "delete from receipt where user_id = ?1",
    "delete from task where user_id = ?1",
    "delete from job where user_id = ?1 and state <> 'leased'",
    "delete from speaker where user_id = ?1",
];
const DROP_IDENTITIES: [&str; 2] =
    ["delete from identity where user_id = ?1", "delete from seen_identity where user_id = ?1"];
const DROP_SPEAKERS: &str = "
    delete from speaker where user_id = ?1 and name not in (
      select speaker from message where id between ?2 and ?3 and speaker is not null)";
const DROP_UNUSED_LABELS: &str = "
    delete from label where id not in (
      select channel from session where channel is not null union select source from session
      union select channel from episode where channel is not null
      union select agent from episode where agent is not null
      union select project from episode where project is not null)";
