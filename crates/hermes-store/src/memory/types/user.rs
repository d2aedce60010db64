//! The users of one memory, and the identities they come in with.

use jiff::Timestamp;

use super::{Uid, UserNumber};

/// A user of one memory.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct User {
    /// Their number.
    pub number: UserNumber,
    /// The same everywhere.
    pub uid: Uid,
    /// What they are called on the command line.
    pub name: String,
    /// Their time zone, when known.
    pub timezone: Option<String>,
}

/// Who somebody is in a channel, and which user that is.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Identity {
    /// The channel.
    pub channel: String,
    /// The id there.
    pub native_id: String,
    /// Whether they spoke alone with the agent or in a group.
    pub chat: Chat,
    /// The user.
    pub user: UserNumber,
    /// When it was linked, or last seen.
    pub at: Timestamp,
}

/// Whether somebody spoke alone with the agent or in a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chat {
    /// Alone.
    Direct,
    /// With others.
    Group,
}
