//! What the user asked to remember in so many words is kept at once, while the session goes on.

use hermes_store::memory::{Memory, Scope};

use super::run::{Item, Run, Settings};
use crate::Result;
use crate::remember::{Followed, Remembered};

/// What came of the wishes in a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AtOnce {
    /// What is written, waits, or was taken back before.
    pub remembered: Vec<Remembered>,
    /// Entries that say something else now, because what they said no longer holds.
    pub followed: Vec<Followed>,
}

/// Keeps what was asked for in so many words in the last episode of a session. Everything else in it is drawn
/// when the session is over, and then nothing comes twice.
pub fn at_once(
    store: &mut Memory,
    scope: Scope,
    session_id: &str,
    settings: &Settings<'_>,
) -> Result<AtOnce> {
    let Some(session) = store.sessions_named(scope, session_id)?.into_iter().next_back() else {
        return Ok(AtOnce::default());
    };
    let Some(episode) = store.episodes_of(scope, session.key)?.into_iter().next_back() else {
        return Ok(AtOnce::default());
    };
    let mut run = Run::new(store, settings);
    let read = run.read(episode)?;
    let mut has_wishes = false;
    for (message, facts) in read.found() {
        for found in facts.iter().filter(|found| found.is_explicit) {
            let item = Item::by_rules(&read, message, found);
            let fact = if item.is_kept() { run.keep(&item)? } else { None };
            run.wish(&item, fact);
            has_wishes = true;
        }
    }
    if !has_wishes {
        return Ok(AtOnce::default());
    }
    let followed = run.follow(scope)?;
    let wishes = std::mem::take(&mut run.wishes);
    let remembered = run.write(&read, wishes)?;
    Ok(AtOnce { remembered, followed })
}
