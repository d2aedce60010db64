//! Episodes and their messages: recorded once, read by scope.

use rusqlite::params;

use super::index::{self, Indexer};
use super::passing::message_ranges;
use super::recorder::{LABEL, Recorder};
use super::rows::{choice, time, uid};
use super::{Memory, Outcome, Refusal, audit, graves};
use crate::memory::backend::{self, Connection, OptionalExtension, Row};
use crate::memory::{
    Change, ChunkKey, Episode, EpisodeState, ItemKind, Message, MessageKey, NewChunk, NewMessage,
    RecentFilter, Recorded, Scope, SessionKey, UserNumber,
};
use crate::{Error, Result};

pub(super) const STATES: &[(&str, EpisodeState)] =
    &[("raw", EpisodeState::Raw), ("compressed", EpisodeState::Compressed)];

impl Memory {
    /// Records messages in one transaction, for the user of the scope; those known already are left out.
    pub fn record(
        &mut self,
        scope: Scope,
        messages: &[NewMessage<'_>],
        change: Change<'_>,
    ) -> Result<Recorded> {
        if messages.is_empty() {
            return Ok(Recorded::default());
        }
        self.add(scope, |transaction| {
            Recorder::new(transaction, scope, (messages, change))?.record(messages)
        })
    }

    /// The latest episodes, newest first.
    pub fn recent_episodes(&self, scope: Scope, filter: &RecentFilter<'_>) -> Result<Vec<Episode>> {
        let read = || -> backend::Result<Vec<Episode>> {
            // What has no label was never said there.
            let (Some(project), Some(channel)) =
                (self.label(scope, filter.project)?, self.label(scope, filter.channel)?)
            else {
                return Ok(Vec::new());
            };
            let sql = match (project, channel) {
                (Some(_), _) => RECENT_OF_PROJECT,
                (None, Some(_)) => RECENT_OF_CHANNEL,
                (None, None) => RECENT,
            };
            let user = scope.user().get();
            let before = filter.before.map_or(i64::MAX, jiff::Timestamp::as_millisecond);
            let asked =
                params![user, project, channel, filter.except_session, filter.limit, before];
            self.asking(scope).prepare_cached(sql)?.query_map(asked, episode_of)?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The episodes with these numbers that the scope may read, in the order asked for.
    pub fn episodes(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Episode>> {
        let mut found = self.asking(scope).episodes(ids).map_err(|source| self.failed(source))?;
        found.retain(|episode| scope.may_read(episode.user));
        Ok(found)
    }

    /// The messages of an episode in their order.
    pub fn messages_of(&self, scope: Scope, episode: &Episode) -> Result<Vec<Message>> {
        let places = [episode.first_place, episode.last_place];
        let [first, last] = places.map(|place| MessageKey::new(episode.session, place));
        let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
        if !scope.may_read(episode.user) {
            return Ok(Vec::new());
        }
        if let Some(known) = self.asking(scope).messages_at_hand(episode.id) {
            return Ok(known);
        }
        self.asking(scope)
            .prepare_cached(MESSAGES)
            .and_then(|mut all| {
                all.query_map([first.get(), last.get()], message_of)?
                    .collect::<backend::Result<Vec<_>>>()
            })
            .map_err(|source| self.failed(source))
            .map(|found| {
                found.into_iter().filter(|message| message.episode == episode.id).collect()
            })
    }

    /// The episode with this number that the scope may read, also one that was retired.
    pub fn any_episode(&self, scope: Scope, id: i64) -> Result<Option<Episode>> {
        let read =
            || self.asking(scope).prepare_cached(ANY)?.query_row([id], episode_of).optional();
        let found = read().map_err(|source| self.failed(source))?;
        Ok(found.filter(|episode| scope.may_read(episode.user)))
    }

    /// The messages with these numbers that the scope may read, in the order of the numbers.
    pub fn messages(&self, scope: Scope, keys: &[MessageKey]) -> Result<Vec<Message>> {
        let allowed = message_ranges(scope);
        let keys = keys.iter().map(|key| key.get());
        let keys: Vec<i64> =
            keys.filter(|key| allowed.iter().any(|range| range.contains(key))).collect();
        self.asking(scope).messages(&keys).map_err(|source| self.failed(source))
    }

    /// Takes an episode out of every answer; it can be brought back.
    pub fn retire_episode(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.write(scope, |transaction| {
            let episode = writable(transaction, scope, id)?;
            retire(transaction, &episode, change).map(drop)
        })
    }

    /// Brings a retired episode back; the chunks are those of its messages, in their order.
    pub fn restore_episode(
        &mut self,
        scope: Scope,
        id: i64,
        chunks: &[(ChunkKey, NewChunk)],
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| {
            let episode = writable(transaction, scope, id)?;
            if transaction.execute(RESTORE, [id])? == 0 {
                return Ok(());
            }
            let mut indexer = Indexer::new(transaction)?;
            for (key, chunk) in chunks {
                if key.user() == episode.user {
                    indexer.add(*key, chunk, episode.started_at)?;
                }
            }
            indexer.finish()?;
            graves::lift_session(transaction, episode.user, &episode.session_id)?;
            audit::append(
                transaction,
                change,
                "episode.restore",
                &format!("episode:{id}"),
                None,
                None,
            )
        })
    }
}

/// Takes an episode out of every answer; false if it was out already. A summary that told of it while
/// its messages are still there goes too, and tells of nothing any more.
pub(super) fn retire(
    transaction: &Connection,
    episode: &Episode,
    change: Change<'_>,
) -> Outcome<bool> {
    let at = change.at.as_millisecond();
    if transaction.prepare_cached(RETIRE)?.execute(params![episode.id, at])? == 0 {
        return Ok(false);
    }
    let mut texts = message_keys(transaction, episode)?;
    texts.push(ChunkKey::of_item(episode.user, ItemKind::Summary, episode.id, 0).text());
    index::remove_texts(transaction, &texts)?;
    let item = format!("episode:{}", episode.id);
    audit::append(transaction, change, "episode.retire", &item, None, None)?;
    let told_by: Option<i64> =
        transaction.prepare_cached(TOLD_BY)?.query_row([episode.id], |row| row.get(0))?;
    transaction.prepare_cached(UNTELL)?.execute([told_by.unwrap_or(episode.id)])?;
    let summary = match told_by {
        Some(summary) => {
            transaction.prepare_cached(ANY)?.query_row([summary], episode_of).optional()?
        }
        None => None,
    };
    if let Some(summary) = summary {
        retire(transaction, &summary, change)?;
    }
    Ok(true)
}

/// The numbers of an episode's messages.
pub(super) fn message_keys(
    connection: &Connection,
    episode: &Episode,
) -> backend::Result<Vec<i64>> {
    let places = [episode.first_place, episode.last_place];
    let [first, last] = places.map(|place| MessageKey::new(episode.session, place));
    let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
    connection
        .prepare_cached(MESSAGE_KEYS)?
        .query_map(params![first.get(), last.get(), episode.id], |row| row.get(0))?
        .collect()
}

/// The episode, if the scope may change it.
pub(super) fn writable(transaction: &Connection, scope: Scope, id: i64) -> Outcome<Episode> {
    let found = transaction.prepare_cached(ANY)?.query_row([id], episode_of).optional()?;
    found
        .filter(|episode| scope.may_read(episode.user))
        .ok_or_else(|| Refusal::Rule(Error::NoSuchItem { item: format!("episode:{id}") }))
}

pub(super) fn episode_of(row: &Row<'_>) -> backend::Result<Episode> {
    Ok(Episode {
        id: row.get(0)?,
        uid: uid(row, 1)?,
        user: UserNumber::new(row.get(2)?),
        session: SessionKey::from_row(row.get(3)?),
        session_id: row.get(4)?,
        first_place: row.get(5)?,
        last_place: row.get(6)?,
        channel: row.get(7)?,
        agent: row.get(8)?,
        project: row.get(9)?,
        task_type: row.get(10)?,
        state: choice(row, 11, STATES)?,
        started_at: time(row, 12)?,
        ended_at: time(row, 13)?,
        tokens: row.get(14)?,
        body: row.get(15)?,
        uses: row.get(16)?,
        imported: row.get(17)?,
    })
}

pub(super) fn message_of(row: &Row<'_>) -> backend::Result<Message> {
    Ok(Message {
        key: MessageKey::from_row(row.get(0)?),
        episode: row.get(1)?,
        at: time(row, 2)?,
        role: row.get(3)?,
        speaker: row.get(4)?,
        text: row.get(5)?,
        caption: row.get(6)?,
    })
}

impl Memory {
    /// The number of a label, if one is asked for; none where there is no such label.
    fn label(&self, scope: Scope, text: Option<&str>) -> backend::Result<Option<Option<i64>>> {
        let Some(text) = text else { return Ok(Some(None)) };
        let mut label = self.asking(scope).prepare_cached(LABEL)?;
        Ok(label.query_row([text], |row| row.get(0)).optional()?.map(Some))
    }
}

macro_rules! episode_where {
    ($rest:literal) => {
        concat!(
            "select e.id, e.uid, e.user_id, e.session, s.session_id, e.first_place, e.last_place, ",
            "(select text from label where id = e.channel), (select text from label where id = e.agent), ",
            "(select text from label where id = e.project), e.task_type, e.state, e.started_at, ",
            "e.ended_at, e.tokens, e.body, e.uses, e.imported ",
            "from episode e join session s on s.id = e.session where ",
            $rest
        )
    };
}

pub(super) use episode_where;

pub(super) const ANY: &str = episode_where!("e.id = ?1");
pub(super) const SOME: &str =
    episode_where!("e.id = any (?1) and e.retired_at is null and e.quarantined_at is null");
pub(super) const ONE: &str =
    episode_where!("e.id = ?1 and e.retired_at is null and e.quarantined_at is null");
// One for each index: with `?2 is null or` in one statement, every episode would be looked at.
const RECENT: &str = episode_where!(
    "e.user_id = ?1 and cast(?2 as bigint) is null and cast(?3 as bigint) is null
      and e.started_at < ?6 and e.retired_at is null and e.quarantined_at is null
      and (cast(?4 as text) is null or s.session_id <> ?4)
    order by e.started_at desc, e.id desc limit ?5"
);
const RECENT_OF_PROJECT: &str = episode_where!(
    "e.user_id = ?1 and e.project = ?2 and (cast(?3 as bigint) is null or e.channel = ?3)
      and e.started_at < ?6 and e.retired_at is null and e.quarantined_at is null
      and (cast(?4 as text) is null or s.session_id <> ?4)
    order by e.started_at desc, e.id desc limit ?5"
);
const RECENT_OF_CHANNEL: &str = episode_where!(
    "e.user_id = ?1 and cast(?2 as bigint) is null and e.channel = ?3
      and e.started_at < ?6 and e.retired_at is null and e.quarantined_at is null
      and (cast(?4 as text) is null or s.session_id <> ?4)
    order by e.started_at desc, e.id desc limit ?5"
);
pub(super) const MESSAGES: &str = "
    select id, episode, at, role, speaker, text, caption from message
    where id between ?1 and ?2 order by id";
// By the bounds that the number of its session and its places give.
const MESSAGE_KEYS: &str =
    "select id from message where id between ?1 and ?2 and episode = ?3 order by id";
const RETIRE: &str = "update episode set retired_at = ?2 where id = ?1 and retired_at is null";
const TOLD_BY: &str = "select compressed_into from episode where id = ?1";
const UNTELL: &str = "update episode set compressed_into = null where compressed_into = ?1";
const RESTORE: &str =
    "update episode set retired_at = null where id = ?1 and retired_at is not null";
