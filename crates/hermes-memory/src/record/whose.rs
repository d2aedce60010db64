//! Sessions that an earlier version wrote under the name of a user where the id of a channel stands: put right once.

use hermes_store::memory::{Admin, MemoryStore, Scope};
use hermes_store::sessions::{Owner, SessionId, SessionStore, kept_name};

use crate::Result;

/// Whether a transcript of ours was not looked at yet.
pub fn is_due(sessions: &SessionStore, store: &dyn MemoryStore, database: &str) -> Result<bool> {
    let is_ours = sessions.layout().owner() == Owner::Ours;
    Ok(is_ours && store.read_note(Admin, &key(database))?.is_none())
}

/// Marks the sessions that name a user by name; returns how many there were. The memory tells: a session whose words are
/// those of the user of that name, though nobody linked the id, was recorded by name.
pub(crate) fn put_right(
    sessions: &mut SessionStore,
    store: &mut dyn MemoryStore,
    database: &str,
) -> Result<u64> {
    if !is_due(sessions, store, database)? || sessions.layout().unwritable().is_some() {
        return Ok(0);
    }
    let mut named: Vec<(SessionId, String)> = Vec::new();
    for (id, source, user_id) in sessions.ids_that_may_be_names()? {
        let Some(user) = store.user(&user_id)? else { continue };
        let is_linked = store.user_of_identity(&source, &user_id)?.is_some();
        let is_theirs = !store.sessions_named(Scope::of(user.number), id.as_str())?.is_empty();
        if is_theirs && !is_linked {
            named.push((id, kept_name(&source, &user_id)));
        }
    }
    if !named.is_empty() {
        sessions.set_users(&named)?;
    }
    store.keep_note(Admin, &key(database), &named.len().to_string())?;
    Ok(named.len() as u64)
}

fn key(database: &str) -> String {
    format!("sessions.named.{database}")
}
