//! Write an entry, read it back, and link it to its fact.

use std::collections::HashMap;

use hermes_home::memory_file::edit::NewEntry;
use hermes_home::memory_file::{self, Document, Entry};
use hermes_store::memory::{Fact, FileEntry, Memory, NewFact, Origin, Scope, Trust};
use sha2::{Digest, Sha256};

use super::room::{self, Use};
use super::step::Step;
use super::{Place, Writing, Written};
use crate::chunk::{self, Words};
use crate::{Error, Result};

/// The hash by which an entry is known again.
pub(crate) fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

impl Writing<'_> {
    /// Writes an entry; none if there is no room and none can be made.
    pub(super) fn entry(
        &mut self,
        place: &Place,
        text: &str,
        fact: i64,
    ) -> Result<Option<Written>> {
        let (rules, now) = (self.rules, self.change.at);
        let file_rules = place.rules(rules);
        let new = NewEntry { text, section: None, written: Some(rules.today) };
        let before = memory_file::read(rules.home, &place.target, file_rules)?.document;
        let links = links(self.store, self.scope, place)?;
        let of = |entry: &Entry| of_use(entry, &links);
        let Some(leaving) = room::plan(&before, &new, file_rules.limit, &of)? else {
            return Ok(None);
        };
        // First the facts: whatever a crash leaves undone, nothing is lost.
        for entry in &leaving {
            self.keep_as_fact(place, entry, &links)?;
        }
        let reason = Step::Remember(fact).reason();
        let context = memory_file::Context { rules: file_rules, now, reason: &reason };
        let outcome = memory_file::change(rules.home, &place.target, &context, |document| {
            room::edited(document, &new, &leaving)
        })?;
        let written = outcome.entry.map(|entry| entry.text).unwrap_or_default();
        let after = memory_file::read(rules.home, &place.target, file_rules)?;
        if !holds(&after.document, &written) {
            return Err(Error::NotReadBack { path: outcome.path });
        }
        let link = FileEntry { fact, file: place.label.clone(), entry: hash(&written) };
        self.store.link_file_entry(self.scope, &link, now)?;
        Ok(Some(Written {
            path: outcome.path,
            entry: written,
            fact,
            is_new: outcome.changed,
            moved: leaving.into_iter().map(|entry| entry.text).collect(),
        }))
    }

    /// Sees to it that what an entry says is a fact before it leaves the file.
    fn keep_as_fact(
        &mut self,
        place: &Place,
        entry: &Entry,
        links: &HashMap<[u8; 32], Fact>,
    ) -> Result<()> {
        let known = links.get(&hash(&entry.text));
        if known.is_some_and(|fact| fact.retired_at.is_none()) {
            return Ok(());
        }
        let words = Words { text: &entry.text, ..Words::default() };
        let fact = NewFact {
            statement: &entry.text,
            kind: "fact",
            subject: None,
            predicate: None,
            object: None,
            confidence: 0.9,
            origin: Origin::User,
            trust: Trust::User,
            valid_from: None,
            valid_to: None,
            // MEMORY.md is read by all, and so is what was in it.
            shared: place.label == "memory",
            entities: &crate::task::names(&entry.text),
            sources: &[],
            chunks: chunk::prepare(&words, self.rules.vectors),
        };
        self.store.add_fact(self.scope, &fact, self.change)?;
        Ok(())
    }
}

fn holds(document: &Document, text: &str) -> bool {
    !text.is_empty() && document.entries().iter().any(|entry| entry.text == text)
}

/// The facts that the entries of a file say the same as.
pub(crate) fn links(
    store: &Memory,
    scope: Scope,
    place: &Place,
) -> Result<HashMap<[u8; 32], Fact>> {
    let entries = store.file_entries(scope)?;
    let own: Vec<&FileEntry> = entries.iter().filter(|link| link.file == place.label).collect();
    let ids: Vec<i64> = own.iter().map(|link| link.fact).collect();
    let facts: HashMap<i64, Fact> =
        store.facts(scope, &ids)?.into_iter().map(|fact| (fact.id, fact)).collect();
    Ok(own.iter().filter_map(|link| Some((link.entry, facts.get(&link.fact)?.clone()))).collect())
}

/// What a person wrote by hand, without a date, stays; so does what is pinned.
fn of_use(entry: &Entry, links: &HashMap<[u8; 32], Fact>) -> Use {
    match links.get(&hash(&entry.text)) {
        Some(fact) if fact.pinned => Use::Stays,
        Some(fact) => Use::Uses(fact.uses),
        None if entry.written.is_some() => Use::Uses(0),
        None => Use::Stays,
    }
}
