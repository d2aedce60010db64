//! A session read whole from the memory, in portions that fit.

use hermes_store::memory::{EpisodeState, Memory, Scope, Session};

use super::retries;
use super::work::Talk;
use crate::Result;

/// More messages than this of one session are not looked at; the last ones tell how it went.
const MOST_MESSAGES: usize = 2000;

/// The messages and tool calls of a session that are still there.
pub(crate) fn read(store: &Memory, scope: Scope, session: &Session) -> Result<Talk> {
    let mut talk = Talk {
        session: session.clone(),
        messages: Vec::new(),
        steps: Vec::new(),
        asked_again: retries::read(store, scope, session)?,
        imported: false,
    };
    for episode in store.episodes_of(scope, session.key)? {
        if episode.state != EpisodeState::Raw || episode.session != session.key {
            continue;
        }
        talk.imported |= episode.imported;
        talk.messages.extend(store.messages_of(scope, &episode)?);
        talk.steps.extend(store.steps_of(scope, &episode)?);
    }
    let skipped = talk.messages.len().saturating_sub(MOST_MESSAGES);
    talk.messages.drain(..skipped);
    Ok(talk)
}
