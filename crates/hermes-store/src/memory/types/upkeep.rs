//! How much is in a memory, and keeping it in shape.

use jiff::Timestamp;

/// How much is in a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counts {
    /// Episodes with their messages.
    pub raw_episodes: u64,
    /// Episodes as summaries.
    pub compressed_episodes: u64,
    /// Messages.
    pub messages: u64,
    /// Facts held.
    pub facts: u64,
    /// Facts retired or superseded.
    pub retired_facts: u64,
    /// Procedures held that are reflections.
    pub reflections: u64,
    /// Procedures held.
    pub procedures: u64,
    /// Events held.
    pub events: u64,
    /// Names known.
    pub entities: u64,
    /// Users.
    pub users: u64,
    /// Vectors of episodes in the active model.
    pub episode_vectors: u64,
    /// Vectors of facts in the active model.
    pub fact_vectors: u64,
    /// Vectors of everything else in the active model.
    pub other_vectors: u64,
    /// Things held back as suspect.
    pub quarantined: u64,
    /// Jobs that are not done.
    pub open_jobs: u64,
    /// The size of the database in bytes.
    pub size: u64,
    /// When it was last vacuumed.
    pub last_vacuum: Option<Timestamp>,
    /// When episodes were last compressed.
    pub last_compression: Option<Timestamp>,
}

/// What came on one day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Growth {
    /// The day, counted from the first.
    pub day: u32,
    /// Facts that became known.
    pub facts: u64,
    /// Episodes that began.
    pub episodes: u64,
}

/// What vacuuming gained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Vacuumed {
    /// Bytes before.
    pub before: u64,
    /// Bytes after.
    pub after: u64,
}

/// What was handed to a model.
#[derive(Debug, Clone)]
pub struct NewReceipt<'a> {
    /// The running session, when known.
    pub session_id: Option<&'a str>,
    /// The turn, when known.
    pub turn: Option<&'a str>,
    /// How many tokens.
    pub tokens: u32,
    /// What: kind and number of each.
    pub items: &'a [(super::ItemKind, i64)],
}

/// Something wrong with a memory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct MemoryFinding {
    /// What is wrong.
    pub problem: String,
    /// Whether `rebuild_segments` repairs it.
    pub repaired_by_rebuilding: bool,
}
