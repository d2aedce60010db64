//! The entries of facts that are erased go with every kept version that holds them.

use hermes_home::memory_file::{self, Entry, Selector, edit};
use hermes_home::versions;
use hermes_store::memory::{Change, Memory, Scope};
use serde::Serialize;

use super::follow::says_the_same;
use super::write::hash;
use super::{Place, Rules};
use crate::Result;

/// What was removed from the memory files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Erased {
    /// Entries that were taken out.
    pub entries: u64,
    /// Kept versions of the files that held them.
    pub versions: u64,
    /// Entries that a person changed since: they stay.
    pub left: u64,
}

impl Erased {
    /// Counts what was removed for another user.
    pub fn add(&mut self, other: Erased) {
        self.entries += other.entries;
        self.versions += other.versions;
        self.left += other.left;
    }
}

/// Takes the entries of facts out of a user's files and out of their kept versions, whatever
/// `auto_write` says: who erases has agreed. To be called before the facts themselves go.
pub fn erase_entries(
    store: &Memory,
    scope: Scope,
    facts: &[i64],
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<Erased> {
    let mut erased = Erased::default();
    for place in Place::all(store, scope)? {
        let mut texts = Vec::new();
        for link in store.file_entries(scope)? {
            if link.file != place.label || !facts.contains(&link.fact) {
                continue;
            }
            let said = texts_of(store, scope, link.fact)?;
            let file = memory_file::read(rules.home, &place.target, place.rules(rules))?;
            let is_meant = |entry: &&Entry| {
                hash(&entry.text) == link.entry
                    || said.iter().any(|text| says_the_same(text, &entry.text))
            };
            match file.document.entries().iter().find(is_meant) {
                Some(entry) => {
                    take_out(entry, &place, rules, change)?;
                    texts.push(entry.text.clone());
                    erased.entries += 1;
                }
                None => erased.left += 1,
            }
            texts.extend(said);
        }
        for fact in facts {
            texts.extend(texts_of(store, scope, *fact)?);
        }
        erased.versions += versions::erase(rules.home, &place.target, &texts)? as u64;
    }
    Ok(erased)
}

fn take_out(entry: &Entry, place: &Place, rules: &Rules<'_>, change: Change<'_>) -> Result<()> {
    let context =
        memory_file::Context { rules: place.rules(rules), now: change.at, reason: "erased" };
    let selector = Selector::Text(entry.text.clone());
    memory_file::change(rules.home, &place.target, &context, |document| {
        edit::remove(document, &selector)
    })?;
    Ok(())
}

/// What a fact says and said.
fn texts_of(store: &Memory, scope: Scope, fact: i64) -> Result<Vec<String>> {
    let found = store.facts(scope, &[fact])?;
    let mut texts: Vec<String> = found.into_iter().map(|fact| fact.statement).collect();
    if !texts.is_empty() {
        let earlier = store.revisions_of_fact(scope, fact)?;
        texts.extend(earlier.into_iter().map(|revision| revision.text));
    }
    Ok(texts)
}
