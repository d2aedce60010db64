//! Records messages: which session, which episode, which place; each message once.

mod foreseen;
mod known;

use std::collections::{HashMap, HashSet};

use rusqlite::params;
use sha2::{Digest, Sha256};

use self::known::Lookup;
use super::backend::{self, Both, Foreseen, Recording};
use super::graves::{self, GraveKind};
use super::index::Indexer;
use super::{Outcome, Refusal, audit, new_uid, people};
use crate::Error;
use crate::memory::backend::{Connection, OptionalExtension};
use crate::memory::{
    Change, ChunkKey, MessageKey, NewMessage, Recorded, Scope, SessionKey, UserNumber, marks,
};

/// Records messages inside one transaction.
pub(super) struct Recorder<'t> {
    transaction: &'t Connection,
    user: UserNumber,
    /// Theirs, and those of users merged into them: what was recorded as theirs is known by those.
    numbers: Vec<UserNumber>,
    change: Change<'t>,
    indexer: Indexer<'t>,
    open: HashMap<String, OpenSession>,
    labels: HashMap<String, i64>,
    speakers: HashSet<String>,
    recording: Box<dyn Recording + 't>,
    /// Whether messages of these sessions are to be left out.
    buried_sessions: HashMap<String, Option<i64>>,
    has_buried_messages: bool,
    done: Recorded,
    digest: Sha256,
}

/// One message as it is kept.
pub(super) struct Row<'a> {
    pub(super) id: i64,
    pub(super) episode: i64,
    pub(super) at: i64,
    pub(super) role: &'a str,
    pub(super) speaker: Option<&'a str>,
    pub(super) marks: i64,
    pub(super) text: &'a str,
    pub(super) caption: Option<&'a str>,
}

/// A session that messages are being added to.
struct OpenSession {
    key: SessionKey,
    part: i64,
    next_place: i64,
    started_at: i64,
    last_at: i64,
    episode: Option<OpenEpisode>,
}

struct OpenEpisode {
    id: i64,
    last_place: i64,
    ended_at: i64,
    tokens: i64,
    imported: bool,
    has_grown: bool,
}

impl<'t> Recorder<'t> {
    /// Begins to record messages for the user of the scope.
    pub(super) fn new(
        transaction: &'t Connection,
        scope: Scope,
        (messages, change): (&[NewMessage<'_>], Change<'t>),
    ) -> Outcome<Recorder<'t>> {
        let user = scope.user();
        let mut recording = transaction.recording();
        let mut look_up = |numbers: &[UserNumber], next: &dyn Fn() -> Vec<Foreseen>| {
            let keys =
                messages.iter().flat_map(|one| known::possible_keys(transaction, numbers, one));
            recording.look_up(&keys.collect::<Vec<_>>(), next)
        };
        look_up(&[user], &|| foreseen::of_messages(transaction, user, messages))?;
        let numbers = people::numbers_of(transaction, user)?;
        if numbers.len() > 1 {
            look_up(&numbers, &Vec::new)?;
        }
        Ok(Recorder {
            transaction,
            user,
            numbers,
            change,
            indexer: Indexer::new(transaction)?,
            open: HashMap::new(),
            labels: HashMap::new(),
            speakers: HashSet::new(),
            recording,
            buried_sessions: HashMap::new(),
            has_buried_messages: graves::has_any(transaction, user, GraveKind::Message)?,
            done: Recorded::default(),
            digest: Sha256::new(),
        })
    }

    /// Records the messages that are not known yet.
    pub(super) fn record(mut self, messages: &[NewMessage<'_>]) -> Outcome<Recorded> {
        for message in messages {
            self.add(message)?;
        }
        for session in std::mem::take(&mut self.open).into_values() {
            self.close_session(&session)?;
        }
        self.recording.finish()?;
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

    fn add(&mut self, message: &NewMessage<'_>) -> Outcome<()> {
        let text = self.transaction.text_hash(message.text);
        let origin = match self.look_up(message, text)? {
            Lookup::Buried => {
                self.done.buried += 1;
                return Ok(());
            }
            Lookup::Known => {
                self.done.known += 1;
                return Ok(());
            }
            Lookup::New(key) => key,
        };
        let mut session = match self.open.remove(message.session_id) {
            Some(open) => open,
            None => self.open_session(message)?,
        };
        if session.next_place >= crate::memory::MOST_PLACES {
            self.close_session(&session)?;
            session = self.new_session(message, session.part + 1)?;
        }
        let key = self.put(&mut session, message, origin, text)?;
        self.digest.update(origin);
        self.keep_steps(key, message)?;
        for (part, chunk) in message.chunks.iter().enumerate() {
            self.indexer.add(ChunkKey::of_message(key, part), chunk, message.at)?;
        }
        self.open.insert(message.session_id.to_owned(), session);
        self.done.added += 1;
        Ok(())
    }

    fn keep_steps(&self, key: MessageKey, message: &NewMessage<'_>) -> Outcome<()> {
        for (number, step) in message.steps.iter().enumerate() {
            let row = params![key.get(), number, step.tool, step.arguments, step.failed];
            self.transaction.later(ADD_STEP, row)?;
        }
        Ok(())
    }

    /// Puts the message at the next place of its session; a user's message begins an episode.
    fn put(
        &mut self,
        session: &mut OpenSession,
        message: &NewMessage<'_>,
        origin: graves::Key,
        text: graves::Key,
    ) -> Outcome<MessageKey> {
        let place = session.next_place;
        let key = MessageKey::new(session.key, place)
            .ok_or(Refusal::Rule(Error::Full { what: "the session" }))?;
        if message.role == "user" || session.episode.is_none() {
            if let Some(before) = session.episode.take() {
                self.close_episode(&before)?;
            }
            session.episode = Some(self.new_episode(session, message)?);
            self.done.episodes += 1;
        }
        let at = message.at.as_millisecond();
        let Some(episode) = session.episode.as_mut() else {
            return Err(Refusal::Rule(Error::Full { what: "the session" }));
        };
        let row = Row {
            id: key.get(),
            episode: episode.id,
            at,
            role: message.role,
            speaker: message.speaker,
            marks: marks::marks(message.text),
            text: message.text,
            caption: message.caption,
        };
        self.recording.add(&row, origin, text)?;
        self.note_speaker(message)?;
        let Some(episode) = session.episode.as_mut() else { return Ok(key) };
        episode.last_place = place;
        episode.ended_at = episode.ended_at.max(at);
        episode.tokens += i64::from(message.tokens);
        episode.imported &= message.imported;
        episode.has_grown = true;
        session.next_place += 1;
        session.started_at = session.started_at.min(at);
        session.last_at = session.last_at.max(at);
        Ok(key)
    }

    fn close_session(&mut self, session: &OpenSession) -> Outcome<()> {
        if let Some(episode) = &session.episode {
            self.close_episode(episode)?;
        }
        let row = [session.key.get(), session.next_place, session.last_at, session.started_at];
        Ok(self.recording.close_session(row)?)
    }

    fn close_episode(&mut self, episode: &OpenEpisode) -> Outcome<()> {
        if !episode.has_grown {
            return Ok(());
        }
        let OpenEpisode { id, last_place, ended_at, tokens, imported, .. } = *episode;
        let row = [id, last_place, ended_at, tokens, i64::from(imported)];
        Ok(self.recording.close_episode(row)?)
    }

    /// Keeps the words of a speaker's name, unless it only repeats the role.
    fn note_speaker(&mut self, message: &NewMessage<'_>) -> Outcome<()> {
        let Some(name) = message.speaker.filter(|name| *name != message.role) else {
            return Ok(());
        };
        if !self.speakers.insert(name.to_owned()) {
            return Ok(());
        }
        let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        for word in words {
            let row = params![self.user.get(), word.to_lowercase(), name];
            self.transaction.later(ADD_SPEAKER, row)?;
        }
        Ok(())
    }

    fn new_episode(
        &mut self,
        session: &OpenSession,
        message: &NewMessage<'_>,
    ) -> Outcome<OpenEpisode> {
        let uid = new_uid(self.change.at);
        let channel = self.label(message.channel)?;
        let agent = self.label(message.agent)?;
        let project = self.label(message.project)?;
        let at = message.at.as_millisecond();
        let number = self.transaction.number_for("episode")?;
        let row = params![
            uid.as_bytes(),
            self.user.get(),
            session.key.get(),
            session.next_place,
            channel,
            agent,
            project,
            at,
            message.trust.number(),
            number
        ];
        let id = match number {
            Some(number) => self.transaction.later(ADD_EPISODE, row).map(|()| number)?,
            None => self.transaction.insert(ADD_EPISODE, row)?,
        };
        Ok(OpenEpisode {
            id,
            last_place: session.next_place,
            ended_at: at,
            tokens: 0,
            imported: message.imported,
            has_grown: false,
        })
    }

    fn open_session(&mut self, message: &NewMessage<'_>) -> Outcome<OpenSession> {
        let mut found = self.last_part(message)?;
        if found.is_none() && self.transaction.hold_sessions(self.user)? {
            // Somebody else may have begun it just now.
            let next =
                || foreseen::of_session(self.transaction, self.user, message.session_id).into();
            self.recording.look_up(&[], &next)?;
            found = self.last_part(message)?;
        }
        match found {
            Some(session) => Ok(session),
            None => self.new_session(message, 0),
        }
    }

    /// The part of a session that goes on, with the episode that it ends with.
    fn last_part(&self, message: &NewMessage<'_>) -> Outcome<Option<OpenSession>> {
        let mut statement = self.transaction.prepare_cached(LAST_PART)?;
        let found = statement.query_row(params![message.session_id, self.user.get()], |row| {
            let episode = match row.get(5)? {
                None => None,
                Some(id) => Some(OpenEpisode {
                    id,
                    last_place: row.get(6)?,
                    ended_at: row.get(7)?,
                    tokens: row.get(8)?,
                    imported: row.get(9)?,
                    has_grown: false,
                }),
            };
            Ok(OpenSession {
                key: SessionKey::from_row(row.get(0)?),
                part: row.get(1)?,
                next_place: row.get(2)?,
                last_at: row.get(3)?,
                started_at: row.get(4)?,
                episode,
            })
        });
        Ok(found.optional()?)
    }

    fn new_session(&mut self, message: &NewMessage<'_>, part: i64) -> Outcome<OpenSession> {
        self.transaction.hold_sessions(self.user)?;
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
        Ok(OpenSession { key, part, next_place: 0, started_at: at, last_at: at, episode: None })
    }

    /// The number of a text that many rows share.
    fn label(&mut self, text: Option<&str>) -> Outcome<Option<i64>> {
        let Some(text) = text else { return Ok(None) };
        if let Some(id) = self.labels.get(text) {
            return Ok(Some(*id));
        }
        let find = || -> backend::Result<Option<i64>> {
            let mut label = self.transaction.prepare_cached(LABEL)?;
            label.query_row([text], |row| row.get(0)).optional()
        };
        let id = match find()? {
            Some(id) => Some(id),
            None => {
                self.transaction.prepare_cached(ADD_LABEL)?.execute([text])?;
                find()?
            }
        };
        let Some(id) = id else { return Ok(None) };
        self.labels.insert(text.to_owned(), id);
        Ok(Some(id))
    }
}

const ADD_EPISODE: &str = "
    insert into episode (id, uid, user_id, session, first_place, last_place, channel, agent, project,
      state, started_at, ended_at, tokens, trust)
    values (?10, ?1, ?2, ?3, ?4, ?4, ?5, ?6, ?7, 'raw', ?8, ?8, 0, ?9) returning id";
const ADD_STEP: &str = "
    insert into step (message, number, tool, arguments, failed) values (?1, ?2, ?3, ?4, ?5)";
const ADD_SPEAKER: &str =
    "insert into speaker (user_id, word, name) values (?1, ?2, ?3) on conflict do nothing";
// On a server others may go on with the same session: they wait for its row. A file has one who writes.
const HOLD: Both = Both {
    file: "select 1 from session where session_id = ?1 and user_id = ?2",
    server: "select 1 from session where session_id = ?1 and user_id = ?2 for update",
};
// Only the episode that ends where the session ends can go on: a later one may have been told by a summary since, or
// taken back.
const LAST_PART: &str = "
    select s.id, s.part, s.messages, s.last_at, s.started_at,
      e.id, e.last_place, e.ended_at, e.tokens, e.imported
    from (
      select id, part, messages, last_at, started_at from session where session_id = ?1 and user_id = ?2
      order by part desc limit 1) s
    left join episode e on e.session = s.id and e.last_place = s.messages - 1 and e.retired_at is null
      and e.state = 'raw' and e.compressed_into is null
    order by e.first_place desc limit 1";
const LAST_SESSION: &str = "select max(id) from session where id between ?1 and ?2";
const ADD_SESSION: &str = "
    insert into session (id, user_id, session_id, part, channel, source, started_at, last_at)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)";
const ADD_LABEL: &str = "insert into label (text) values (?1) on conflict do nothing";
pub(super) const LABEL: &str = "select id from label where text = ?1";
