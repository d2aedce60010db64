//! Who talks in a session. Sessions that an earlier version wrote under the name of a user where the id of a channel
//! stands are put right once.

use hermes_store::memory::{Admin, Chat, Memory, Scope};
use hermes_store::sessions::{
    COMMAND_LINE, LiveSession, Owner, SessionId, SessionStore, kept_name, name_in,
};

use crate::Result;
use crate::identity::Who;

/// Whether a transcript of ours was not looked at yet.
pub fn is_due(sessions: &SessionStore, store: &Memory, database: &str) -> Result<bool> {
    let is_ours = sessions.layout().owner() == Owner::Ours;
    Ok(is_ours && store.read_note(Admin, &key(database))?.is_none())
}

/// Marks the sessions that name a user by name; returns how many there were. The memory tells: a session whose words are
/// those of the user of that name, though nobody linked the id, was recorded by name.
pub(crate) fn put_right(
    sessions: &mut SessionStore,
    store: &mut Memory,
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

/// Who talks in a session; in a group never nobody.
pub(crate) fn who(session: &LiveSession) -> Option<Who<'_>> {
    let chat = match session.chat_type.as_deref() {
        None | Some("dm" | "direct" | "private") => Chat::Direct,
        Some(_) => Chat::Group,
    };
    let channel = session.source.as_str();
    let native_id = match (session.user_id.as_deref(), chat) {
        (Some(id), _) if channel != COMMAND_LINE && name_in(channel, id).is_some() => {
            return name_in(channel, id).map(Who::named);
        }
        (Some(id), _) => id,
        (None, Chat::Direct) => return None,
        (None, Chat::Group) => session.chat_id.as_deref().unwrap_or(session.id.as_str()),
    };
    Some(Who { channel, native_id, chat })
}
