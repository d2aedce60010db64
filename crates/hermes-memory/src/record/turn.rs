//! A finished turn is recorded: in the transcript first, then in the memory.

use std::path::Path;

use hermes_home::redaction::Policy;
use hermes_store::memory::{Change, Chat, Memory, Recorded, Scope, UserNumber};
use hermes_store::sessions::{
    AppendedTurn, Content, NewMessage, NewSession, Owner, SessionId, SessionStore, kept_name,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::ready::{self, AllReady, Conversation, Named, Ready, Spoken};
use super::{line, spool, transcript, whose};
use crate::chunk::Vectors;
use crate::identity::{self, Who};
use crate::{Error, Result};

/// What messages are called that come out of state.db, whoever writes them down.
pub const STATE_DB: &str = "state.db";

/// What our own chat is called where it cannot write to state.db.
pub const OUR_OWN: &str = "hermes";

/// A finished turn: what was asked, what was done, what was answered. Its schema says what [`Turn::from_json`] reads.
#[derive(Debug, Clone, PartialEq, JsonSchema)]
pub struct Turn {
    /// What was said, in order.
    #[schemars(with = "Option<Vec<TurnMessage>>")]
    pub messages: Vec<TurnMessage>,
    /// Which conversation; none begins one.
    pub session_id: Option<String>,
    /// Where: cli, telegram, …
    #[schemars(with = "Option<String>")]
    pub channel: String,
    /// Who, as the channel knows them.
    pub identity: Option<Identity>,
    /// Whose memory, by name.
    pub user: Option<String>,
    /// The agent that answered.
    pub agent: Option<String>,
    /// The folder or repository it was about.
    pub project: Option<String>,
    /// The program that reports it and keeps its own transcript.
    #[schemars(with = "Option<String>")]
    pub from: Caller,
    /// Whether the session is over with it.
    #[schemars(with = "Option<bool>")]
    pub ended: bool,
}

/// Somebody as a channel knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Their id there.
    pub native_id: String,
    /// Whether they spoke alone with the agent or in a group.
    pub chat: Chat,
    /// What they are called there.
    pub name: Option<String>,
}

/// One message of a turn.
#[derive(Debug, Clone, Default, PartialEq, JsonSchema)]
#[schemars(rename = "MessageBody")]
pub struct TurnMessage {
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// What was said.
    pub text: String,
    /// The tool whose answer this is.
    pub tool_name: Option<String>,
    /// The tools called, as JSON; in a tool's answer the call it answers, where that is recorded apart.
    pub tool_calls: Option<Value>,
    /// The call this answers.
    pub tool_call_id: Option<String>,
    /// When; none: now.
    #[schemars(rename = "timestamp", with = "Option<Value>")]
    pub at: Option<Timestamp>,
    /// What makes it unique for the one who reports it; the same one again adds nothing.
    pub external_id: Option<String>,
    /// Whether the tool failed, where that is known.
    pub failed: Option<bool>,
}

/// Who reports a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// This program: it writes the transcript too, where the database is ours.
    OurOwn,
    /// Our own conversation: it writes the transcript also into a database that Hermes Agent made.
    OurChat,
    /// Another program of this name, which keeps its own transcript.
    Other(String),
}

/// How turns are recorded.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// The zone of users who named none.
    pub zone: &'a TimeZone,
    /// The time of messages that have none, and of the change.
    pub now: Timestamp,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// Three random bytes, for the id of a new session.
    pub random: [u8; 3],
    /// What is done with secrets in what is recorded in the memory.
    pub secrets: Policy,
    /// The file that says which state.db the transcript is, where the database cannot say so itself.
    pub transcript_note: &'a Path,
}

/// Where a turn is recorded.
pub struct Places<'a> {
    /// The transcript, if there is one.
    pub sessions: Option<&'a mut SessionStore>,
    /// The memory.
    pub store: &'a mut Memory,
}

/// What recording a turn did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedTurn {
    /// The session.
    pub session_id: String,
    /// Whose memory it went to.
    pub user: UserNumber,
    /// The numbers of its messages in state.db, if they were written there.
    pub state_messages: Vec<i64>,
    /// What the memory did with it.
    #[serde(flatten)]
    pub recorded: Recorded,
    /// Whether its session is in state.db already, so that it is taken in from there.
    pub left_to_catch_up: bool,
    /// Messages that hold a secret and are not in the memory, because the settings say so.
    #[serde(skip_serializing_if = "is_zero")]
    pub refused: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What was done with a turn before the memory is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The session.
    pub session_id: String,
    /// The numbers of the messages in state.db; empty if they are not there.
    pub messages: Vec<i64>,
    /// What the messages are called by those numbers and by that state.db.
    pub names: Vec<String>,
    /// Whether another program has the session in state.db.
    pub is_theirs: bool,
}

/// Records a turn: durable in state.db first where that is ours to write, then in the memory.
pub fn turn(places: Places<'_>, turn: &Turn, settings: &Settings<'_>) -> Result<RecordedTurn> {
    let kept = keep(places.sessions, turn, settings)?;
    remember(places.store, turn, &kept, settings)
}

/// Whether the turn must wait in a file until both halves are done, because the transcript alone would not
/// tell whose words they are: a session has one user there, and once somebody else spoke in it, nobody's words
/// are taken from it without a note.
pub fn needs_note(sessions: &SessionStore, turn: &Turn) -> Result<bool> {
    if !is_writable(sessions, &turn.from) || turn.messages.is_empty() {
        return Ok(false);
    }
    let id = turn.session_id.clone().map(SessionId::from);
    let known = id.map(|id| sessions.live_session(&id)).transpose();
    let known = match known {
        Err(hermes_store::Error::NotFound { .. }) => None,
        other => other?,
    };
    let Some(session) = known else { return Ok(false) };
    let ids = sessions.external_ids(&session.id, i64::MIN)?;
    let others_spoke = ids.iter().any(|(_, id)| spool::is_mark(id));
    Ok(others_spoke || turn.told() != whose::who(&session))
}

/// Whether the turn would be added to a conversation of the transcript in which somebody else talks. In a group several
/// do; everywhere else a session is one user's, however they come in. Without the memory nobody knows that two ways to
/// come in are one user's.
pub fn is_of_another(sessions: &SessionStore, store: Option<&Memory>, turn: &Turn) -> Result<bool> {
    let Some(id) = turn.session_id.clone().filter(|_| is_writable(sessions, &turn.from)) else {
        return Ok(false);
    };
    let session = match sessions.live_session(&SessionId::from(id)) {
        Err(hermes_store::Error::NotFound { .. }) => return Ok(false),
        other => other?,
    };
    let (told, speaker) = (turn.told(), whose::who(&session));
    let is_group = |who: Option<Who<'_>>| who.is_some_and(|who| who.chat == Chat::Group);
    let is_same_group =
        is_group(told) && is_group(speaker) && told.map(|who| who.channel) == Some(&session.source);
    if told == speaker || is_same_group {
        return Ok(false);
    }
    let Some(store) = store else { return Ok(true) };
    let users = (identity::find(store, told)?, identity::find(store, speaker)?);
    Ok(users.0.is_none() || users.0 != users.1)
}

fn is_writable(sessions: &SessionStore, from: &Caller) -> bool {
    let may_write = match from {
        Caller::OurOwn => sessions.layout().owner() != Owner::Foreign,
        Caller::OurChat => true,
        Caller::Other(_) => false,
    };
    may_write && sessions.layout().unwritable().is_none()
}

/// The first half: the transcript, if it is ours to write; durable on return. Messages with an id are
/// written once.
pub fn keep(
    sessions: Option<&mut SessionStore>,
    turn: &Turn,
    settings: &Settings<'_>,
) -> Result<Kept> {
    let id = match &turn.session_id {
        Some(id) => SessionId::from(id.clone()),
        None => SessionId::new(settings.now, settings.random),
    };
    let mut kept = Kept {
        session_id: id.to_string(),
        messages: Vec::new(),
        names: Vec::new(),
        is_theirs: false,
    };
    let Some(sessions) = sessions else { return Ok(kept) };
    if matches!(turn.from, Caller::Other(_)) {
        kept.is_theirs = turn.session_id.is_some() && sessions.live_session(&id).is_ok();
        return Ok(kept);
    }
    if !is_writable(sessions, &turn.from) || turn.messages.is_empty() {
        return Ok(kept);
    }
    let messages: Vec<NewMessage> =
        turn.messages.iter().map(|message| message.row(settings.now)).collect();
    // Asked before anything is written, so that nothing fails afterwards.
    let names = transcript::names(sessions, settings.transcript_note, settings.now)?;
    let details = AppendedTurn {
        ended_at: turn.ended.then_some(settings.now),
        sent_again_since: turn.is_bare().then(|| settings.now - SENT_AGAIN_WITHIN),
    };
    let session = turn.session(id, settings.now);
    kept.messages = sessions.append_turn(&session, &messages, details)?;
    kept.names = kept.messages.iter().map(|number| names.name(*number)).collect();
    Ok(kept)
}

/// The second half: the memory, under the ids by which catching up knows the same messages.
pub fn remember(
    store: &mut Memory,
    turn: &Turn,
    kept: &Kept,
    settings: &Settings<'_>,
) -> Result<RecordedTurn> {
    let change = Change { actor: super::ACTOR, at: settings.now };
    let scope = turn.scope(store, change)?;
    let mut done = RecordedTurn {
        session_id: kept.session_id.clone(),
        user: scope.user(),
        state_messages: kept.messages.clone(),
        recorded: Recorded::default(),
        left_to_catch_up: kept.is_theirs,
        refused: 0,
    };
    if kept.is_theirs {
        return Ok(done);
    }
    let zone = identity::zone_of(store, scope.user(), settings.zone)?;
    let conversation = Conversation {
        session_id: &kept.session_id,
        channel: Some(&turn.channel),
        agent: turn.agent.as_deref(),
        project: turn.project.as_deref(),
        source: turn.source(kept),
        zone: &zone,
        now: settings.now,
        vectors: settings.vectors,
    };
    let (messages, refused) = turn.ready(kept, scope, settings);
    done.refused = refused;
    if kept.messages.is_empty() && turn.is_bare() {
        let said: Vec<(&str, &str)> =
            messages.iter().map(|(one, _)| (one.role.as_str(), one.text.as_str())).collect();
        let since = settings.now - SENT_AGAIN_WITHIN;
        if store.session_ends_with(scope, &kept.session_id, &said, since)? {
            done.recorded.known = said.len();
            return Ok(done);
        }
    }
    done.recorded = ready::write(store, scope, &conversation, &messages, change)?;
    if turn.ended {
        store.end_session(scope, &kept.session_id, settings.now)?;
    }
    Ok(done)
}

/// Whoever did not hear that a turn was recorded sends it again within this time. A turn with neither ids nor times
/// that says what its session ends with is the same one until then.
pub const SENT_AGAIN_WITHIN: SignedDuration = SignedDuration::from_mins(2);

impl Turn {
    /// Whether nothing tells it from another turn of the same words. Our own conversation sends none twice.
    pub(super) fn is_bare(&self) -> bool {
        let is_bare = |one: &TurnMessage| one.external_id.is_none() && one.at.is_none();
        self.from != Caller::OurChat
            && !self.messages.is_empty()
            && self.messages.iter().all(is_bare)
    }

    /// Who asked, for the decision whose memory it is.
    fn who(&self) -> Option<Who<'_>> {
        let Identity { native_id, chat, .. } = self.identity.as_ref()?;
        Some(Who { channel: &self.channel, native_id, chat: *chat })
    }

    /// Who asked, by name where they are known by name: what a session that begins with this turn tells.
    fn told(&self) -> Option<Who<'_>> {
        self.user.as_deref().map(Who::named).or_else(|| self.who())
    }

    /// What is wrong with it, if it cannot be recorded: it says nothing, or its session has no fit name.
    pub fn fault(&self) -> Option<String> {
        if let Some(why) = self.session_id.as_deref().and_then(line::session_fault) {
            return Some(format!("`session_id` {why}"));
        }
        let says =
            |message: &TurnMessage| !message.text.trim().is_empty() || message.tool_calls.is_some();
        let is_silent = !self.messages.iter().any(says);
        (is_silent && !self.ended).then(|| "it is empty: it has no text".to_owned())
    }

    fn scope(&self, store: &mut Memory, change: Change<'_>) -> Result<Scope> {
        match &self.user {
            Some(name) => Ok(Scope::of(store.user_or_new(name, change)?)),
            None => identity::resolve(store, self.who(), change),
        }
    }

    /// Where the messages come from: state.db if they are in it, so that they are known there.
    fn source(&self, kept: &Kept) -> &str {
        match &self.from {
            _ if !kept.messages.is_empty() => STATE_DB,
            Caller::OurOwn | Caller::OurChat => OUR_OWN,
            Caller::Other(name) => name,
        }
    }

    /// The session as state.db keeps it.
    fn session(&self, id: SessionId, now: Timestamp) -> NewSession {
        let started_at = self.messages.iter().filter_map(|message| message.at).min().unwrap_or(now);
        let chat_type = self.identity.as_ref().map(|identity| match identity.chat {
            Chat::Direct => "dm".to_owned(),
            Chat::Group => "group".to_owned(),
        });
        let native_id = self.identity.as_ref().map(|identity| identity.native_id.clone());
        NewSession {
            user_id: self.user.as_deref().map(|name| kept_name(&self.channel, name)).or(native_id),
            cwd: self.project.clone(),
            chat_type,
            display_name: self.identity.as_ref().and_then(|identity| identity.name.clone()),
            ..NewSession::plain(id, started_at, &self.channel)
        }
    }

    /// The messages that say something, each with its id, and how many are refused.
    fn ready(
        &self,
        kept: &Kept,
        scope: Scope,
        settings: &Settings<'_>,
    ) -> (Vec<(Ready, Named)>, usize) {
        let now = settings.now;
        let spoken: Vec<Spoken<'_>> =
            self.messages.iter().map(|message| message.spoken(now)).collect();
        let mut seen = Vec::new();
        let mut id_of = |place: usize| {
            let message = &self.messages[place];
            match (kept.names.get(place), &message.external_id) {
                (Some(name), _) => name.clone(),
                (None, Some(id)) => id.clone(),
                (None, None) => message.derived_id(&kept.session_id, scope, now, &mut seen),
            }
        };
        let named = |one: Ready| {
            let id = Named::from(id_of(one.place));
            (one, id)
        };
        let AllReady { messages, refused } = ready::ready(&spoken, settings.secrets);
        (messages.into_iter().map(named).collect(), refused)
    }
}

impl TurnMessage {
    /// A message of plain text.
    pub fn text(role: &str, text: &str) -> TurnMessage {
        TurnMessage { role: role.to_owned(), text: text.to_owned(), ..TurnMessage::default() }
    }

    fn row(&self, now: Timestamp) -> NewMessage {
        NewMessage {
            content: (!self.text.is_empty()).then(|| Content::Text(self.text.clone())),
            tool_name: self.tool_name.clone(),
            tool_call_id: self.tool_call_id.clone(),
            tool_calls: self.tool_calls.clone().filter(|_| self.role != "tool"),
            external_id: self.external_id.clone(),
            ..NewMessage::text(&self.role, "", self.at.unwrap_or(now))
        }
    }

    fn spoken(&self, now: Timestamp) -> Spoken<'_> {
        Spoken {
            role: &self.role,
            text: &self.text,
            at: self.at.unwrap_or(now),
            tool_calls: self.tool_calls.as_ref(),
            tool_call_id: self.tool_call_id.as_deref(),
            tool_name: self.tool_name.as_deref(),
            failed: self.failed,
        }
    }

    /// An id made of everything that tells this message from others; `seen` tells equal ones apart.
    fn derived_id(
        &self,
        session: &str,
        scope: Scope,
        now: Timestamp,
        seen: &mut Vec<[u8; 32]>,
    ) -> String {
        let at = self.at.unwrap_or(now).as_millisecond().to_string();
        let parts = [session, &self.role, &at, &self.text];
        let fingerprint = line::fingerprint_of(scope.user().get(), &parts);
        let occurrence = seen.iter().filter(|known| **known == fingerprint).count();
        seen.push(fingerprint);
        line::id_of(&fingerprint, u32::try_from(occurrence).unwrap_or(u32::MAX))
    }
}

/// Whether an error says that a database cannot be used as it is: what is to be recorded has to wait.
pub fn must_wait(error: &Error) -> bool {
    matches!(error, Error::Store(error) if error.must_wait())
}
