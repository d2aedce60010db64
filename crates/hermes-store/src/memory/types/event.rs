//! An event: a task, decision, result or failure, with its time.

use jiff::Timestamp;

use super::{NewChunk, NewSource, OriginId, SessionKey, Trust, Uid, UserNumber};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// Work was begun or done.
    Task,
    /// Something was decided.
    Decision,
    /// Something came out of it.
    Result,
    /// Something went wrong.
    Failure,
}

/// An event to be kept.
#[derive(Debug, Clone)]
pub struct NewEvent<'a> {
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
    /// In one sentence.
    pub text: &'a str,
    /// The reason, when known.
    pub why: Option<&'a str>,
    /// How far it can be trusted.
    pub trust: Trust,
    /// Whether everybody may read it.
    pub shared: bool,
    /// The names it mentions.
    pub entities: &'a [String],
    /// Its text ready for the index: the text, and the reason after a line break.
    pub chunks: Vec<NewChunk>,
    /// The session it happened in.
    pub session: Option<SessionKey>,
    /// The episode, message and words it was drawn from.
    pub sources: &'a [NewSource<'a>],
    /// What makes it unique, so that keeping it again adds nothing.
    pub origin: Option<OriginId<'a>>,
}

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Event {
    /// Its number: `event:3`.
    pub id: i64,
    /// The same everywhere.
    pub uid: Uid,
    /// Whose it is; 0 for everybody.
    pub user: UserNumber,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: EventKind,
    /// In one sentence.
    pub text: String,
    /// The reason.
    pub why: Option<String>,
    /// How far it can be trusted.
    pub trust: Trust,
    /// Whether it is held back as suspect.
    pub quarantined: bool,
    /// Since when we no longer hold it.
    pub retired_at: Option<Timestamp>,
}
