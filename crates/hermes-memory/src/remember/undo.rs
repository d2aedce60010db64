//! Take the last thing that was remembered back: its entry and its fact together.

use std::path::PathBuf;

use hermes_home::memory_file::{self, Document, Entry, Selector, WholeText, edit};
use hermes_home::versions::{self, Version};
use hermes_store::memory::{Change, Fact, FileEntry, Memory, Origin, Scope};
use jiff::Timestamp;
use serde::Serialize;

use super::step::Step;
use super::write::hash;
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
    /// Whether a deletion was taken back: the entry and its fact are there again.
    pub is_restored: bool,
    /// Whether the fact is retired now; one that a person had added stays.
    pub is_fact_retired: bool,
    /// What the entry says again, where it had only got another text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<String>,
    /// The fact that is current again, because what had taken its place is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<i64>,
    /// Entries that are back in the file because there is room for them again.
    pub back: Vec<String>,
}

/// Takes back what was remembered last in the files of a user; none if there is nothing left.
pub fn undo(
    store: &mut Memory,
    scope: Scope,
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<Option<TakenBack>> {
    let Some(last) = last(store, scope, rules)? else { return Ok(None) };
    let fact = last.step.fact();
    if let Step::Withdraw(_) = last.step {
        return restore(store, scope, &last, rules, change).map(Some);
    }
    // The fact first: if the rest fails, the entry and its link are still there to be undone.
    let (is_fact_retired, now) = take_back(store, scope, last.step, rules, change)?;
    let owner = match last.step {
        Step::Edit(_) | Step::Replace { .. } => now.as_ref().map(|fact| fact.id),
        _ => None,
    };
    let text = now.as_ref().filter(|_| owner.is_some()).map(|fact| fact.statement.as_str());
    let mut back = put_back(rules, &last, text, change.at)?;
    store.unlink_file_entry(scope, fact, &last.place.label)?;
    let mut earlier = None;
    if let Some(owner) = owner.filter(|_| !back.is_empty()) {
        let entry = back.remove(0);
        let file = last.place.label.clone();
        let link = FileEntry { fact: owner, file, entry: hash(&entry) };
        store.link_file_entry(scope, &link, change.at)?;
        earlier = Some(entry);
    }
    Ok(Some(TakenBack {
        path: rules.home.memory_file(&last.place.target),
        entry: last.entry.map(|entry| entry.text).unwrap_or_default(),
        fact,
        is_restored: false,
        is_fact_retired,
        earlier,
        current: now.map(|fact| fact.id).filter(|id| *id != fact),
        back,
    }))
}

/// Brings a fact back that was deleted, and its entry.
fn restore(
    store: &mut Memory,
    scope: Scope,
    last: &Last,
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<TakenBack> {
    let fact = last.step.fact();
    store.restore_fact(scope, fact, change)?;
    let found = store.facts(scope, &[fact])?;
    let statement = found.first().map(|fact| fact.statement.clone()).unwrap_or_default();
    let mut back = put_back(rules, last, Some(&statement), change.at)?;
    let entry = if back.is_empty() { statement } else { back.remove(0) };
    let link = FileEntry { fact, file: last.place.label.clone(), entry: hash(&entry) };
    store.link_file_entry(scope, &link, change.at)?;
    Ok(TakenBack {
        path: rules.home.memory_file(&last.place.target),
        entry,
        fact,
        is_restored: true,
        is_fact_retired: false,
        earlier: None,
        current: None,
        back,
    })
}

/// The last thing that was remembered and is still there, or that was deleted and can be brought back.
struct Last {
    place: Place,
    /// The entry; none where it went.
    entry: Option<Entry>,
    step: Step,
    at: Timestamp,
    /// The hash of the file with it, and without it, if nothing was changed since.
    untouched: Option<(String, String)>,
}

fn last(store: &Memory, scope: Scope, rules: &Rules<'_>) -> Result<Option<Last>> {
    let links = store.file_entries(scope)?;
    let mut newest: Option<Last> = None;
    for place in Place::all(store, scope)? {
        let file = memory_file::read(rules.home, &place.target, place.rules(rules))?;
        let versions = versions::list(rules.home, &place.target)?;
        let withdrawn = withdrawn(store, scope, &versions)?;
        let found = in_file(&place, &file.document, &versions, &links, &withdrawn);
        if let Some(found) = found
            && newest.as_ref().is_none_or(|known| known.at < found.at)
        {
            newest = Some(found);
        }
    }
    Ok(newest)
}

/// The facts whose entries went and that can be brought back.
fn withdrawn(store: &Memory, scope: Scope, versions: &[Version]) -> Result<Vec<i64>> {
    let went = versions.iter().filter_map(|version| match Step::read(&version.reason) {
        Some(Step::Withdraw(fact)) => Some(fact),
        _ => None,
    });
    let facts = store.facts(scope, &went.collect::<Vec<_>>())?;
    let can = |fact: &&Fact| fact.retired_at.is_some() && fact.superseded_by.is_none();
    Ok(facts.iter().filter(can).map(|fact| fact.id).collect())
}

/// The newest version that an entry came with which is in the file and linked to its fact, and that
/// was not taken back.
fn in_file(
    place: &Place,
    document: &Document,
    versions: &[Version],
    links: &[FileEntry],
    withdrawn: &[i64],
) -> Option<Last> {
    let mut undone: Vec<i64> = Vec::new();
    versions.iter().enumerate().find_map(|(number, version)| {
        let step = Step::read(&version.reason)?;
        let fact = step.fact();
        if let Step::Undo(_) = step {
            undone.push(fact);
            return None;
        }
        if let Some(place) = undone.iter().position(|id| *id == fact) {
            undone.remove(place);
            return None;
        }
        let entry = if let Step::Withdraw(_) = step {
            withdrawn.contains(&fact).then_some(None)?
        } else {
            let link = links.iter().find(|link| link.fact == fact && link.file == place.label)?;
            Some(document.entries().iter().find(|entry| hash(&entry.text) == link.entry)?)
        };
        let before = versions.get(number + 1).filter(|_| version.current);
        Some(Last {
            place: place.clone(),
            entry: entry.cloned(),
            step,
            at: version.at,
            untouched: before.map(|before| (version.hash.clone(), before.hash.clone())),
        })
    })
}

/// Puts the file back: if nothing was changed since, it is what it was before, byte for byte; else the
/// entry goes, or gets the text that holds again. Returns the entries that are there anew.
fn put_back(
    rules: &Rules<'_>,
    last: &Last,
    text: Option<&str>,
    now: Timestamp,
) -> Result<Vec<String>> {
    let (home, target) = (rules.home, &last.place.target);
    let reason = Step::Undo(last.step.fact()).reason();
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
    let selector = last.entry.as_ref().map(|entry| Selector::Text(entry.text.clone()));
    let outcome =
        memory_file::change(home, target, &context, |document| match (&selector, text) {
            (Some(selector), Some(text)) => edit::replace(document, selector, text, rules.today),
            (Some(selector), None) => edit::remove(document, selector),
            (None, text) => edit::add(document, text.unwrap_or_default(), None, rules.today),
        })?;
    let entry = outcome.entry.filter(|_| text.is_some());
    Ok(entry.map(|entry| entry.text).into_iter().collect())
}

/// Takes back what last happened to the fact: it goes, or has its earlier text, or what it had taken
/// the place of is current. Returns whether it is retired, and the fact that holds now.
fn take_back(
    store: &mut Memory,
    scope: Scope,
    step: Step,
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<(bool, Option<Fact>)> {
    let id = step.fact();
    let is_first = matches!(step, Step::Remember(_));
    let found = store.facts(scope, &[id])?;
    let Some(fact) = found.first().filter(|fact| fact.retired_at.is_none()) else {
        return Ok((!found.is_empty(), None));
    };
    let counts = ["fact.add", "fact.succeed", "fact.edit", "fact.restore"];
    let history = store.history_of_fact(scope, id)?;
    let last = history.iter().rev().find(|one| counts.contains(&one.action.as_str()));
    let action = last.map_or("", |one| one.action.as_str());
    if is_first && fact.origin == Origin::User {
        return Ok((false, None));
    }
    if action == "fact.succeed" || (action == "fact.edit" && !is_first) {
        let vectors = rules.vectors;
        let chunks = |text: &str| chunk::prepare(&Words { text, ..Words::default() }, vectors);
        let undone = store.undo_fact(scope, id, &chunks, change)?;
        let now = store.facts(scope, &[undone.fact])?.into_iter().next();
        return Ok((action == "fact.succeed", now));
    }
    store.retire_fact(scope, id, change)?;
    Ok((true, None))
}
