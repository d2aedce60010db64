//! Episodes and their messages: recorded once, read by scope.

use std::collections::{HashMap, HashSet};

use rusqlite::{OptionalExtension, Row, Transaction, params};
use sha2::{Digest, Sha256};

use super::candidates::message_ranges;
use super::index::{self, Indexer};
use super::rows::{choice, time, uid};
use super::{Refusal, SqliteMemory, Step, audit, new_uid};
use crate::memory::{
    marks,
    Change, ChunkKey, Episode, EpisodeState, Episodes, ItemKind, Message, MessageKey, NewChunk,
    NewMessage, RecentFilter, Recorded, Scope, SessionKey, UserNumber,
};
use crate::{Error, Result};

pub(super) const STATES: &[(&str, EpisodeState)] =
    &[("raw", EpisodeState::Raw), ("compressed", EpisodeState::Compressed)];

impl Episodes for SqliteMemory {
    fn record(
        &mut self,
        scope: Scope,
        messages: &[NewMessage<'_>],
        change: Change<'_>,
    ) -> Result<Recorded> {
        if messages.is_empty() {
            return Ok(Recorded::default());
        }
        self.write(|transaction| Recorder::new(transaction, scope, change)?.record(messages))
    }

    fn recent_episodes(&self, scope: Scope, filter: &RecentFilter<'_>) -> Result<Vec<Episode>> {
        self.connection
            .prepare_cached(RECENT)
            .and_then(|mut recent| {
                let asked = params![
                    scope.user().get(),
                    filter.project,
                    filter.channel,
                    filter.except_session,
                    filter.limit
                ];
                recent.query_map(asked, episode_of)?.collect()
            })
            .map_err(|source| self.failed(source))
    }

    fn episodes(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Episode>> {
        let mut found = Vec::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut one = self.connection.prepare_cached(ONE)?;
            for id in ids {
                let episode = one.query_row([id], episode_of).optional()?;
                found.extend(episode.filter(|episode| scope.may_read(episode.user)));
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))?;
        Ok(found)
    }

    fn messages_of(&self, scope: Scope, episode: &Episode) -> Result<Vec<Message>> {
        let places = [episode.first_place, episode.last_place];
        let [first, last] = places.map(|place| MessageKey::new(episode.session, place));
        let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
        if !scope.may_read(episode.user) {
            return Ok(Vec::new());
        }
        self.connection
            .prepare_cached(MESSAGES)
            .and_then(|mut all| {
                all.query_map([first.get(), last.get()], message_of)?.collect::<rusqlite::Result<Vec<_>>>()
            })
            .map_err(|source| self.failed(source))
            .map(|found| found.into_iter().filter(|message| message.episode == episode.id).collect())
    }

    fn messages(&self, scope: Scope, keys: &[MessageKey]) -> Result<Vec<Message>> {
        let allowed = message_ranges(scope);
        let mut found = Vec::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut some = self.connection.prepare_cached(MESSAGES)?;
            let readable = |key: &&MessageKey| allowed.iter().any(|r| r.contains(&key.get()));
            for key in keys.iter().filter(readable) {
                found.extend(some.query_row([key.get(), key.get()], message_of).optional()?);
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))?;
        Ok(found)
    }

    fn retire_episode(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.write(|transaction| {
            let episode = writable(transaction, scope, id)?;
            let at = change.at.as_millisecond();
            if transaction.execute(RETIRE, params![id, at])? == 0 {
                return Ok(());
            }
            for message in message_keys(transaction, &episode)? {
                index::remove_text(transaction, message)?;
            }
            let summary = ChunkKey::of_item(episode.user, ItemKind::Summary, id, 0);
            index::remove_text(transaction, summary.text())?;
            audit::append(transaction, change, "episode.retire", &format!("episode:{id}"), None, None)
        })
    }

    fn restore_episode(
        &mut self,
        scope: Scope,
        id: i64,
        chunks: Vec<(ChunkKey, NewChunk)>,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(|transaction| {
            let episode = writable(transaction, scope, id)?;
            if transaction.execute(RESTORE, [id])? == 0 {
                return Ok(());
            }
            let mut indexer = Indexer::new(transaction)?;
            for (key, chunk) in &chunks {
                if key.user() == episode.user {
                    indexer.add(*key, chunk, episode.started_at)?;
                }
            }
            indexer.finish()?;
            audit::append(transaction, change, "episode.restore", &format!("episode:{id}"), None, None)
        })
    }
}

/// The numbers of an episode's messages.
fn message_keys(transaction: &Transaction<'_>, episode: &Episode) -> Step<Vec<i64>> {
    let places = [episode.first_place, episode.last_place];
    let [first, last] = places.map(|place| MessageKey::new(episode.session, place));
    let (Some(first), Some(last)) = (first, last) else { return Ok(Vec::new()) };
    let keys = transaction
        .prepare_cached(MESSAGE_KEYS)?
        .query_map(params![first.get(), last.get(), episode.id], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(keys)
}

/// The episode, if the scope may change it.
fn writable(transaction: &Transaction<'_>, scope: Scope, id: i64) -> Step<Episode> {
    let found = transaction.prepare_cached(ANY)?.query_row([id], episode_of).optional()?;
    found
        .filter(|episode| scope.may_read(episode.user))
        .ok_or_else(|| Refusal::Rule(Error::NoSuchItem { item: format!("episode:{id}") }))
}

/// Records messages inside one transaction.
struct Recorder<'t> {
    transaction: &'t Transaction<'t>,
    user: UserNumber,
    change: Change<'t>,
    indexer: Indexer<'t>,
    open: HashMap<String, OpenSession>,
    labels: HashMap<String, i64>,
    speakers: HashSet<String>,
    done: Recorded,
    digest: Sha256,
}

/// A session that messages are being added to.
struct OpenSession {
    key: SessionKey,
    part: i64,
    next_place: i64,
    last_at: i64,
    episode: Option<OpenEpisode>,
}

struct OpenEpisode {
    id: i64,
    last_place: i64,
    ended_at: i64,
    tokens: i64,
}

impl<'t> Recorder<'t> {
    fn new(
        transaction: &'t Transaction<'t>,
        scope: Scope,
        change: Change<'t>,
    ) -> Step<Recorder<'t>> {
        Ok(Recorder {
            transaction,
            user: scope.user(),
            change,
            indexer: Indexer::new(transaction)?,
            open: HashMap::new(),
            labels: HashMap::new(),
            speakers: HashSet::new(),
            done: Recorded::default(),
            digest: Sha256::new(),
        })
    }

    fn record(mut self, messages: &[NewMessage<'_>]) -> Step<Recorded> {
        for message in messages {
            self.add(message)?;
        }
        for session in self.open.into_values() {
            session.close(self.transaction)?;
        }
        self.indexer.finish()?;
        if self.done.added > 0 {
            let after: [u8; 32] = self.digest.finalize().into();
            let item = format!("{} messages", self.done.added);
            audit::append(
                self.transaction,
                self.change,
                "episode.record",
                &item,
                None,
                Some(&after),
            )?;
        }
        Ok(self.done)
    }

    fn add(&mut self, message: &NewMessage<'_>) -> Step<()> {
        let origin = origin_key(message.source, message.external_id);
        let known: bool = self
            .transaction
            .prepare_cached(KNOWN_ORIGIN)?
            .query_row([&origin[..]], |row| row.get(0))?;
        if known {
            self.done.known += 1;
            return Ok(());
        }
        let mut session = match self.open.remove(message.session_id) {
            Some(open) => open,
            None => self.open_session(message)?,
        };
        if session.next_place >= crate::memory::MOST_PLACES {
            session.close(self.transaction)?;
            session = self.new_session(message, session.part + 1)?;
        }
        let key = self.put(&mut session, message)?;
        self.transaction.prepare_cached(ADD_ORIGIN)?.execute(params![&origin[..], key.get()])?;
        self.digest.update(origin);
        for (part, chunk) in message.chunks.iter().enumerate() {
            self.indexer.add(ChunkKey::of_message(key, part), chunk, message.at)?;
        }
        self.open.insert(message.session_id.to_owned(), session);
        self.done.added += 1;
        Ok(())
    }

    /// Puts the message at the next place of its session; a user's message begins an episode.
    fn put(&mut self, session: &mut OpenSession, message: &NewMessage<'_>) -> Step<MessageKey> {
        let place = session.next_place;
        let key = MessageKey::new(session.key, place)
            .ok_or(Refusal::Rule(Error::Full { what: "the session" }))?;
        if message.role == "user" || session.episode.is_none() {
            if let Some(before) = session.episode.take() {
                before.close(self.transaction)?;
            }
            session.episode = Some(self.new_episode(session, message)?);
            self.done.episodes += 1;
        }
        let at = message.at.as_millisecond();
        let Some(episode) = session.episode.as_mut() else {
            return Err(Refusal::Rule(Error::Full { what: "the session" }));
        };
        self.transaction.prepare_cached(ADD_MESSAGE)?.execute(params![
            key.get(),
            episode.id,
            at,
            message.role,
            message.speaker,
            marks::marks(message.text),
            message.text,
            message.caption
        ])?;
        self.note_speaker(message)?;
        let Some(episode) = session.episode.as_mut() else { return Ok(key) };
        episode.last_place = place;
        episode.ended_at = episode.ended_at.max(at);
        episode.tokens += i64::from(message.tokens);
        session.next_place += 1;
        session.last_at = session.last_at.max(at);
        Ok(key)
    }

    /// Keeps the words of a speaker's name, unless it only repeats the role.
    fn note_speaker(&mut self, message: &NewMessage<'_>) -> Step<()> {
        let Some(name) = message.speaker.filter(|name| *name != message.role) else {
            return Ok(());
        };
        if !self.speakers.insert(name.to_owned()) {
            return Ok(());
        }
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for word in words {
            self.transaction.prepare_cached(ADD_SPEAKER)?.execute(params![
                self.user.get(),
                word.to_lowercase(),
                name
            ])?;
        }
        Ok(())
    }

    fn new_episode(
        &mut self,
        session: &OpenSession,
        message: &NewMessage<'_>,
    ) -> Step<OpenEpisode> {
        let uid = new_uid(self.change.at);
        let channel = self.label(message.channel)?;
        let agent = self.label(message.agent)?;
        let project = self.label(message.project)?;
        let at = message.at.as_millisecond();
        self.transaction.prepare_cached(ADD_EPISODE)?.execute(params![
            uid.as_bytes(),
            self.user.get(),
            session.key.get(),
            session.next_place,
            channel,
            agent,
            project,
            at,
            message.trust.number()
        ])?;
        let id = self.transaction.last_insert_rowid();
        Ok(OpenEpisode { id, last_place: session.next_place, ended_at: at, tokens: 0 })
    }

    fn open_session(&mut self, message: &NewMessage<'_>) -> Step<OpenSession> {
        let found = self
            .transaction
            .prepare_cached(LAST_PART)?
            .query_row(params![message.session_id, self.user.get()], |row| {
                Ok(OpenSession {
                    key: SessionKey::from_row(row.get(0)?),
                    part: row.get(1)?,
                    next_place: row.get(2)?,
                    last_at: row.get(3)?,
                    episode: None,
                })
            })
            .optional()?;
        let Some(mut session) = found else { return self.new_session(message, 0) };
        session.episode = self
            .transaction
            .prepare_cached(LAST_EPISODE)?
            .query_row([session.key.get()], |row| {
                Ok(OpenEpisode {
                    id: row.get(0)?,
                    last_place: row.get(1)?,
                    ended_at: row.get(2)?,
                    tokens: row.get(3)?,
                })
            })
            .optional()?;
        Ok(session)
    }

    fn new_session(&mut self, message: &NewMessage<'_>, part: i64) -> Step<OpenSession> {
        let all = SessionKey::all_of(self.user);
        let last: Option<i64> = self
            .transaction
            .prepare_cached(LAST_SESSION)?
            .query_row([all.start(), all.end()], |row| row.get(0))?;
        let number = last.map_or(0, |last| last - all.start() + 1);
        let key = SessionKey::new(self.user, number)
            .ok_or(Refusal::Rule(Error::Full { what: "the list of sessions" }))?;
        let channel = self.label(message.channel)?;
        let source = self.label(Some(message.source))?;
        let at = message.at.as_millisecond();
        self.transaction.prepare_cached(ADD_SESSION)?.execute(params![
            key.get(),
            self.user.get(),
            message.session_id,
            part,
            channel,
            source,
            at
        ])?;
        Ok(OpenSession { key, part, next_place: 0, last_at: at, episode: None })
    }

    /// The number of a text that many rows share.
    fn label(&mut self, text: Option<&str>) -> Step<Option<i64>> {
        let Some(text) = text else { return Ok(None) };
        if let Some(id) = self.labels.get(text) {
            return Ok(Some(*id));
        }
        self.transaction.prepare_cached(ADD_LABEL)?.execute([text])?;
        let id = self.transaction.prepare_cached(LABEL)?.query_row([text], |row| row.get(0))?;
        self.labels.insert(text.to_owned(), id);
        Ok(Some(id))
    }
}

impl OpenSession {
    fn close(&self, transaction: &Transaction<'_>) -> Step<()> {
        if let Some(episode) = &self.episode {
            episode.close(transaction)?;
        }
        transaction.prepare_cached(CLOSE_SESSION)?.execute(params![
            self.key.get(),
            self.next_place,
            self.last_at
        ])?;
        Ok(())
    }
}

impl OpenEpisode {
    fn close(&self, transaction: &Transaction<'_>) -> Step<()> {
        transaction.prepare_cached(CLOSE_EPISODE)?.execute(params![
            self.id,
            self.last_place,
            self.ended_at,
            self.tokens
        ])?;
        Ok(())
    }
}

/// What a recorded thing is known by: the first bytes of the hash of its source and id there.
pub(super) fn origin_key(source: &str, external_id: &str) -> [u8; 16] {
    let digest: [u8; 32] =
        Sha256::new().chain_update(source).chain_update([0]).chain_update(external_id).finalize().into();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

fn episode_of(row: &Row<'_>) -> rusqlite::Result<Episode> {
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
    })
}

fn message_of(row: &Row<'_>) -> rusqlite::Result<Message> {
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

macro_rules! episode_where {
    ($rest:literal) => {
        concat!(
            "select e.id, e.uid, e.user_id, e.session, s.session_id, e.first_place, e.last_place, ",
            "(select text from label where id = e.channel), (select text from label where id = e.agent), ",
            "(select text from label where id = e.project), e.task_type, e.state, e.started_at, ",
            "e.ended_at, e.tokens, e.body, e.uses ",
            "from episode e join session s on s.id = e.session where ",
            $rest
        )
    };
}

const ANY: &str = episode_where!("e.id = ?1");
const ONE: &str =
    episode_where!("e.id = ?1 and e.retired_at is null and e.quarantined_at is null");
const RECENT: &str = episode_where!(
    "e.user_id = ?1 and e.retired_at is null and e.quarantined_at is null
      and (?2 is null or e.project = (select id from label where text = ?2))
      and (?3 is null or e.channel = (select id from label where text = ?3))
      and (?4 is null or s.session_id <> ?4)
    order by e.started_at desc, e.id desc limit ?5"
);
const MESSAGES: &str = "
    select id, episode, at, role, speaker, text, caption from message
    where id between ?1 and ?2 order by id";
const MESSAGE_KEYS: &str =
    "select id from message where id between ?1 and ?2 and episode = ?3 order by id";
const RETIRE: &str = "update episode set retired_at = ?2 where id = ?1 and retired_at is null";
const RESTORE: &str = "update episode set retired_at = null where id = ?1 and retired_at is not null";
const KNOWN_ORIGIN: &str = "select exists (select 1 from origin where key = ?1)";
const ADD_ORIGIN: &str = "insert into origin (key, kind, item) values (?1, 0, ?2)";
const ADD_MESSAGE: &str = "
    insert into message (id, episode, at, role, speaker, marks, text, caption)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const ADD_EPISODE: &str = "
    insert into episode (uid, user_id, session, first_place, last_place, channel, agent, project,
      state, started_at, ended_at, tokens, trust)
    values (?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, 'raw', ?8, ?8, 0, ?9)";
const ADD_SPEAKER: &str =
    "insert or ignore into speaker (user_id, word, name) values (?1, ?2, ?3)";
const LAST_PART: &str = "
    select id, part, messages, last_at from session where session_id = ?1 and user_id = ?2
    order by part desc limit 1";
const LAST_EPISODE: &str = "
    select id, last_place, ended_at, tokens from episode
    where session = ?1 and retired_at is null and state = 'raw'
    order by first_place desc limit 1";
const LAST_SESSION: &str = "select max(id) from session where id between ?1 and ?2";
const ADD_SESSION: &str = "
    insert into session (id, user_id, session_id, part, channel, source, started_at, last_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)";
const CLOSE_SESSION: &str = "update session set messages = ?2, last_at = ?3 where id = ?1";
const CLOSE_EPISODE: &str =
    "update episode set last_place = ?2, ended_at = ?3, tokens = ?4 where id = ?1";
const ADD_LABEL: &str = "insert or ignore into label (text) values (?1)";
const LABEL: &str = "select id from label where text = ?1";
