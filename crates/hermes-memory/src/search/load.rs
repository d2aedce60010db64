//! From numbers to things: the filter of a question, and the items that pass it.

use hermes_store::memory::{ChunkKey, ItemKind, RecallFilter, SessionChoice};
use jiff::Timestamp;

use super::named::Named;
use super::{Item, Question, Reading};
use crate::Result;

/// What the store is asked to leave out from the start.
pub(super) fn recall_filter(
    reading: &Reading<'_>,
    question: &Question<'_>,
) -> Result<RecallFilter> {
    let (Reading { store, scope, .. }, filter) = (*reading, &question.filter);
    let narrows = filter.session.is_some()
        || filter.channel.is_some()
        || filter.since.is_some()
        || filter.until.is_some();
    let kinds = question.kind.items().to_vec();
    let mut recall = RecallFilter { kinds, ..RecallFilter::default() };
    if narrows {
        let choice = SessionChoice {
            session_id: filter.session,
            channel: filter.channel,
            since: filter.since,
            until: filter.until,
        };
        recall.sessions = Some(store.sessions(scope, &choice)?);
        // Only conversations have a session or a channel; a time everything has.
        recall.only_messages = filter.session.is_some() || filter.channel.is_some();
    }
    recall.only_messages |= filter.project.is_some();
    if let Some(session) = filter.except_session {
        let choice = SessionChoice { session_id: Some(session), ..SessionChoice::default() };
        recall.without_sessions = store.sessions(scope, &choice)?;
    }
    Ok(recall)
}

/// Loads what was found for a question.
pub(super) struct Loader<'a> {
    reading: &'a Reading<'a>,
    question: &'a Question<'a>,
    named: Option<Named<'a>>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(reading: &'a Reading<'a>, question: &'a Question<'a>) -> Loader<'a> {
        let named = |name| Named::new(reading.store, reading.scope, name);
        Loader { reading, question, named: question.filter.entity.map(named) }
    }

    /// The thing a chunk belongs to, if it still holds and passes the question's filter.
    pub(super) fn item(&self, key: ChunkKey) -> Result<Option<Item>> {
        let Some(item) = self.held(key)? else { return Ok(None) };
        if !is_in_time(&item, self.question) || !is_from(&item, self.question) {
            return Ok(None);
        }
        let is_named = self.named.as_ref().map_or(Ok(true), |name| name.is_in(item.text(), key))?;
        Ok(is_named.then_some(item))
    }

    fn held(&self, key: ChunkKey) -> Result<Option<Item>> {
        let Reading { store, scope, .. } = *self.reading;
        Ok(match key.kind() {
            Some(ItemKind::Message) => message(self.reading, key)?,
            Some(ItemKind::Fact) => fact(self.reading, self.question, key.item())?,
            Some(ItemKind::Procedure) => {
                let held = store.procedures(scope, &[key.item()])?.into_iter().next();
                held.filter(|held| held.retired_at.is_none() && !held.quarantined)
                    .map(Item::Procedure)
            }
            Some(ItemKind::Event) => {
                let held = store.events(scope, &[key.item()])?.into_iter().next();
                held.filter(|held| held.retired_at.is_none() && !held.quarantined).map(Item::Event)
            }
            Some(ItemKind::Summary) => summary(self.reading, key.item())?,
            None => None,
        })
    }
}

fn message(reading: &Reading<'_>, key: ChunkKey) -> Result<Option<Item>> {
    let Reading { store, scope, .. } = *reading;
    let Some(message) = store.messages(scope, &[key.message()])?.into_iter().next() else {
        return Ok(None);
    };
    let episode = store.episodes(scope, &[message.episode])?.into_iter().next();
    Ok(episode.map(|episode| Item::Message { message, episode }))
}

fn summary(reading: &Reading<'_>, id: i64) -> Result<Option<Item>> {
    let episode = reading.store.episodes(reading.scope, &[id])?.into_iter().next();
    Ok(episode.filter(|episode| episode.body.is_some()).map(Item::Summary))
}

/// A fact that holds at the time that is asked for.
pub(super) fn fact(
    reading: &Reading<'_>,
    question: &Question<'_>,
    id: i64,
) -> Result<Option<Item>> {
    let at = question.filter.as_of.unwrap_or(reading.now);
    let held = reading.store.facts(reading.scope, &[id])?.into_iter().next();
    let holds = |fact: &hermes_store::memory::Fact| {
        let known = question.filter.as_of.is_none_or(|at| fact.recorded_at <= at);
        let not_retired =
            fact.retired_at.is_none_or(|retired| question.filter.as_of.is_some() && retired > at);
        known
            && not_retired
            && !fact.quarantined
            && fact.valid_from.is_none_or(|from| from <= at)
            && fact.valid_to.is_none_or(|to| to > at)
    };
    Ok(held.filter(holds).map(Item::Fact))
}

fn is_in_time(item: &Item, question: &Question<'_>) -> bool {
    let at: Timestamp = match item {
        Item::Message { message, .. } => message.at,
        Item::Summary(episode) => episode.started_at,
        Item::Fact(fact) => fact.recorded_at,
        Item::Procedure(procedure) => procedure.recorded_at,
        Item::Event(event) => event.at,
    };
    let known = question.filter.as_of.is_none_or(|as_of| at <= as_of);
    known
        && question.filter.since.is_none_or(|since| at >= since)
        && question.filter.until.is_none_or(|until| at < until)
}

/// Whether it comes from where it should, and belongs to the project.
fn is_from(item: &Item, question: &Question<'_>) -> bool {
    let filter = &question.filter;
    let is_in = |wanted: &str| {
        let wanted = wanted.trim_end_matches('/');
        item.project().is_some_and(|project| {
            project == wanted
                || project.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('/'))
        })
    };
    filter.project.is_none_or(is_in) && filter.source.is_none_or(|from| item.source() == Some(from))
}
