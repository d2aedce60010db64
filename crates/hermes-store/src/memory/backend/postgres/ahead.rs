//! What a search will ask for next, fetched from a server in a few questions instead of many.

use std::collections::HashMap;

use ::postgres::types::{ToSql, Type};

use super::Server;
use crate::memory::backend::{List, Result, Row, Who};
use crate::memory::episodes::{SOME, episode_of, message_of};
use crate::memory::{ChunkKey, Episode, ItemKind, Message, MessageKey};

/// Rows that were fetched before they were asked for, of one asker in one held state.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    pub(super) asker: Option<Who>,
    pub(super) messages: HashMap<i64, Message>,
    pub(super) episodes: HashMap<i64, Episode>,
    /// All messages of an episode.
    pub(super) of_episode: HashMap<i64, Vec<Message>>,
    /// Whether facts were drawn from an episode.
    pub(super) has_facts: HashMap<i64, bool>,
}

/// Fetches the messages and episodes that chunks belong to, the other messages of those episodes, and whether
/// facts were drawn from them. Kept while one state is held.
pub(super) fn fetch(server: &Server, keys: &[ChunkKey]) -> Result<()> {
    if !server.holds_state() {
        return Ok(());
    }
    let of_kind = |wanted: ItemKind| keys.iter().filter(move |key| key.kind() == Some(wanted));
    let texts: Vec<i64> = of_kind(ItemKind::Message).map(|key| key.message().get()).collect();
    let mut wanted: Vec<i64> = of_kind(ItemKind::Summary).map(|key| key.item()).collect();
    wanted.extend(messages(server, &texts)?.iter().map(|message| message.episode));
    wanted.sort_unstable();
    wanted.dedup();
    let mut unknown = episodes(server, &wanted)?;
    unknown.retain(|episode| !server.ahead().of_episode.contains_key(&episode.id));
    if unknown.is_empty() {
        return Ok(());
    }
    let of_episode = messages_of(server, &unknown)?;
    let unknown: Vec<i64> = unknown.iter().map(|episode| episode.id).collect();
    let rows = server.rows_of(DRAWN_FROM, &[], List::Numbers(&unknown))?;
    let mut has_facts: HashMap<i64, bool> = unknown.iter().map(|id| (*id, false)).collect();
    for row in &rows {
        has_facts.insert(row.try_get(0)?, true);
    }
    let mut ahead = server.ahead();
    ahead.of_episode.extend(of_episode);
    ahead.has_facts.extend(has_facts);
    Ok(())
}

/// All messages of some episodes.
fn messages_of(server: &Server, episodes: &[Episode]) -> Result<HashMap<i64, Vec<Message>>> {
    let mut of_episode: HashMap<i64, Vec<Message>> =
        episodes.iter().map(|episode| (episode.id, Vec::new())).collect();
    let ids: Vec<i64> = episodes.iter().map(|episode| episode.id).collect();
    let end = |episode: &Episode, place| {
        MessageKey::new(episode.session, place).map_or(-1, MessageKey::get)
    };
    let firsts: Vec<i64> = episodes.iter().map(|one| end(one, one.first_place)).collect();
    let lasts: Vec<i64> = episodes.iter().map(|one| end(one, one.last_place)).collect();
    let asked: [(&(dyn ToSql + Sync), Type); 4] = [
        (&server.profile(), Type::INT8),
        (&ids, Type::INT8_ARRAY),
        (&firsts, Type::INT8_ARRAY),
        (&lasts, Type::INT8_ARRAY),
    ];
    for row in &server.ask(MESSAGES_OF, &asked)? {
        let message = message_of(&Row::Server(row))?;
        of_episode.entry(message.episode).or_default().push(message);
    }
    Ok(of_episode)
}

/// Messages in the order of their numbers as asked for.
pub(super) fn messages(server: &Server, keys: &[i64]) -> Result<Vec<Message>> {
    let lacking: Vec<i64> = {
        let ahead = server.ahead();
        keys.iter().copied().filter(|key| !ahead.messages.contains_key(key)).collect()
    };
    let mut found: HashMap<i64, Message> = HashMap::new();
    if !lacking.is_empty() {
        for row in &server.rows_of(SOME_MESSAGES, &[], List::Numbers(&lacking))? {
            let message = message_of(&Row::Server(row))?;
            found.insert(message.key.get(), message);
        }
    }
    let mut ahead = server.ahead();
    let known = |key: &i64| found.get(key).or_else(|| ahead.messages.get(key)).cloned();
    let all = keys.iter().filter_map(known).collect();
    if server.holds_state() {
        ahead.messages.extend(found);
    }
    Ok(all)
}

/// Episodes that are held, in the order asked for.
pub(super) fn episodes(server: &Server, ids: &[i64]) -> Result<Vec<Episode>> {
    let lacking: Vec<i64> = {
        let ahead = server.ahead();
        ids.iter().copied().filter(|id| !ahead.episodes.contains_key(id)).collect()
    };
    let mut found: HashMap<i64, Episode> = HashMap::new();
    if !lacking.is_empty() {
        for row in &server.rows_of(SOME, &[], List::Numbers(&lacking))? {
            let episode = episode_of(&Row::Server(row))?;
            found.insert(episode.id, episode);
        }
    }
    let mut ahead = server.ahead();
    let known = |id: &i64| found.get(id).or_else(|| ahead.episodes.get(id)).cloned();
    let all = ids.iter().filter_map(known).collect();
    if server.holds_state() {
        ahead.episodes.extend(found);
    }
    Ok(all)
}

// The messages of an episode have neighbouring numbers. `offset 0` has each run of them looked up by itself: the
// server takes a run for a large part of the table, and would rather read all of it.
const MESSAGES_OF: &str = "
    select m.id, m.episode, m.at, m.role, m.speaker, m.text, m.caption
    from unnest($2, $3, $4) as asked (episode, first, last), lateral (
      select * from hermes.message
      where profile = $1 and id between asked.first and asked.last and hermes.message.episode = asked.episode
      order by id offset 0) m
    order by m.id";
const SOME_MESSAGES: &str = "
    select id, episode, at, role, speaker, text, caption from message where id = any (?1)";
const DRAWN_FROM: &str = "
    select distinct episode from source where kind = 1 and episode = any (?1)";
