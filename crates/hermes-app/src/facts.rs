//! Facts are added, shown, changed and taken back, and the memory files follow.

use std::collections::HashSet;

use hermes_home::Home;
use hermes_home::redaction::Kept;
use hermes_memory::chunk::{self, Words};
use hermes_memory::task;
use hermes_store::memory::{
    Added, Fact, FactChange, ItemKind, Memory, NewChunk, NewFact, Origin, Scope, Trust, Undone,
};
use jiff::Timestamp;

use super::fact_view::{Change, Changed, Detail, From, Shown, name_of};
use super::reason::{self, Why};
use super::{in_step, later};
use crate::app::App;
use crate::asker::LONGEST_NAME;
use crate::embedding;
use crate::memory::OpenMemory;
use crate::problem::{Kind, Problem};

/// A fact that is to be kept.
#[derive(Debug, Clone, Default)]
pub struct New<'a> {
    /// The sentence.
    pub text: &'a str,
    /// What kind of fact; none: `fact`.
    pub kind: Option<&'a str>,
    /// Names it is about; those in the sentence are found.
    pub entities: &'a [String],
    /// Since when it is true.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true.
    pub valid_to: Option<Timestamp>,
    /// Whether every user may read it.
    pub shared: bool,
    /// Whether an agent noted it, not the user.
    pub by_agent: bool,
}

impl New<'_> {
    /// What cannot be kept is refused before a memory is made for it.
    pub fn check(&self) -> Result<(), Problem> {
        sentence(self.text)?;
        if self.kind.is_some_and(|kind| kind.trim().is_empty()) {
            return Err(Problem::usage("the kind is empty"));
        }
        let is_long = |name: &str| name.len() > LONGEST_NAME;
        if self.kind.is_some_and(is_long) || self.entities.iter().any(|name| is_long(name)) {
            let what = format!("a kind or a name can have at most {LONGEST_NAME} bytes");
            return Err(Problem::usage(what));
        }
        if self.entities.len() > MOST_NAMES {
            let count = self.entities.len();
            let what = format!("this fact has {count} names; at most {MOST_NAMES} are allowed");
            return Err(Problem::usage(what));
        }
        match self.valid_from.zip(self.valid_to).is_some_and(|(from, to)| from > to) {
            false => Ok(()),
            true => Err(Problem::usage("it would end before it begins")
                .hint("`--valid-from` must not be after `--valid-to`")),
        }
    }
}

/// Longer texts are no sentence.
const LONGEST: usize = 4_000;
/// How many names one fact is about.
const MOST_NAMES: usize = 100;

/// Somebody's facts, and what is done with them.
pub struct Facts<'a> {
    /// The program.
    pub app: &'a App,
    /// The home.
    pub home: &'a Home,
    /// The memory, open for writing.
    pub memory: &'a mut OpenMemory,
    /// Whose facts.
    pub scope: Scope,
}

impl Facts<'_> {
    fn parts(&mut self) -> Facts<'_> {
        Facts { app: self.app, home: self.home, memory: self.memory, scope: self.scope }
    }

    /// Keeps a fact; the same sentence twice is kept once.
    pub fn add(&mut self, new: &New<'_>) -> anyhow::Result<Changed> {
        let Facts { app, home, memory, scope } = self.parts();
        new.check()?;
        let (text, kind) = (kept(app, home, new.text)?, new.kind.unwrap_or("fact").trim());
        let entities = entities(&text, new.entities);
        let (origin, trust) = maker(new.by_agent);
        let fact = NewFact {
            kind,
            origin,
            trust,
            valid_from: new.valid_from,
            valid_to: new.valid_to,
            shared: new.shared,
            ..plain(&text, &entities, chunks(&text, &memory.store)?)
        };
        let (id, change) = match memory.store.add_fact(scope, &fact, app.change())? {
            Added::New(id) => (id, Change::Added),
            Added::Known(id) => (id, Change::Known),
        };
        let kept = memory.store.facts(scope, &[id])?;
        let text = kept.first().map_or(text, |fact| fact.statement.clone());
        let entities = kept.first().map_or(entities, |fact| fact.entities.clone());
        later::fill_in(home, app, &mut memory.store)?;
        Ok(Changed { id: name_of(id), text, change, replaced: None, entities })
    }

    /// Takes a fact out of every answer; it can be brought back.
    pub fn retire(&mut self, id: &str) -> anyhow::Result<Fact> {
        self.retire_because(id, None)
    }

    /// The same, and its history says why.
    pub fn retire_because(&mut self, id: &str, why: Option<&Why>) -> anyhow::Result<Fact> {
        let Facts { app, home, memory, scope } = self.parts();
        let fact = memory.store.find_fact(scope, id)?;
        reason::retire(app, &mut memory.store, scope, fact.id, why)?;
        in_step::follow(app, home, memory, scope, &[fact.id])?;
        Ok(fact)
    }

    /// Brings a deleted fact back.
    pub fn restore(&mut self, id: &str) -> anyhow::Result<Changed> {
        let Facts { app, home, memory, scope } = self.parts();
        let fact = memory.store.find_fact(scope, id)?;
        memory.store.restore_fact(scope, fact.id, app.change())?;
        in_step::follow(app, home, memory, scope, &[fact.id])?;
        later::fill_in(home, app, &mut memory.store)?;
        Ok(Changed {
            id: name_of(fact.id),
            text: fact.statement,
            change: Change::Restored,
            replaced: None,
            entities: fact.entities,
        })
    }

    /// Gives a fact another text; the earlier one is kept.
    pub fn edit(&mut self, id: &str, text: &str) -> anyhow::Result<Changed> {
        let Facts { app, home, memory, scope } = self.parts();
        let text = kept(app, home, text)?;
        let fact = memory.store.find_fact(scope, id)?;
        let chunks = chunks(&text, &memory.store)?;
        let names = entities(&text, &fact.entities);
        memory.store.edit_fact(scope, fact.id, &text, &chunks, app.change())?;
        memory.store.mention(scope, ItemKind::Fact, fact.id, &names, app.change())?;
        in_step::follow(app, home, memory, scope, &[fact.id])?;
        later::fill_in(home, app, &mut memory.store)?;
        Ok(Changed {
            id: name_of(fact.id),
            text,
            change: Change::Edited,
            replaced: None,
            entities: names,
        })
    }

    /// Puts a new fact in the place of one that is no longer true.
    pub fn supersede(&mut self, id: &str, text: &str) -> anyhow::Result<Changed> {
        let Facts { app, home, memory, scope } = self.parts();
        let text = kept(app, home, text)?;
        let old = memory.store.find_fact(scope, id)?;
        let entities = entities(&text, &[]);
        // The new fact has what the old one had, but for its sentence and the time it is true.
        let (origin, trust) = maker(!app.change().is_by_a_person());
        let new = NewFact {
            kind: &old.kind,
            origin,
            trust,
            subject: old.subject.as_deref(),
            predicate: old.predicate.as_deref(),
            shared: old.user != scope.user(),
            ..plain(&text, &entities, chunks(&text, &memory.store)?)
        };
        let new = memory.store.supersede_fact(scope, old.id, &new, app.change())?;
        in_step::follow(app, home, memory, scope, &[old.id])?;
        later::fill_in(home, app, &mut memory.store)?;
        Ok(Changed {
            id: name_of(new),
            text,
            change: Change::Superseded,
            replaced: Some(name_of(old.id)),
            entities: Vec::new(),
        })
    }

    /// Lets one fact stand for others: they are superseded by it, and each can be brought back.
    pub fn merge(&mut self, keep: &str, others: &[&str]) -> anyhow::Result<Vec<Changed>> {
        let kept = self.memory.store.find_fact(self.scope, keep)?;
        let mut found = Vec::new();
        for other in others {
            let other = self.memory.store.find_fact(self.scope, other)?;
            if other.id != kept.id && found.iter().all(|known: &Fact| known.id != other.id) {
                found.push(other);
            }
        }
        if found.is_empty() {
            return Err(Problem::usage("nothing to merge: give at least two facts").into());
        }
        let mut merged = Vec::new();
        for other in found {
            if other.user != kept.user {
                let what = format!(
                    "{} and {} do not belong to the same user",
                    name_of(kept.id),
                    name_of(other.id)
                );
                return Err(Problem::new(Kind::Refused, what).into());
            }
            let id = name_of(other.id);
            merged.push(self.supersede(&id, &kept.statement)?);
        }
        Ok(merged)
    }

    /// Takes back the last change of a fact; says what it was, and what holds now.
    pub fn undo(&mut self, id: &str) -> anyhow::Result<(String, Fact)> {
        let Facts { app, home, memory, scope } = self.parts();
        let fact = memory.store.find_fact(scope, id)?;
        let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
        let chunks = |text: &str| chunk::prepare(&Words { text, ..Words::default() }, vectors);
        let Undone { action, fact: holds } =
            memory.store.undo_fact(scope, fact.id, &chunks, app.change())?;
        in_step::follow(app, home, memory, scope, &[fact.id, holds])?;
        later::fill_in(home, app, &mut memory.store)?;
        let fact = memory.store.find_fact(scope, &name_of(holds))?;
        Ok((action, fact))
    }

    /// Keeps a fact as it is, or no longer.
    pub fn pin(&mut self, id: &str, pinned: bool) -> anyhow::Result<Fact> {
        let Facts { app, memory, scope, .. } = self.parts();
        let fact = memory.store.find_fact(scope, id)?;
        memory.store.pin_fact(scope, fact.id, pinned, app.change())?;
        Ok(fact)
    }
}

/// Everything about a fact: where it comes from, its earlier texts.
pub fn show(
    app: &App,
    home: &Home,
    store: &Memory,
    scope: Scope,
    id: &str,
) -> anyhow::Result<Detail> {
    let fact = store.find_fact(scope, id)?;
    let mut sources = Vec::new();
    for source in store.sources_of_fact(scope, fact.id)? {
        let covering = store.covering(scope, source.episode.as_slice())?;
        let summary = covering.first().map(|(_, summary)| *summary);
        sources.push(From { source, summary });
    }
    let revisions = store.revisions_of_fact(scope, fact.id)?;
    Ok(Detail { fact: Shown::of(&fact), sources, revisions, zone: app.zone(home)? })
}

/// What happened to a fact, and who did it.
pub fn history(store: &Memory, scope: Scope, id: &str) -> anyhow::Result<(Fact, Vec<FactChange>)> {
    let fact = store.find_fact(scope, id)?;
    let changes = store.history_of_fact(scope, fact.id)?;
    Ok((fact, changes))
}

/// What became of a fact whose last change was taken back.
pub fn undone(action: &str) -> &'static str {
    match action {
        "fact.edit" => "is its current text again",
        "fact.supersede" => "is current again, and the fact that replaced it is retired",
        "fact.unsupersede" => "replaces the earlier fact again",
        "fact.retire" => "is restored",
        "fact.restore" => "is deleted again",
        _ => "is as it was before",
    }
}

/// Who says so, and how far that is trusted.
fn maker(by_agent: bool) -> (Origin, Trust) {
    match by_agent {
        true => (Origin::Agent, Trust::Agent),
        false => (Origin::User, Trust::User),
    }
}

/// A fact that the user typed, with nothing but its sentence.
fn plain<'a>(text: &'a str, entities: &'a [String], chunks: Vec<NewChunk>) -> NewFact<'a> {
    NewFact {
        statement: text,
        kind: "fact",
        subject: None,
        predicate: None,
        object: None,
        confidence: 1.0,
        origin: Origin::User,
        trust: Trust::User,
        valid_from: None,
        valid_to: None,
        shared: false,
        entities,
        sources: &[],
        chunks,
    }
}

fn chunks(text: &str, store: &Memory) -> anyhow::Result<Vec<NewChunk>> {
    let vectors = embedding::vectors(store.active_model()?.as_ref());
    Ok(chunk::prepare(&Words { text, ..Words::default() }, vectors))
}

/// The names that were given, then those in the sentence; each once.
fn entities(text: &str, given: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let given = given.iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    for name in given.chain(task::names(text)) {
        if known.insert(name.to_lowercase()) {
            names.push(name);
        }
    }
    names
}

/// The sentence as it is kept: without secrets, as the settings say.
pub fn kept(app: &App, home: &Home, text: &str) -> anyhow::Result<String> {
    let text = sentence(text)?;
    match app.config(home)?.config.recording.secrets.keep(&text) {
        Kept::AsItIs => Ok(text),
        Kept::Redacted(clean) => Ok(clean),
        Kept::Refused(kind) => Err(hermes_memory::Error::Secret { kind }.into()),
    }
}

/// A sentence as it is typed: one that says something, in one line.
pub fn sentence(text: &str) -> Result<String, Problem> {
    let text = text.trim().to_owned();
    let length = text.chars().count();
    if text.is_empty() {
        return Err(Problem::usage("nothing to store: the text is empty"));
    }
    if text.contains('\0') {
        return Err(Problem::usage("the text contains a NUL character"));
    }
    if length > LONGEST {
        return Err(Problem::usage(format!(
            "this fact has {length} characters; at most {LONGEST} are allowed"
        ))
        .hint("store one sentence, and record long texts with `hermes memory record`"));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_given_and_those_found_each_once() {
        let found = entities("We moved to Lisbon with Rosa", &["rosa".into(), " ".into()]);
        assert_eq!(found, ["rosa", "Lisbon"]);
    }

    #[test]
    fn a_sentence_is_neither_blank_nor_endless() {
        assert!(sentence("  ").is_err() && sentence(&"x".repeat(4_001)).is_err());
        assert_eq!(sentence(" tea ").unwrap(), "tea");
    }
}
