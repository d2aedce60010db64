//! Take the last thing that was remembered back: its entry and its fact together.

use std::path::PathBuf;

use hermes_home::memory_file::{self, Document, Entry, Selector, WholeText, edit};
use hermes_home::versions::{self, Version};
use hermes_store::memory::{Change, Fact, FileEntry, MemoryStore, Origin, Scope};
use jiff::Timestamp;
use serde::Serialize;

use super::write::{fact_of_reason, hash};
use super::{Place, Rules};
use crate::Result;
use crate::chunk::{self, Words};

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TakenBack {
    /// The file it was in.
    pub path: PathBuf,
    /// The entry.
    pub entry: String,
    /// The fact that said the same.
    pub fact: i64,
    /// Whether the fact is retired now; one that a person had added stays.
    pub is_fact_retired: bool,
    /// Entries that are back in the file because there is room for them again.
    pub back: Vec<String>,
}

/// Takes back what was remembered last in the files of a user; none if there is nothing left.
pub fn undo(
    store: &mut dyn MemoryStore,
    scope: Scope,
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<Option<TakenBack>> {
    let Some(last) = last(store, scope, rules)? else { return Ok(None) };
    // The fact first: if the rest fails, the entry and its link are still there to be undone.
    let is_fact_retired = retire(store, scope, (last.fact, rules), change)?;
    let back = remove(rules, &last, change.at)?;
    store.unlink_file_entry(scope, last.fact, &last.place.label)?;
    Ok(Some(TakenBack {
        path: rules.home.memory_file(&last.place.target),
        entry: last.entry.text,
        fact: last.fact,
        is_fact_retired,
        back,
    }))
}

/// The last thing that was remembered and is still there.
struct Last {
    place: Place,
    entry: Entry,
    fact: i64,
    at: Timestamp,
    /// The hash of the file with it, and without it, if nothing was changed since.
    untouched: Option<(String, String)>,
}

fn last(store: &dyn MemoryStore, scope: Scope, rules: &Rules<'_>) -> Result<Option<Last>> {
    let links = store.file_entries(scope)?;
    let mut newest: Option<Last> = None;
    for place in Place::all(store, scope)? {
        let file = memory_file::read(rules.home, &place.target, place.rules(rules))?;
        let versions = versions::list(rules.home, &place.target)?;
        let found = in_file(&place, (&file.document, &versions), &links);
        if let Some(found) = found
            && newest.as_ref().is_none_or(|known| known.at < found.at)
        {
            newest = Some(found);
        }
    }
    Ok(newest)
}

/// The newest version that an entry came with which is in the file and linked to its fact.
fn in_file(
    place: &Place,
    (document, versions): (&Document, &[Version]),
    links: &[FileEntry],
) -> Option<Last> {
    versions.iter().enumerate().find_map(|(number, version)| {
        let fact = fact_of_reason(&version.reason)?;
        let link = links.iter().find(|link| link.fact == fact && link.file == place.label)?;
        let entry = document.entries().iter().find(|entry| hash(&entry.text) == link.entry)?;
        let before = versions.get(number + 1).filter(|_| version.current);
        Some(Last {
            place: place.clone(),
            entry: entry.clone(),
            fact,
            at: version.at,
            untouched: before.map(|before| (version.hash.clone(), before.hash.clone())),
        })
    })
}

/// Takes the entry out; if nothing was changed since, the file is what it was before, byte for byte.
fn remove(rules: &Rules<'_>, last: &Last, now: Timestamp) -> Result<Vec<String>> {
    let (home, target) = (rules.home, &last.place.target);
    let reason = format!("undo fact:{}", last.fact);
    let context = memory_file::Context { rules: last.place.rules(rules), now, reason: &reason };
    if let Some((with, without)) = &last.untouched
        && let Ok(text) = String::from_utf8(versions::content(home, without)?)
    {
        let before = memory_file::read(home, target, context.rules)?.document;
        let whole = WholeText { text: &text, expected_hash: with };
        let after = memory_file::replace_whole(home, target, &context, &whole)?.document;
        let is_back = |entry: &&Entry| before.entries().iter().all(|old| old.text != entry.text);
        return Ok(after
            .entries()
            .iter()
            .filter(is_back)
            .map(|entry| entry.text.clone())
            .collect());
    }
    let selector = Selector::Text(last.entry.text.clone());
    memory_file::change(home, target, &context, |document| edit::remove(document, &selector))?;
    Ok(Vec::new())
}

/// Retires the fact, or brings back what it had taken the place of.
fn retire(
    store: &mut dyn MemoryStore,
    scope: Scope,
    (id, rules): (i64, &Rules<'_>),
    change: Change<'_>,
) -> Result<bool> {
    let is_ours = |fact: &&Fact| fact.origin != Origin::User && fact.retired_at.is_none();
    let found = store.facts(scope, &[id])?;
    let Some(fact) = found.iter().find(is_ours) else {
        return Ok(found.iter().any(|fact| fact.retired_at.is_some()));
    };
    let counts = ["fact.add", "fact.succeed", "fact.edit", "fact.restore"];
    let history = store.history_of_fact(scope, fact.id)?;
    let last = history.iter().rev().find(|one| counts.contains(&one.action.as_str()));
    if last.is_some_and(|one| one.action == "fact.succeed") {
        let vectors = rules.vectors;
        let chunks = |text: &str| chunk::prepare(&Words { text, ..Words::default() }, vectors);
        store.undo_fact(scope, fact.id, &chunks, change)?;
    } else {
        store.retire_fact(scope, fact.id, change)?;
    }
    Ok(true)
}
