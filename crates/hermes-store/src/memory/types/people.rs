//! People as a whole: one user becomes another, or everything of one goes.

use jiff::Timestamp;

use super::Uid;

/// How much of one user becomes another's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Moved {
    /// Conversations.
    pub sessions: u64,
    /// Episodes, raw and compressed.
    pub episodes: u64,
    /// Messages.
    pub messages: u64,
    /// Facts, held or not.
    pub facts: u64,
    /// Those among them that both hold: they become one.
    pub joined: u64,
    /// Procedures.
    pub procedures: u64,
    /// Events.
    pub events: u64,
    /// Tasks.
    pub tasks: u64,
    /// Proposals.
    pub proposals: u64,
    /// What was handed to a model.
    pub receipts: u64,
    /// Names that the memory knows for them.
    pub names: u64,
    /// Identities in channels, linked or only seen.
    pub identities: u64,
}

/// What taking a merge back came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Unmerged {
    /// How much the first has again.
    #[serde(flatten)]
    pub moved: Moved,
    /// Messages that came after the merge and went back with the message they answer.
    pub later_answers: u64,
    /// Summaries, made after the merge, that tell of both: they stay with the other.
    pub told_together: u64,
}

/// Somebody who is another user now.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct MergedUser {
    /// What they were called.
    pub name: String,
    /// Who they are now.
    pub into: String,
    /// Since when.
    pub at: Timestamp,
}

/// What a person is known by, beside the name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The ids that are the same everywhere: their own, and those of users merged into them.
    pub uids: Vec<Uid>,
    /// Their name, and the names of users merged into them.
    pub names: Vec<String>,
    /// The conversations of theirs that the memory has, by their ids.
    pub sessions: Vec<String>,
    /// Since when the first of these is known.
    pub since: Timestamp,
}

/// What is noted of a handover.
#[derive(Debug, Clone, Copy)]
pub struct Passed<'a> {
    /// Whether it was given away from here; else it was taken over.
    pub given: bool,
    /// The other profile.
    pub profile: &'a str,
    /// What was passed.
    pub text: &'a str,
}
