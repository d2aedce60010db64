//! Facts of other memories: the user's own, private, each once.

use hermes_import::Fact;
use hermes_store::memory::{
    Change, Drawn, DrawnFact, Memory, NewFact, NewSource, Origin, OriginId, Standing, Trust,
};

use super::{Settings, Taken};
use crate::chunk::{self, Words};
use crate::remember::suspect;
use crate::{Result, task};

/// How sure we are of a fact whose memory does not say.
const USUAL_CONFIDENCE: f64 = 0.9;

/// Keeps facts in one transaction.
pub(super) fn keep(
    store: &mut Memory,
    settings: &Settings<'_>,
    facts: &[Fact],
    taken: &mut Taken,
    change: Change<'_>,
) -> Result<()> {
    let names: Vec<Vec<String>> = facts.iter().map(names).collect();
    let extractor = format!("import:{}", settings.source);
    let sources = [NewSource { extractor: Some(&extractor), ..NewSource::default() }];
    let drawn: Vec<_> = facts
        .iter()
        .zip(&names)
        .map(|(fact, names)| {
            let words = Words { text: fact.text.trim(), ..Words::default() };
            let new = NewFact {
                statement: fact.text.trim(),
                kind: fact.kind.unwrap_or("fact"),
                subject: fact.subject.as_deref(),
                predicate: None,
                object: None,
                confidence: fact.confidence.unwrap_or(USUAL_CONFIDENCE).clamp(0.0, 1.0),
                origin: Origin::Import,
                trust: trust_of(&fact.text),
                valid_from: fact.at,
                valid_to: fact.until.filter(|until| fact.at.is_none_or(|at| at < *until)),
                shared: false,
                entities: names,
                sources: &sources,
                chunks: chunk::prepare(&words, settings.vectors),
            };
            let said_at = fact.at.unwrap_or(settings.now);
            let drawn =
                DrawnFact { fact: new, standing: Standing::New, said_at, is_explicit: false };
            (OriginId { source: settings.source, external_id: &fact.id }, drawn)
        })
        .collect();
    for drawn in store.take_in_facts(settings.scope, &drawn, change)? {
        match drawn {
            Drawn::New(_) => taken.facts += 1,
            Drawn::Known(_) => taken.known_facts += 1,
            Drawn::Buried => taken.forgotten += 1,
        }
    }
    Ok(())
}

/// Whether a fact came before.
pub(super) fn is_known(store: &Memory, settings: &Settings<'_>, fact: &Fact) -> Result<bool> {
    let origin = OriginId { source: settings.source, external_id: &fact.id };
    Ok(store.fact_by_origin(settings.scope, origin)?.is_some())
}

/// The user's own memory is the user's word, but for what reads like an order to a model.
fn trust_of(text: &str) -> Trust {
    if suspect::suspicion(text).is_some() { Trust::Untrusted } else { Trust::User }
}

fn names(fact: &Fact) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let given = fact.names.iter().map(|name| name.trim().to_owned());
    for name in given.filter(|name| !name.is_empty()).chain(task::names(&fact.text)) {
        if names.iter().all(|known| known.to_lowercase() != name.to_lowercase()) {
            names.push(name);
        }
    }
    names
}
