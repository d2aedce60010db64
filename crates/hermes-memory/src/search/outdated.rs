//! What replaced something is what is shown: words that no longer hold stand below what holds now.

use std::collections::HashSet;

use hermes_store::memory::{Fact, ItemKind, Memory, Message, Scope, Source};

use super::{Filter, Found, Item, Part, Question, Reading, load};
use crate::{Result, task};

/// A quote that is less of the part that was found than this share is not what was asked for.
const LEAST_SHARE: usize = 3;
const LONGEST_CHAIN: usize = 100;

/// Marks what no longer holds, and puts what holds now before it.
pub(super) fn settle(
    reading: &Reading<'_>,
    question: &Question<'_>,
    results: &mut Vec<Found>,
) -> Result<()> {
    if question.filter.as_of.is_some() {
        return Ok(());
    }
    let asked = stems(question.text);
    let mut stale = Vec::new();
    for found in results.iter_mut() {
        if let Some(heir) = heir_of(reading, found, &asked)? {
            found.superseded_by = Some(heir.id);
            stale.push((found.item.place(), heir));
        }
    }
    for (place, heir) in stale {
        let Some(at) = results.iter().position(|found| found.item.place() == place) else {
            continue;
        };
        lead(reading, question, results, at, &heir)?;
        let Some(at) = results.iter().position(|found| found.item.place() == place) else {
            continue;
        };
        let sources = reading.store.sources_of_fact(reading.scope, heir.id)?;
        lower(results, at, &sources, heir.id);
    }
    results.truncate(question.limit);
    Ok(())
}

/// The fact that holds in the place of everything that was drawn from an episode, if nothing of it
/// does; with it, how many bytes of the episode those words are.
pub(crate) fn heir_of_episode(
    store: &Memory,
    scope: Scope,
    episode: i64,
) -> Result<Option<(Fact, usize)>> {
    let drawn = store.facts_drawn_from(scope, episode)?;
    let ids: Vec<i64> = drawn.iter().map(|(fact, _)| *fact).collect();
    let heir = heir_of_all(store, scope, &ids)?;
    Ok(heir.map(|heir| (heir, quoted(&drawn))))
}

/// The fact that holds in the place of what a message said and the question asks for.
fn heir_of(reading: &Reading<'_>, found: &Found, asked: &HashSet<String>) -> Result<Option<Fact>> {
    let Reading { store, scope, .. } = *reading;
    let Item::Message { message, episode } = &found.item else { return Ok(None) };
    let mut drawn = store.facts_drawn_from(scope, episode.id)?;
    drawn.retain(|(_, source)| source.message == Some(message.key.get()));
    let is_all = drawn.iter().any(|(_, source)| source.quote.is_none());
    if drawn.is_empty() || (!is_all && quoted(&drawn) * LEAST_SHARE < found.best.len()) {
        return Ok(None);
    }
    let ids: Vec<i64> = drawn.iter().map(|(fact, _)| *fact).collect();
    let facts = store.facts(scope, &ids)?;
    if facts.iter().all(|fact| fact.superseded_by.is_some()) {
        return heir_of_all(store, scope, &ids);
    }
    // Of several things that a message says, the one that has most of the question's words is meant.
    let said = |fact: &Fact| stems(&fact.statement).intersection(asked).count();
    let meant = facts.iter().max_by_key(|fact| (said(fact), fact.superseded_by.is_none()));
    match meant.filter(|fact| said(fact) > 0 && fact.superseded_by.is_some()) {
        Some(meant) => heir_of_all(store, scope, &[meant.id]),
        None => Ok(None),
    }
}

/// The words of a text that say something, without the endings that change with person and number.
fn stems(text: &str) -> HashSet<String> {
    let stem = |word: String| {
        let plain = word.strip_suffix('s').filter(|rest| rest.len() > 2 && !rest.ends_with('s'));
        plain.map(str::to_owned).unwrap_or(word)
    };
    task::content_words(text).into_iter().map(stem).collect()
}

/// How long the words are that facts were drawn from.
fn quoted(drawn: &[(i64, Source)]) -> usize {
    drawn.iter().filter_map(|(_, source)| source.quote.as_ref()).map(String::len).sum()
}

/// What holds in the place of some facts; none if one of them still holds, or nothing came after.
fn heir_of_all(store: &Memory, scope: Scope, facts: &[i64]) -> Result<Option<Fact>> {
    let mut heir = None;
    for fact in store.facts(scope, facts)? {
        let mut next = fact.superseded_by;
        let mut last = None;
        for _ in 0..LONGEST_CHAIN {
            let Some(id) = next else { break };
            last = store.facts(scope, &[id])?.into_iter().next();
            next = last.as_ref().and_then(|fact| fact.superseded_by);
        }
        let holds = |fact: &Fact| fact.retired_at.is_none() && !fact.quarantined;
        match last.filter(holds) {
            Some(last) => heir = Some(last),
            None if fact.retired_at.is_none() => return Ok(None),
            None => {}
        }
    }
    Ok(heir)
}

/// Puts the fact that holds now at the place of what it replaced, where facts are asked for.
fn lead(
    reading: &Reading<'_>,
    question: &Question<'_>,
    results: &mut Vec<Found>,
    at: usize,
    heir: &Fact,
) -> Result<()> {
    let (score, relevance) = (results[at].score, results[at].relevance);
    let is_heir = |found: &Found| matches!(&found.item, Item::Fact(fact) if fact.id == heir.id);
    let mut found = match results.iter().position(is_heir) {
        Some(place) if place < at => return Ok(()),
        Some(place) => results.remove(place),
        None => {
            let is_wanted = question.kind.items().contains(&ItemKind::Fact);
            if !is_wanted || narrows(&question.filter) {
                return Ok(());
            }
            let Some(item) = load::fact(reading, question, heir.id)? else { return Ok(()) };
            let best = 0..heir.statement.len();
            let (parts, ways) = (results[at].parts.clone(), results[at].ways.clone());
            Found { item, score, relevance, parts, ways, best, superseded_by: None }
        }
    };
    found.score = found.score.max(score);
    found.relevance = found.relevance.max(relevance);
    results.insert(at, found);
    Ok(())
}

/// Puts a result below the fact that replaced it and below the words which that fact comes from.
fn lower(results: &mut Vec<Found>, at: usize, sources: &[Source], heir: i64) {
    let is_newer = |found: &Found| match &found.item {
        Item::Fact(fact) => fact.id == heir,
        Item::Message { message, .. } => is_source(message, sources),
        _ => false,
    };
    let Some(last) = results.iter().rposition(is_newer).filter(|last| *last > at) else { return };
    let mut found = results.remove(at);
    let above = results[last - 1].score;
    if found.score > above && found.score > 0.0 {
        found.parts.push(Part { name: "superseded", value: above / found.score });
        found.score = above;
    }
    results.insert(last, found);
}

fn is_source(message: &Message, sources: &[Source]) -> bool {
    sources.iter().any(|source| source.message == Some(message.key.get()))
}

/// Whether a question asks for a part of what is remembered.
fn narrows(filter: &Filter<'_>) -> bool {
    let Filter { session, channel, project, source, entity, since, until, .. } = filter;
    let is_asked = [session, channel, project, source, entity].iter().any(|word| word.is_some());
    is_asked || since.is_some() || until.is_some()
}
