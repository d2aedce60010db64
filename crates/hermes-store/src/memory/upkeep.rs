//! How much is in a memory, and keeping it in shape.

use jiff::Timestamp;

use super::{Admin, Scope};
use crate::Result;

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

/// Count, vacuum, check, and note what was handed out.
pub trait Upkeep {
    /// How much is in the memory, for all users.
    fn counts(&self, admin: Admin) -> Result<Counts>;

    /// What came on each day since a time, days being 24 hours; days on which nothing came are left out.
    fn growth(&self, scope: Scope, since: Timestamp) -> Result<Vec<Growth>>;

    /// Makes the file as small as it can be, and notes the time.
    fn vacuum(&mut self, admin: Admin, now: Timestamp) -> Result<Vacuumed>;

    /// Looks the memory over and names what is wrong with it.
    fn check_memory(&self, admin: Admin) -> Result<Vec<MemoryFinding>>;

    /// Makes the segments anew from the vectors; returns how many segments.
    fn rebuild_segments(&mut self, admin: Admin) -> Result<u64>;

    /// Notes what was handed to models: a receipt for each, and one more use of each item.
    fn hand_out_all(&mut self, receipts: &[(Scope, NewReceipt<'_>, Timestamp)]) -> Result<()>;

    /// The same for one.
    fn hand_out(&mut self, scope: Scope, receipt: &NewReceipt<'_>, now: Timestamp) -> Result<()> {
        self.hand_out_all(&[(scope, receipt.clone(), now)])
    }
}

/// Something wrong with a memory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct MemoryFinding {
    /// What is wrong.
    pub problem: String,
    /// Whether `rebuild_segments` repairs it.
    pub repaired_by_rebuilding: bool,
}
