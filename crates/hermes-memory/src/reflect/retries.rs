//! An answer that was not wanted: its question was asked again in its place, which the transcript no longer shows.

use hermes_store::memory::{
    Change, EventKind, Memory, NewEvent, NewSource, OriginId, Scope, Session, Trust,
};
use jiff::tz::TimeZone;

use super::sentences::shorten;
use crate::Result;
use crate::chunk::{self, Vectors, Words};

/// What noted it, in the sources of the event.
const EXTRACTOR: &str = "retry";

/// A question that was asked again.
pub struct Retry<'a> {
    /// The session.
    pub session_id: &'a str,
    /// The question.
    pub question: &'a str,
    /// The zone in which the asker's days begin.
    pub zone: &'a TimeZone,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
}

/// Notes in the log of a session that a question was asked again.
pub fn note(store: &mut Memory, scope: Scope, retry: &Retry<'_>, change: Change<'_>) -> Result<()> {
    let Retry { session_id, question, zone, vectors } = *retry;
    let Some(session) = store.sessions_named(scope, session_id)?.into_iter().next_back() else {
        return Ok(());
    };
    let text = format!("asked again: {}", shorten(question, 120));
    let words =
        Words { text: &text, day: Some(chunk::day_of(change.at, zone)), ..Words::default() };
    let source = NewSource {
        episode: None,
        message: None,
        quote: Some(question),
        extractor: Some(EXTRACTOR),
    };
    let external_id = format!("{session_id}/{EXTRACTOR}/{}", change.at.as_millisecond());
    let event = NewEvent {
        at: change.at,
        kind: EventKind::Failure,
        text: &text,
        why: Some("the answer was not wanted"),
        trust: Trust::User,
        shared: false,
        entities: &[],
        chunks: chunk::prepare(&words, vectors),
        session: Some(session.key),
        sources: &[source],
        origin: Some(OriginId { source: EXTRACTOR, external_id: &external_id }),
    };
    store.add_event(scope, &event, change)?;
    Ok(())
}

/// The questions of a session that were asked again.
pub(super) fn read(store: &Memory, scope: Scope, session: &Session) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for event in store.events_of_session(scope, session.key, Some(EventKind::Failure))? {
        let sources = store.sources_of_event(scope, event.id)?;
        let noted = sources.into_iter().filter(|one| one.extractor.as_deref() == Some(EXTRACTOR));
        found.extend(noted.filter_map(|one| one.quote));
    }
    Ok(found)
}
