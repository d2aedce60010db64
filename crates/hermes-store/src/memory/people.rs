//! People as a whole: one user becomes another, or everything of one goes.

use jiff::Timestamp;

use super::{Admin, Change, Chunker, Forgotten, Uid, UserNumber};
use crate::Result;

/// How much of one user becomes another's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
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

/// Merge and forget people.
pub trait People {
    /// Everybody who is another user now.
    fn merged_users(&self, admin: Admin) -> Result<Vec<MergedUser>>;

    /// What a user is known by; fails for one who is not there.
    fn known_by(&self, admin: Admin, user: UserNumber) -> Result<Known>;

    /// How much a merge would move.
    fn merge_plan(&self, admin: Admin, from: UserNumber, into: UserNumber) -> Result<Moved>;

    /// Makes everything of one user another's, in one transaction; the name leads there from now on.
    fn merge_users(
        &mut self,
        admin: Admin,
        pair: [UserNumber; 2],
        chunker: Chunker<'_>,
        change: Change<'_>,
    ) -> Result<Moved>;

    /// Erases everything of a user with the name and those of users merged into them. What is shared stays, without
    /// the words it came from. The sessions named are no longer known to have been taken in.
    fn forget_person(
        &mut self,
        admin: Admin,
        user: UserNumber,
        sessions: &[String],
        change: Change<'_>,
    ) -> Result<Forgotten>;

    /// The users with one of these ids of whom something may be here: a person who was forgotten at the time, by this
    /// very deed, is not among them.
    fn to_forget_again(&self, admin: Admin, uids: &[Uid], at: Timestamp)
    -> Result<Vec<UserNumber>>;

    /// The memory that this is, whatever its profile is called.
    fn home_id(&self, admin: Admin) -> Result<String>;

    /// Notes that something was passed to or taken over from another profile; `text` goes in as a hash.
    fn note_handover(&mut self, admin: Admin, noted: &Passed<'_>, change: Change<'_>)
    -> Result<()>;
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
