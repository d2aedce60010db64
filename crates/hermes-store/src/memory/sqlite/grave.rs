//! What was to be forgotten, as hashes: the keys of graves, and digging them.

use rusqlite::{Transaction, params};
use sha2::{Digest, Sha256};

use super::Step;
use crate::memory::{Change, UserNumber};

/// What a grave holds; the numbers are in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Buried {
    /// The normalised sentence of a fact.
    Statement,
    /// A recorded message, by where it came from.
    Message,
    /// A whole session.
    Session,
}

impl Buried {
    /// The number that stands for it in the file.
    pub(super) fn number(self) -> i64 {
        match self {
            Buried::Statement => 0,
            Buried::Message => 3,
            Buried::Session => 4,
        }
    }
}

/// What a session of a user is buried by.
pub(super) fn session_key(user: UserNumber, session_id: &str) -> [u8; 16] {
    let digest = Sha256::new().chain_update(user.get().to_le_bytes()).chain_update(session_id);
    first_bytes(&digest.finalize().into())
}

/// What a recorded message is known and buried by: whose it is, where it comes from, its session and
/// its id there. Programs number messages by session, and users do not mix.
pub(super) fn message_key(
    user: UserNumber,
    source: &str,
    session_id: &str,
    external_id: &str,
) -> [u8; 16] {
    let mut digest = Sha256::new().chain_update(user.get().to_le_bytes());
    for part in [source, session_id, external_id] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    first_bytes(&digest.finalize().into())
}

/// Buries something of a user; `item` is whose return lifts it.
pub(super) fn dig(
    transaction: &Transaction<'_>,
    (buried, user): (Buried, UserNumber),
    key: &[u8],
    item: Option<&str>,
    change: Change<'_>,
) -> Step<()> {
    transaction.prepare_cached(DIG)?.execute(params![
        buried.number(),
        user.get(),
        key,
        change.at.as_millisecond(),
        change.actor,
        item
    ])?;
    Ok(())
}

/// Lifts the grave of a session.
pub(super) fn lift_session(
    transaction: &Transaction<'_>,
    user: UserNumber,
    session_id: &str,
) -> Step<()> {
    let key = session_key(user, session_id);
    let kind = Buried::Session.number();
    transaction.prepare_cached(LIFT)?.execute(params![kind, user.get(), &key[..]])?;
    Ok(())
}

fn first_bytes(digest: &[u8; 32]) -> [u8; 16] {
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    key
}

const DIG: &str = "
    insert or replace into grave (kind, user_id, key, at, actor, item)
    values (?1, ?2, ?3, ?4, ?5, ?6)";
const LIFT: &str = "delete from grave where kind = ?1 and user_id = ?2 and key = ?3";
