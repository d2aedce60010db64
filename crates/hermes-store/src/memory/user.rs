//! The users of one memory, and the identities they come in with.

use jiff::Timestamp;

use super::{Admin, Change, Uid, UserNumber};
use crate::Result;

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

/// Keep and read users.
pub trait Users {
    /// Every user, the owner first; without the one that stands for everybody.
    fn users(&self, admin: Admin) -> Result<Vec<User>>;

    /// The user with this name.
    fn user(&self, name: &str) -> Result<Option<User>>;

    /// The user with this name, made if there is none.
    fn user_or_new(&mut self, name: &str, change: Change<'_>) -> Result<UserNumber>;

    /// The user behind an identity of a channel.
    fn user_of_identity(&self, channel: &str, native_id: &str) -> Result<Option<UserNumber>>;

    /// Says which user an identity of a channel is.
    fn link_identity(
        &mut self,
        channel: &str,
        native_id: &str,
        user: UserNumber,
        change: Change<'_>,
    ) -> Result<()>;

    /// Forgets which user an identity of a channel is, and says who it was; none if it was nobody.
    fn unlink_identity(
        &mut self,
        channel: &str,
        native_id: &str,
        change: Change<'_>,
    ) -> Result<Option<UserNumber>>;

    /// Every linked identity.
    fn identities(&self, admin: Admin) -> Result<Vec<Identity>>;

    /// Notes that an identity that is linked to nobody came in, and whose memory its words went to.
    fn note_identity(&mut self, identity: &Identity, now: Timestamp) -> Result<()>;

    /// Every identity that came in and is linked to nobody.
    fn unlinked_identities(&self, admin: Admin) -> Result<Vec<Identity>>;

    /// Says which time zone a user lives in; none: the system's.
    fn set_timezone(
        &mut self,
        user: UserNumber,
        zone: Option<&str>,
        change: Change<'_>,
    ) -> Result<()>;
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
