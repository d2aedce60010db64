//! Dropping the messages that a summary tells of.

use std::collections::BTreeMap;

use rusqlite::params;

use super::super::episodes::{self, episode_of, episode_where};
use super::super::upkeep::NOTE_TIME;
use super::super::{Outcome, audit, covered, entities, index};
use crate::Error;
use crate::memory::backend::{self, Connection};
use crate::memory::{Change, Dropped, Episode, EpisodeState, ItemKind, Scope};

/// Drops the messages of the raw episodes that a summary tells of, if the summary reads `body`.
///
/// What is known of them stays: their origins, so that recording them again adds nothing, and their
/// numbers, which lead to the summary. The caller sees to it that foreign keys are not looked after.
pub(super) fn raw(
    transaction: &Connection,
    scope: Scope,
    (summary, body): (i64, &str),
    change: Change<'_>,
) -> Outcome<Dropped> {
    let item = audit::item_name(ItemKind::Summary, summary);
    refuse_other_body(transaction, scope, (summary, body))?;
    let told: Vec<Episode> = transaction
        .prepare_cached(TOLD)?
        .query_map([summary], episode_of)?
        .collect::<backend::Result<_>>()?;
    let mut dropped = Dropped::default();
    let mut messages: Vec<i64> = Vec::new();
    let mut of_session: BTreeMap<i64, i64> = BTreeMap::new();
    for episode in &told {
        let keys = episodes::message_keys(transaction, episode)?;
        *of_session.entry(episode.session.get()).or_default() += keys.len() as i64;
        messages.extend(keys);
        covered::add(transaction, episode.id, (summary, episode.session.get()))?;
        move_mentions(transaction, (ItemKind::Summary, episode.id), summary)?;
        transaction.prepare_cached(DROP_EPISODE)?.execute([episode.id])?;
        dropped.episodes += 1;
    }
    index::remove_texts(transaction, &messages)?;
    for message in &messages {
        move_mentions(transaction, (ItemKind::Message, *message), summary)?;
        let bytes: i64 =
            transaction.prepare_cached(BYTES)?.query_row([*message], |row| row.get(0))?;
        dropped.text_bytes += bytes.unsigned_abs();
        transaction.prepare_cached(DROP_STEPS)?.execute([*message])?;
        transaction.prepare_cached(DROP_MESSAGE)?.execute([*message])?;
        dropped.messages += 1;
    }
    for (session, count) in of_session {
        transaction.prepare_cached(COUNT_DROPPED)?.execute([session, count])?;
    }
    if dropped.episodes > 0 {
        let at = change.at.as_millisecond().to_string();
        transaction.put(&NOTE_TIME, params!["last_compression", at])?;
        let after = audit::hash_of(body);
        audit::append(transaction, change, "episode.drop", &item, None, Some(&after))?;
    }
    Ok(dropped)
}

/// Reads the summary back: nothing is dropped for one that is not there as it should be.
fn refuse_other_body(
    transaction: &Connection,
    scope: Scope,
    (summary, body): (i64, &str),
) -> Outcome<()> {
    let kept = episodes::writable(transaction, scope, summary)?;
    let is_held: bool =
        transaction.prepare_cached(IS_HELD)?.query_row([summary], |row| row.get(0))?;
    let why = if kept.state != EpisodeState::Compressed {
        "it is not a summary"
    } else if !is_held {
        "it was retired"
    } else if kept.body.as_deref() != Some(body) {
        "it cannot be read back as it was written"
    } else {
        return Ok(());
    };
    let item = audit::item_name(ItemKind::Summary, summary);
    let doing = "drop the messages summarised by";
    Err(Error::ItemRefused { doing, item, why: why.to_owned() }.into())
}

/// What mentioned a name in a text that goes now mentions it in the summary.
fn move_mentions(
    transaction: &Connection,
    (kind, item): (ItemKind, i64),
    summary: i64,
) -> Outcome<()> {
    let asked = params![kind.number(), item, summary];
    transaction.prepare_cached(COPY_MENTIONS)?.execute(asked)?;
    entities::forget_mentions(transaction, kind, item)
}

const TOLD: &str = episode_where!("e.compressed_into = ?1 and e.state = 'raw' order by e.id");
const IS_HELD: &str =
    "select retired_at is null and quarantined_at is null from episode where id = ?1";
const DROP_EPISODE: &str = "delete from episode where id = ?1";
const BYTES: &str = "
    select octet_length(text) + coalesce(octet_length(caption), 0) from message where id = ?1";
const DROP_STEPS: &str = "delete from step where message = ?1";
const DROP_MESSAGE: &str = "delete from message where id = ?1";
const COUNT_DROPPED: &str = "update session set dropped = dropped + ?2 where id = ?1";
const COPY_MENTIONS: &str = "
    insert into mention (entity, kind, item)
    select entity, 4, ?3 from mention where kind = ?1 and item = ?2
    on conflict do nothing";
