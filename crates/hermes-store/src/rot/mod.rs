//! How it is noticed that a database lost something or that bytes in it changed by themselves.

mod high_water;
mod row_sum;
mod sums_file;

pub use high_water::{Behind, HighWater, Which};
pub(crate) use high_water::{Mark, Water};
pub(crate) use row_sum::register;
pub use sums_file::Sums;
pub(crate) use sums_file::SumsFile;

use jiff::Timestamp;

/// A row whose content is not what it was when it was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DifferingRow {
    /// The table it is in, as people call what it holds: `message`, `fact`, `vector`, …
    pub kind: &'static str,
    /// What it is called: `message:42`, `fact:007`.
    pub name: String,
    /// The session it belongs to, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// When it was said or recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The key of the row in its table.
    #[serde(skip)]
    pub key: Vec<i64>,
}

impl DifferingRow {
    /// Which row it is, in a few words: `message 42 of session main`.
    pub fn said(&self) -> String {
        let session = self.session.as_ref().map(|id| format!(" of session {id}"));
        let at = self.at.map(|at| format!(" ({})", at.strftime("%Y-%m-%d %H:%M")));
        format!("{}{}{}", self.name, session.unwrap_or_default(), at.unwrap_or_default())
    }
}

/// What a comparison of rows with their checksums found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Compared {
    /// How many rows were compared.
    pub rows: u64,
    /// How many have no checksum yet.
    pub without_sum: u64,
    /// Those that differ.
    pub differing: Vec<DifferingRow>,
    /// Whether another program may have changed them.
    pub changed_by_others: bool,
}

impl Compared {
    /// Adds what was found elsewhere.
    pub fn add(&mut self, other: Compared) {
        self.rows += other.rows;
        self.without_sum += other.without_sum;
        self.differing.extend(other.differing);
        self.changed_by_others |= other.changed_by_others;
    }
}

/// What came back from a copy, and what did not.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct BroughtBack {
    /// Rows that are as they were written again.
    pub back: Vec<DifferingRow>,
    /// Rows that were missing and are there again.
    pub added: Vec<DifferingRow>,
    /// Rows of which the copy has no right content.
    pub lost: Vec<DifferingRow>,
}
