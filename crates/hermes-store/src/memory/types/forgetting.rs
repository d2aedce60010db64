//! Forgetting many things at once, and remembering that they were to be forgotten.

use super::{ItemKind, Uid, UserNumber};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Everything of one user.
    User(UserNumber),
    /// One session of a user: its episodes and what was drawn from nothing else.
    Session(UserNumber, String),
    /// Everything recorded from one program, file or channel, and what was drawn from nothing else.
    Source(UserNumber, String),
    /// Everything of one kind that a user has; `Message` means episodes, raw and compressed.
    Kind(UserNumber, ItemKind),
    /// Everything of everybody.
    All,
}

/// How thoroughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Out of every answer; can be brought back.
    Retire,
    /// Texts, index, vectors, quotes and earlier texts are removed from the file.
    Erase,
}

/// How much would be or was forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Forgotten {
    /// Episodes.
    pub episodes: u64,
    /// Messages.
    pub messages: u64,
    /// Facts.
    pub facts: u64,
    /// Procedures.
    pub procedures: u64,
    /// Events.
    pub events: u64,
    /// Proposals.
    pub proposals: u64,
}

/// What of a choice is told by files of the home as well.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToldElsewhere {
    /// Facts: entries of memory files say the same.
    pub facts: Vec<i64>,
    /// Procedures: the log of reflections says the same.
    pub procedures: Vec<i64>,
    /// The ids of whole sessions: transcripts, and what is kept of turns under way.
    pub sessions: Vec<String>,
}

/// Episodes (as `Summary`), procedures and events that were taken back, by the ids that are the same everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// Out of every answer.
    pub retired: Vec<(ItemKind, Uid)>,
    /// Removed from the file.
    pub erased: Vec<(ItemKind, Uid)>,
}
