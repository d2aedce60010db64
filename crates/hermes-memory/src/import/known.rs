//! Whether a message is here already: by its id, in a session it was copied from, or recorded when it was said.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hermes_import::Message;
use hermes_store::memory::Memory;

use super::{Settings, session_id};
use crate::Result;
use crate::record::ready::Ready;

/// What is known of the sessions that were met.
#[derive(Default)]
pub(super) struct Known {
    /// For each session: how often each thing was said in it before; none if the session is new.
    sessions: HashMap<String, Option<HashMap<u64, u32>>>,
}

impl Known {
    /// Whether a message is here. Each thing that was said before stands for one message: hooks record
    /// under ids of their own what a transcript holds too.
    pub(super) fn is_known(
        &mut self,
        store: &Memory,
        settings: &Settings<'_>,
        message: &Message,
        ready: &Ready,
    ) -> Result<bool> {
        let came_from = |session: &str| {
            let named = (message.id.as_str(), None);
            store.message_by_origin(settings.scope, settings.source, session, named)
        };
        for kin in &message.session.kin {
            if came_from(kin)?.is_some() {
                return Ok(true);
            }
        }
        let id = session_id(message);
        if !self.sessions.contains_key(&id) {
            let said = said_before(store, settings, &id)?;
            self.sessions.insert(id.clone(), said);
        }
        let Some(Some(said)) = self.sessions.get_mut(&id) else { return Ok(false) };
        let mut take = |text: &str| {
            said.get_mut(&print(&ready.role, text)).is_some_and(|left| {
                let is_left = *left > 0;
                *left = left.saturating_sub(1);
                is_left
            })
        };
        let was_said = take(&ready.text) || ready.said.as_deref().is_some_and(take);
        Ok(came_from(&id)?.is_some() || was_said)
    }
}

fn said_before(
    store: &Memory,
    settings: &Settings<'_>,
    session_id: &str,
) -> Result<Option<HashMap<u64, u32>>> {
    let scope = settings.scope;
    let parts = store.sessions_named(scope, session_id)?;
    if parts.is_empty() {
        return Ok(None);
    }
    let mut said = HashMap::new();
    for part in parts {
        for episode in store.episodes_of(scope, part.key)? {
            for message in store.messages_of(scope, &episode)? {
                *said.entry(print(&message.role, &message.text)).or_default() += 1;
            }
        }
    }
    Ok(Some(said))
}

fn print(role: &str, text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (role, text.trim()).hash(&mut hasher);
    hasher.finish()
}
