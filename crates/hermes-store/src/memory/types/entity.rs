//! A name the memory knows, its aliases and where it is mentioned.

use super::UserNumber;

/// A name the memory knows.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Entity {
    /// Its number.
    pub id: i64,
    /// Whose it is; 0 for everybody.
    pub user: UserNumber,
    /// The name as it was first written.
    pub name: String,
    /// `person`, `project`, `tool`, …, when known.
    pub kind: Option<String>,
    /// Other ways to write it, folded.
    pub aliases: Vec<String>,
}
