//! The life of what was recorded: taken in, drawn from, looked back on, and told by a summary when it is old.

use jiff::Timestamp;

use super::{
    Admin, Change, Episode, EventKind, MessageKey, NewChunk, Scope, SessionKey, UserNumber,
};
use crate::Result;

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its row.
    pub key: SessionKey,
    /// Its id as the agent names it.
    pub session_id: String,
    /// Whose it is.
    pub user: UserNumber,
    /// Where it took place.
    pub channel: Option<String>,
    /// The program or file it comes from.
    pub source: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When something was last said in it.
    pub last_at: Timestamp,
    /// When it was said to be over.
    pub ended_at: Option<Timestamp>,
    /// When it was looked back on.
    pub reflected_at: Option<Timestamp>,
}

/// How far a session of a state.db was taken in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenIn {
    /// The id of the database.
    pub database: String,
    /// The session's id.
    pub session_id: String,
    /// The last message that was looked at.
    pub last_message: i64,
    /// How many messages up to it counted then.
    pub live: i64,
}

/// A message of a transcript, to be compared with what was recorded.
#[derive(Debug, Clone, Copy)]
pub struct Offered<'a> {
    /// What makes it unique inside its source.
    pub external_id: &'a str,
    /// What it was called before, if that was not unique.
    pub former_id: Option<&'a str>,
    /// What it says.
    pub text: &'a str,
    /// What was said to the letter, where the text has something else in place of a secret.
    pub said: Option<&'a str>,
    /// When.
    pub at: Timestamp,
}

/// A call of a tool in an assistant's message.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Step {
    /// The message that called.
    #[serde(skip)]
    pub message: i64,
    /// The tool.
    pub tool: String,
    /// What it was called with, as JSON.
    pub arguments: String,
    /// Whether it failed.
    pub failed: bool,
}

/// Where to go on reading a long list: the user, session and number read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct After {
    /// The user.
    pub user: i64,
    /// The session's row.
    pub session: i64,
    /// The episode.
    pub episode: i64,
}

/// A summary that will stand for episodes.
#[derive(Debug, Clone)]
pub struct NewSummary<'a> {
    /// The raw episodes it tells of; all of one user.
    pub episodes: &'a [i64],
    /// What it says.
    pub body: &'a str,
    /// What kind of task they were, if one.
    pub task_type: Option<&'a str>,
    /// What it costs a model to read.
    pub tokens: u32,
    /// Its text ready for the index.
    pub chunks: Vec<NewChunk>,
}

/// What dropping raw text gained.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Dropped {
    /// Episodes whose messages are gone.
    pub episodes: u64,
    /// Messages that are gone.
    pub messages: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
}

/// A task to be kept.
#[derive(Debug, Clone)]
pub struct NewTask<'a> {
    /// What makes it unique for its user: the session's id, unless the caller gave another.
    pub external_id: &'a str,
    /// The session it was done in.
    pub session: Option<SessionKey>,
    /// What kind of task.
    pub task_type: &'a str,
    /// What was asked, in one line.
    pub title: &'a str,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Timestamp,
    /// `success`, `failure` or `unclear`.
    pub outcome: &'a str,
    /// The tool calls that led there, as a JSON list of steps.
    pub steps: &'a str,
    /// The words that tell what it was about.
    pub words: &'a str,
}

/// A task as it is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Task {
    /// Its number: `task:5`.
    pub id: i64,
    /// Whose it is.
    pub user: UserNumber,
    /// What makes it unique for its user.
    pub external_id: String,
    /// What kind of task.
    pub task_type: String,
    /// What was asked.
    pub title: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How it went.
    pub outcome: Option<String>,
    /// The tool calls that led there, as JSON.
    pub steps: String,
    /// The words that tell what it was about.
    pub words: String,
    /// The procedure of the skill that was drafted from it.
    pub skill: Option<i64>,
}

/// What was handed to a model, as it was kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Receipt {
    /// When.
    pub at: Timestamp,
    /// The running session.
    pub session_id: Option<String>,
    /// How many tokens.
    pub tokens: u32,
    /// What: kind and number of each.
    pub items: Vec<(super::ItemKind, i64)>,
}

/// Follow what was recorded through its life.
pub trait Lifecycle {
    /// How far the sessions of one state.db were taken in.
    fn taken_in(&self, admin: Admin, database: &str) -> Result<Vec<TakenIn>>;

    /// Notes how far a session was taken in.
    fn note_taken_in(&mut self, admin: Admin, taken: &TakenIn, now: Timestamp) -> Result<()>;

    /// What was noted under a key, for what needs no table of its own.
    fn read_note(&self, admin: Admin, key: &str) -> Result<Option<String>>;

    /// Notes something under a key, in the place of what was noted there.
    fn keep_note(&mut self, admin: Admin, key: &str, value: &str) -> Result<()>;

    /// Whether the last messages of a session are these, role and text, and were all said since a time.
    fn session_ends_with(
        &self,
        scope: Scope,
        session_id: &str,
        said: &[(&str, &str)],
        since: Timestamp,
    ) -> Result<bool>;

    /// Says that a session is over; false if there is none.
    fn end_session(&mut self, scope: Scope, session_id: &str, at: Timestamp) -> Result<bool>;

    /// Takes the episodes of a session's messages out of every answer, for messages that were taken back:
    /// (source, external ids).
    #[expect(clippy::too_many_arguments, reason = "who, where it came from, which, by whom")]
    fn retire_messages(
        &mut self,
        scope: Scope,
        session_id: &str,
        source: &str,
        external_ids: &[String],
        change: Change<'_>,
    ) -> Result<u64>;

    /// Raw episodes nothing was drawn from yet, of sessions that are over or were idle since `idle_since`.
    fn waiting_episodes(
        &self,
        admin: Admin,
        idle_since: Timestamp,
        limit: usize,
    ) -> Result<Vec<Episode>>;

    /// Notes that everything was drawn from these episodes.
    fn mark_extracted(&mut self, admin: Admin, episodes: &[i64], now: Timestamp) -> Result<()>;

    /// Forgets that something was drawn from the episodes of a scope, so that it is drawn again.
    fn extract_again(&mut self, scope: Scope, session_id: Option<&str>) -> Result<u64>;

    /// Sessions not looked back on yet that are over or were idle since `idle_since`, oldest first.
    fn sessions_to_reflect(
        &self,
        admin: Admin,
        idle_since: Timestamp,
        limit: usize,
    ) -> Result<Vec<Session>>;

    /// Notes that a session was looked back on.
    fn mark_reflected(&mut self, admin: Admin, session: SessionKey, now: Timestamp) -> Result<()>;

    /// The sessions of a scope with this id, one for each part.
    fn sessions_named(&self, scope: Scope, session_id: &str) -> Result<Vec<Session>>;

    /// The episodes of a session in their order.
    fn episodes_of(&self, scope: Scope, session: SessionKey) -> Result<Vec<Episode>>;

    /// The tool calls in messages of an episode, in their order.
    fn steps_of(&self, scope: Scope, episode: &Episode) -> Result<Vec<Step>>;

    /// Raw episodes that ended before `before` and were drawn from, in the order of users, sessions and
    /// numbers, beginning after `after`.
    fn old_episodes(
        &self,
        admin: Admin,
        before: Timestamp,
        after: After,
        limit: usize,
    ) -> Result<Vec<Episode>>;

    /// Keeps a summary beside the raw episodes it tells of, in one transaction; returns its number.
    fn keep_summary(
        &mut self,
        scope: Scope,
        summary: &NewSummary<'_>,
        change: Change<'_>,
    ) -> Result<i64>;

    /// Summaries whose raw episodes still have their messages: work that was cut short.
    fn unfinished_summaries(&self, admin: Admin) -> Result<Vec<Episode>>;

    /// Drops the messages that a summary tells of, in one transaction, if the summary reads `body`.
    fn drop_raw(
        &mut self,
        scope: Scope,
        summary: i64,
        body: &str,
        change: Change<'_>,
    ) -> Result<Dropped>;

    /// The summaries that tell of these episodes, where their messages are gone.
    fn covering(&self, scope: Scope, episodes: &[i64]) -> Result<Vec<(i64, i64)>>;

    /// The ids of the sessions that a summary tells of.
    fn sessions_of_summary(&self, scope: Scope, summary: i64) -> Result<Vec<String>>;

    /// Keeps a task, or how it went if it is known; returns its number.
    fn keep_task(&mut self, scope: Scope, task: &NewTask<'_>, change: Change<'_>) -> Result<i64>;

    /// The tasks of a type that a scope may read, newest first.
    fn tasks(&self, scope: Scope, task_type: Option<&str>, limit: usize) -> Result<Vec<Task>>;

    /// Notes that a skill was drafted from tasks.
    fn note_skill_of_tasks(&mut self, scope: Scope, tasks: &[i64], procedure: i64) -> Result<()>;

    /// What was handed out last, newest first; only the latest few thousand are looked at.
    fn latest_receipts(&self, scope: Scope, limit: usize) -> Result<Vec<Receipt>>;

    /// What was handed out in a session, oldest first.
    fn receipts_of(&self, scope: Scope, session_id: &str) -> Result<Vec<Receipt>>;

    /// Counts a win or a loss for procedures.
    fn count_outcome(&mut self, scope: Scope, procedures: &[i64], won: bool) -> Result<()>;

    /// Events of one kind that name a session, oldest first.
    fn events_of_session(
        &self,
        scope: Scope,
        session: SessionKey,
        kind: Option<EventKind>,
    ) -> Result<Vec<super::Event>>;

    /// Which messages of a session are recorded: by where they came from, or else by what they say and when. The
    /// latter are known by where they came from afterwards.
    fn adopt(
        &mut self,
        scope: Scope,
        source: &str,
        session_id: &str,
        offered: &[Offered<'_>],
    ) -> Result<Vec<bool>>;

    /// The key of a recorded message, by where it came from: its id there, and its text if
    /// only one that says it is meant.
    fn message_by_origin(
        &self,
        scope: Scope,
        source: &str,
        session_id: &str,
        named: (&str, Option<&str>),
    ) -> Result<Option<MessageKey>>;
}
