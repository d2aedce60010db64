//! A fact that changes takes its entry along: the memory files say what is known.

use std::path::PathBuf;

use hermes_home::memory_file::{self, Document, Edited, Entry, Selector, edit};
use hermes_home::versions;
use hermes_store::memory::{Change, Fact, FileEntry, Memory, Scope, Trust};
use serde::Serialize;

use super::step::Step;
use super::write::hash;
use super::{Place, Rules, Writing, proposal, suspicion};
use crate::{Error, Result};

/// What became of an entry whose fact changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "became")]
pub enum Followed {
    /// It says what its fact says now, or what holds in its place.
    Rewritten {
        /// The file.
        path: PathBuf,
        /// What it said.
        entry: String,
        /// What it says.
        text: String,
        /// The fact that says the same.
        fact: i64,
    },
    /// It went with its fact.
    Removed {
        /// The file.
        path: PathBuf,
        /// What it said.
        entry: String,
        /// The fact that said the same.
        fact: i64,
    },
    /// It came back with its fact.
    Back {
        /// The file.
        path: PathBuf,
        /// What it says.
        entry: String,
        /// The fact that says the same.
        fact: i64,
    },
    /// A person decides.
    Proposed {
        /// The number of the proposal.
        proposal: i64,
        /// The file.
        path: PathBuf,
        /// The fact that changed.
        fact: i64,
    },
    /// It was changed by hand, or the file does not let it be changed: it stays as it is.
    LeftAlone {
        /// The file.
        path: PathBuf,
        /// The fact that changed.
        fact: i64,
        /// Why.
        why: String,
    },
}

const CHANGED_BY_HAND: &str = "it was changed in the file since";

/// Brings the entries of a user's files in step: those of facts that are no longer held, and those of
/// the facts that are said to have changed.
pub fn follow(
    store: &mut Memory,
    scope: Scope,
    changed: &[i64],
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<Vec<Followed>> {
    let links = store.file_entries(scope)?;
    if links.is_empty() && changed.is_empty() {
        return Ok(Vec::new());
    }
    let mut done = Vec::new();
    for place in Place::all(store, scope)? {
        let mut at = At { store: &mut *store, scope, place: &place, rules, change };
        for link in links.iter().filter(|link| link.file == place.label) {
            done.extend(at.link(link, changed.contains(&link.fact))?);
        }
        for fact in changed {
            done.extend(at.back(*fact)?);
        }
    }
    Ok(done)
}

/// One file of a user, and how it may be changed.
struct At<'a> {
    store: &'a mut Memory,
    scope: Scope,
    place: &'a Place,
    rules: &'a Rules<'a>,
    change: Change<'a>,
}

impl At<'_> {
    fn link(&mut self, link: &FileEntry, is_changed: bool) -> Result<Option<Followed>> {
        let Some(fact) = self.fact(link.fact)? else { return Ok(None) };
        if is_held(&fact) && !is_changed {
            return Ok(None);
        }
        let document = self.document()?;
        let Some(entry) = self.entry_of(&document, link, &fact)? else {
            // The person's own words now; a held fact keeps its link, so that it is not written anew.
            if !is_held(&fact) {
                self.unlink(fact.id)?;
            }
            return Ok(Some(self.left_alone(fact.id, CHANGED_BY_HAND.to_owned())));
        };
        if is_held(&fact) {
            return self.put(&entry, &fact, Step::Edit(fact.id));
        }
        match self.heir(&fact)? {
            Some(heir) => self.put(&entry, &heir, Step::Replace { old: fact.id, new: heir.id }),
            None if self.is_held_by_another(link)? => {
                self.unlink(fact.id)?;
                Ok(None)
            }
            None => self.withdraw(&entry, fact.id),
        }
    }

    /// Puts an entry back that went with a fact which is held again.
    fn back(&mut self, id: i64) -> Result<Option<Followed>> {
        let Some(fact) = self.fact(id)?.filter(is_held) else { return Ok(None) };
        if self.is_linked(id)? {
            return Ok(None);
        }
        let versions = versions::list(self.rules.home, &self.place.target)?;
        let mut steps = versions.iter().filter_map(|version| Step::read(&version.reason));
        let last = steps.find(|step| step.is_about(id));
        let went = matches!(last, Some(Step::Withdraw(_) | Step::Undo(_)));
        if !went || !self.may_write(&fact) {
            return Ok(None);
        }
        let At { scope, place, rules, change, .. } = *self;
        let mut writing = Writing { store: &mut *self.store, scope, rules, change };
        let written = writing.entry(place, &fact.statement, id)?;
        Ok(written.map(|done| Followed::Back { path: done.path, entry: done.entry, fact: id }))
    }

    /// What holds in the place of a fact: what came after it, else what it had taken the place of here.
    fn heir(&self, fact: &Fact) -> Result<Option<Fact>> {
        const LONGEST_CHAIN: usize = 100;
        let mut next = fact.superseded_by;
        for _ in 0..LONGEST_CHAIN {
            let Some(id) = next else { break };
            match self.fact(id)? {
                Some(found) if is_held(&found) => return Ok(Some(found).filter(|f| !f.quarantined)),
                Some(found) => next = found.superseded_by,
                None => break,
            }
        }
        let versions = versions::list(self.rules.home, &self.place.target)?;
        let mut steps = versions.iter().filter_map(|version| Step::read(&version.reason));
        match steps.find(|step| step.fact() == fact.id) {
            Some(Step::Replace { old, .. }) => Ok(self.fact(old)?.filter(is_held)),
            _ => Ok(None),
        }
    }

    /// Gives an entry the text of a fact, or takes it out where that text stands already or has no room.
    fn put(&mut self, entry: &Entry, fact: &Fact, step: Step) -> Result<Option<Followed>> {
        if says_the_same(&entry.text, &fact.statement) {
            self.relink(step, entry)?;
            return Ok(None);
        }
        if !self.may_write(fact) {
            return self.propose(entry, Some(fact), step);
        }
        let selector = Selector::Text(entry.text.clone());
        let text = fact.statement.as_str();
        let outcome = self.edit(step, |document| {
            match document.entries().iter().any(|other| says_the_same(&other.text, text)) {
                true => edit::remove(document, &selector),
                false => edit::replace(document, &selector, text, self.rules.today),
            }
        });
        let old = entry.text.clone();
        match outcome {
            Ok(path) => {
                let Some(now) = find_same(&self.document()?, text) else {
                    return Err(Error::NotReadBack { path });
                };
                self.relink(step, &now)?;
                Ok(Some(Followed::Rewritten { path, entry: old, text: now.text, fact: fact.id }))
            }
            Err(_) => self.withdraw(entry, old_fact(step)),
        }
    }

    /// Takes an entry out.
    fn withdraw(&mut self, entry: &Entry, fact: i64) -> Result<Option<Followed>> {
        let step = Step::Withdraw(fact);
        if !self.rules.auto_write {
            return self.propose(entry, None, step);
        }
        let selector = Selector::Text(entry.text.clone());
        let followed = match self.edit(step, |document| edit::remove(document, &selector)) {
            Ok(path) => Followed::Removed { path, entry: entry.text.clone(), fact },
            Err(
                error @ (hermes_home::Error::Drifted { .. } | hermes_home::Error::WouldDisturb),
            ) => self.left_alone(fact, error.to_string()),
            Err(error) => return Err(error.into()),
        };
        self.unlink(fact)?;
        Ok(Some(followed))
    }

    fn propose(
        &mut self,
        entry: &Entry,
        by: Option<&Fact>,
        step: Step,
    ) -> Result<Option<Followed>> {
        let fact = old_fact(step);
        let wanted = proposal::Following { entry, by, fact, place: self.place };
        let new = proposal::propose_following(self.store, self.scope, &wanted, self.change)?;
        let path = self.path();
        Ok(new.map(|proposal| Followed::Proposed { proposal, path, fact }))
    }

    fn edit(
        &self,
        step: Step,
        edit: impl Fn(&Document) -> hermes_home::Result<Edited>,
    ) -> hermes_home::Result<PathBuf> {
        let rules = self.place.rules(self.rules);
        let reason = step.reason();
        let context = memory_file::Context { rules, now: self.change.at, reason: &reason };
        Ok(memory_file::change(self.rules.home, &self.place.target, &context, edit)?.path)
    }

    fn may_write(&self, fact: &Fact) -> bool {
        self.rules.auto_write
            && fact.trust > Trust::Untrusted
            && suspicion(&fact.statement).is_none()
    }

    /// Links the entry to the fact that it says now.
    fn relink(&mut self, step: Step, entry: &Entry) -> Result<()> {
        if let Step::Replace { old, .. } = step {
            self.unlink(old)?;
        }
        let file = self.place.label.clone();
        let link = FileEntry { fact: step.fact(), file, entry: hash(&entry.text) };
        Ok(self.store.link_file_entry(self.scope, &link, self.change.at)?)
    }

    fn unlink(&mut self, fact: i64) -> Result<()> {
        Ok(self.store.unlink_file_entry(self.scope, fact, &self.place.label)?)
    }

    fn is_linked(&self, fact: i64) -> Result<bool> {
        let links = self.store.file_entries(self.scope)?;
        Ok(links.iter().any(|link| link.fact == fact && link.file == self.place.label))
    }

    /// Whether a held fact has the same entry.
    fn is_held_by_another(&self, link: &FileEntry) -> Result<bool> {
        for other in self.store.file_entries(self.scope)? {
            let is_same = other.file == link.file && other.entry == link.entry;
            if is_same && self.fact(other.fact)?.is_some_and(|fact| is_held(&fact)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The entry of a fact, also where a person changed no more than its punctuation.
    fn entry_of(
        &self,
        document: &Document,
        link: &FileEntry,
        fact: &Fact,
    ) -> Result<Option<Entry>> {
        let written = document.entries().iter().find(|entry| hash(&entry.text) == link.entry);
        if written.is_some() {
            return Ok(written.cloned());
        }
        let mut texts = vec![fact.statement.clone()];
        let earlier = self.store.revisions_of_fact(self.scope, fact.id)?;
        texts.extend(earlier.into_iter().map(|revision| revision.text));
        Ok(texts.iter().find_map(|text| find_same(document, text)))
    }

    fn document(&self) -> Result<Document> {
        let rules = self.place.rules(self.rules);
        Ok(memory_file::read(self.rules.home, &self.place.target, rules)?.document)
    }

    fn fact(&self, id: i64) -> Result<Option<Fact>> {
        Ok(self.store.facts(self.scope, &[id])?.into_iter().next())
    }

    fn path(&self) -> PathBuf {
        self.rules.home.memory_file(&self.place.target)
    }

    fn left_alone(&self, fact: i64, why: String) -> Followed {
        Followed::LeftAlone { path: self.path(), fact, why }
    }
}

/// The fact whose entry it was.
fn old_fact(step: Step) -> i64 {
    match step {
        Step::Replace { old, .. } => old,
        other => other.fact(),
    }
}

fn is_held(fact: &Fact) -> bool {
    fact.retired_at.is_none() && fact.superseded_by.is_none()
}

fn find_same(document: &Document, text: &str) -> Option<Entry> {
    let same = |entry: &&Entry| says_the_same(&entry.text, text);
    document.entries().iter().find(same).cloned()
}

/// Whether two texts have the same words.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    one == other || words(one) == words(other)
}
