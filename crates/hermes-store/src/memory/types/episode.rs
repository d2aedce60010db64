//! An episode: what happened, from a user's message up to the next one.

use jiff::Timestamp;

use super::{MessageKey, SessionKey, Step, Trust, Uid, UserNumber};

/// A message to be recorded, with its text cut into chunks and these ready for the index.
#[derive(Debug, Clone)]
pub struct NewMessage<'a> {
    /// The session's id as the agent names it.
    pub session_id: &'a str,
    /// `user`, `assistant`, `tool` or `system`; a user's message begins an episode.
    pub role: &'a str,
    /// Who spoke, where the conversation has names.
    pub speaker: Option<&'a str>,
    /// What was said.
    pub text: &'a str,
    /// What was said to the letter, where the text has something else in place of a secret; it is compared, never kept.
    pub said: Option<&'a str>,
    /// The description of an attached picture or file.
    pub caption: Option<&'a str>,
    /// When.
    pub at: Timestamp,
    /// Where the conversation took place: `cli`, `telegram`, …
    pub channel: Option<&'a str>,
    /// The agent that answered.
    pub agent: Option<&'a str>,
    /// The folder or repository it was about.
    pub project: Option<&'a str>,
    /// Which program or file the message comes from.
    pub source: &'a str,
    /// What makes the message unique inside its source; recording the same text again adds nothing.
    pub external_id: &'a str,
    /// What it was called before, if that was not unique: a message that was forgotten under it stays so.
    pub former_id: Option<&'a str>,
    /// How far the words can be trusted.
    pub trust: Trust,
    /// What it costs a model to read.
    pub tokens: u32,
    /// The parts of the text, in order.
    pub chunks: Vec<NewChunk>,
    /// The tools it calls.
    pub steps: Vec<Step>,
    /// Whether it is history that was brought in: a model reads it only when asked to.
    pub imported: bool,
}

/// One part of a text, ready for the index.
#[derive(Debug, Clone, Default)]
pub struct NewChunk {
    /// Where the part begins in the text, in bytes.
    pub start: usize,
    /// How many bytes it is long.
    pub length: usize,
    /// The words for the keyword index.
    pub words: String,
    /// The ids of its tokens in the embedded model's table.
    pub tokens: Vec<u16>,
    /// Its vector in the active model; none when that model works by job.
    pub vector: Option<Vec<f32>>,
}

/// What recording did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Recorded {
    /// Messages added.
    pub added: usize,
    /// Messages that were there already.
    pub known: usize,
    /// Episodes begun.
    pub episodes: usize,
    /// Messages left out because they, or their session, were to be forgotten.
    pub buried: usize,
}

/// One message as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its number.
    pub key: MessageKey,
    /// The episode it belongs to.
    pub episode: i64,
    /// When.
    pub at: Timestamp,
    /// Who, by role.
    pub role: String,
    /// Who, by name.
    pub speaker: Option<String>,
    /// What was said.
    pub text: String,
    /// The description of an attachment.
    pub caption: Option<String>,
}

/// An episode without its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    /// Its number: `episode:17`.
    pub id: i64,
    /// The same everywhere.
    pub uid: Uid,
    /// Whose it is.
    pub user: UserNumber,
    /// The row of the session.
    pub session: SessionKey,
    /// The session's id as the agent names it.
    pub session_id: String,
    /// The place of its first message.
    pub first_place: i64,
    /// The place of its last message.
    pub last_place: i64,
    /// Where it took place.
    pub channel: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The project.
    pub project: Option<String>,
    /// What kind of task it was, when known.
    pub task_type: Option<String>,
    /// Whether it still has its messages.
    pub state: EpisodeState,
    /// When it began.
    pub started_at: Timestamp,
    /// When its last message was said.
    pub ended_at: Timestamp,
    /// What it costs a model to read.
    pub tokens: u32,
    /// The summary of a compressed episode.
    pub body: Option<String>,
    /// How often it was handed out in a context.
    pub uses: u32,
    /// Whether it is history that was brought in.
    pub imported: bool,
}

/// Whether an episode still has its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeState {
    /// With every message.
    Raw,
    /// As a summary.
    Compressed,
}

/// Which of the latest episodes are meant.
#[derive(Debug, Clone, Default)]
pub struct RecentFilter<'a> {
    /// Only of this project.
    pub project: Option<&'a str>,
    /// Only of this channel.
    pub channel: Option<&'a str>,
    /// Not of this session.
    pub except_session: Option<&'a str>,
    /// Only those that began before.
    pub before: Option<Timestamp>,
    /// How many at most.
    pub limit: usize,
}
