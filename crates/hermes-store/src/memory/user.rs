//! The users of one memory, and the identities they come in with.

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
}
