//! The life of what was recorded: taken in, drawn from, looked back on, and told by a summary when it is old.

use jiff::Timestamp;

use super::{NewChunk, SessionKey, UserNumber};

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
