//! Facts about the names in the task, and facts that answer it.

use std::collections::HashMap;

use hermes_store::memory::{Entity, Fact, ItemKind};
use jiff::Timestamp;

use super::{Asking, Candidate, Found, Pass, Section, Thing};
use crate::search::{Item, Kind, Part};
use crate::{Result, chunk, task};

/// How many facts of one name are looked at, newest first.
const MOST_FACTS_PER_NAME: usize = 200;
/// How many facts a search may bring.
const MOST_FOUND: usize = 20;
/// How sure we are that a fact about one name in the task belongs to it, and what each further adds.
const ONE_NAME: f64 = 0.7;
const FURTHER_NAME: f64 = 0.1;

/// Facts about the names in the task, and, if it says enough to search for, facts that answer it.
pub(super) fn pass(asking: &Asking<'_>, found: &mut Found) -> Result<()> {
    let entities = names_known(asking, &found.names)?;
    for entity in &entities {
        if !found.names.contains(&entity.name) {
            found.names.push(entity.name.clone());
        }
    }
    let mut places: HashMap<i64, usize> = HashMap::new();
    let mut about: Vec<(i64, Vec<&str>)> = Vec::new();
    for entity in &entities {
        asking.reading.store.still_wanted()?;
        let ids = asking.reading.store.mentions(
            asking.reading.scope,
            entity,
            ItemKind::Fact,
            MOST_FACTS_PER_NAME,
        )?;
        for id in ids {
            let place = *places.entry(id).or_insert(about.len());
            match about.get_mut(place) {
                Some((_, names)) => names.push(&entity.name),
                None => about.push((id, vec![&entity.name])),
            }
        }
    }
    let ids: Vec<i64> = about.iter().map(|(id, _)| *id).collect();
    let facts = asking.reading.store.facts(asking.reading.scope, &ids)?;
    for fact in facts.iter().filter(|fact| holds(fact, asking.reading.now)) {
        let place = places.get(&fact.id).and_then(|place| about.get(*place));
        let names = place.map_or(&[][..], |(_, names)| &names[..]);
        found.candidates.push(tagged(asking, fact, names));
    }
    if task::says_little(asking.request.task) { Ok(()) } else { searched(asking, found) }
}

/// Whether a fact is true now, held, and not suspect.
pub(super) fn holds(fact: &Fact, now: Timestamp) -> bool {
    fact.retired_at.is_none()
        && fact.superseded_by.is_none()
        && !fact.quarantined
        && fact.valid_from.is_none_or(|from| from <= now)
        && fact.valid_to.is_none_or(|to| to > now)
}

/// The names of the task that the memory knows, each once.
fn names_known(asking: &Asking<'_>, names: &[String]) -> Result<Vec<Entity>> {
    let mut known = asking.reading.store.entities_in(asking.reading.scope, asking.request.task)?;
    for name in names {
        if let Some(entity) = asking.reading.store.entity(asking.reading.scope, name)?
            && known.iter().all(|other| other.id != entity.id)
        {
            known.push(entity);
        }
    }
    Ok(known)
}

fn tagged(asking: &Asking<'_>, fact: &Fact, names: &[&str]) -> Candidate {
    let further = names.len().saturating_sub(1) as f64;
    let relevance = (ONE_NAME + FURTHER_NAME * further).min(1.0);
    let evidence = vec![Part { name: "name", value: relevance }];
    candidate(asking, fact, relevance, evidence, format!("about {}", names.join(" and ")))
}

fn searched(asking: &Asking<'_>, found: &mut Found) -> Result<()> {
    for result in asking.search(Kind::Facts, MOST_FOUND, &mut found.notes)?.results {
        let Item::Fact(fact) = &result.item else { continue };
        if !holds(fact, asking.reading.now) {
            continue;
        }
        let (relevance, evidence) = (result.relevance, result.parts.clone());
        let candidate = candidate(asking, fact, relevance, evidence, "answers the task".to_owned());
        found.propose(candidate, relevance, asking);
    }
    Ok(())
}

/// A fact as it would be shown.
pub(super) fn candidate(
    asking: &Asking<'_>,
    fact: &Fact,
    relevance: f64,
    evidence: Vec<Part>,
    reason: String,
) -> Candidate {
    let since = fact.valid_from.unwrap_or(fact.recorded_at);
    Candidate {
        thing: Thing {
            name: format!("fact:{:03}", fact.id),
            section: Section::Facts,
            key: Some((ItemKind::Fact, fact.id)),
            head: chunk::written_day(chunk::day_of(since, asking.reading.zone)),
            text: fact.statement.clone(),
            short: None,
            at: Some(fact.recorded_at),
            weight: f64::midpoint(1.0, fact.confidence.clamp(0.0, 1.0)),
            trust: fact.trust,
        },
        pass: Pass::Entity,
        relevance: Some(relevance),
        evidence,
        reason,
    }
}
