//! Who changed what, in a chain of hashes.

use jiff::Timestamp;

/// One change.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct AuditEntry {
    /// Its number.
    pub id: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// What was done: `fact.add`, `fact.retire`, …
    pub action: String,
    /// To what: `fact:42`.
    pub item: String,
}

/// Whether the chain of changes is whole.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ChainState {
    /// Every entry follows from the one before.
    Whole {
        /// How many entries there are.
        entries: u64,
    },
    /// This entry was altered, or one before it was taken away.
    Broken {
        /// The first entry that does not fit.
        id: i64,
    },
}
