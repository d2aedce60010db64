//! What waits until a person agrees, and what their word does.

use std::path::PathBuf;

use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, Selector, edit};
use hermes_store::memory::{
    Added, Change, Fact, FileEntry, Memory, NewProposal, Proposal, ProposalState, Scope, Trust,
};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::step::Step;
use super::{
    Place, Remembered, Rules, Target, Wish, Writing, Written, distrust, suspicion, without_hidden,
    write,
};
use crate::{Error, Result};

/// What a proposal would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Its number.
    pub id: i64,
    /// `add`, `remove` or `replace`.
    pub does: &'static str,
    /// Which file.
    pub file: Target,
    /// The entry.
    pub text: String,
    /// What it would say instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// Why it waits, or why it should go.
    pub why: String,
    /// What made it.
    pub origin: String,
    /// How far its words can be trusted.
    pub trust: Trust,
    /// The episode it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episode: Option<i64>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What became of a proposal that a person agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "became")]
pub enum Approved {
    /// The entry is in the file.
    Written(Written),
    /// The entry is out of the file.
    Removed {
        /// The file.
        path: PathBuf,
        /// The entry.
        entry: String,
    },
    /// The entry says something else now.
    Replaced {
        /// The file.
        path: PathBuf,
        /// What it said.
        entry: String,
        /// What it says.
        with: String,
    },
    /// The entry to be taken out was gone already, or is another one now: nothing was changed.
    Outdated {
        /// The entry.
        entry: String,
    },
}

/// The body of a proposal.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Body {
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    with: Option<String>,
    /// The fact that says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fact: Option<i64>,
    /// The fact that says the same as the text that comes in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    written: Option<Date>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

const KINDS: [(&str, &str, Target); 6] = [
    ("memory.add", "add", Target::Memory),
    ("user.add", "add", Target::User),
    ("memory.remove", "remove", Target::Memory),
    ("user.remove", "remove", Target::User),
    ("memory.replace", "replace", Target::Memory),
    ("user.replace", "replace", Target::User),
];

/// The open proposals about memory files, oldest first.
pub fn pending(store: &Memory, scope: Scope) -> Result<Vec<Pending>> {
    let open = store.proposals(scope, Some(ProposalState::Open))?;
    Ok(open.iter().filter_map(|one| read(one).map(|(pending, _)| pending)).collect())
}

/// Does what a proposal says, after checking it against the file as it is now.
pub fn approve(
    store: &mut Memory,
    scope: Scope,
    id: i64,
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<Approved> {
    let proposal = store.proposal(scope, id)?;
    let decided = |state| format!("it was already {state}");
    let refused = |why: String| Error::NotApproved { id, why };
    match proposal.state {
        ProposalState::Open => {}
        ProposalState::Accepted => return Err(refused(decided("approved"))),
        ProposalState::Refused => return Err(refused(decided("rejected"))),
    }
    let (pending, body) =
        read(&proposal).ok_or_else(|| refused("it is not about a memory file".to_owned()))?;
    let place = Place::of(store, scope, pending.file)?;
    let mut writing = Writing { store: &mut *store, scope, rules, change };
    let approved = match pending.does {
        "add" => Approved::Written(writing.add(&place, &pending, &body)?),
        "replace" => writing.replace(&place, &body)?,
        _ => writing.remove(&place, &body)?,
    };
    store.decide_proposal(scope, id, ProposalState::Accepted, change)?;
    Ok(approved)
}

/// Says no to a proposal; the same one is not made again.
pub fn reject(store: &mut Memory, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
    Ok(store.decide_proposal(scope, id, ProposalState::Refused, change)?)
}

/// An entry that should be taken out.
pub(crate) struct Removal<'a> {
    pub(crate) target: Target,
    pub(crate) entry: &'a memory_file::Entry,
    pub(crate) why: String,
}

/// Proposes that an entry is taken out; the same reason is given once.
pub(crate) fn propose_removal(
    store: &mut Memory,
    scope: Scope,
    removal: Removal<'_>,
    change: Change<'_>,
) -> Result<Added> {
    let Removal { target, entry, why } = removal;
    let body = Body {
        text: entry.text.clone(),
        written: entry.written,
        why: Some(why),
        ..Body::default()
    };
    let new = NewProposal {
        kind: kind_of("remove", target),
        body: &text_of(&body),
        origin: "look_back",
        trust: Trust::Agent,
        episode: None,
    };
    Ok(store.propose(scope, &new, change)?)
}

/// An entry whose fact changed.
pub(super) struct Following<'a> {
    pub(super) entry: &'a memory_file::Entry,
    /// The fact whose text it is to say; none: it is to go.
    pub(super) by: Option<&'a Fact>,
    /// The fact that says the same as the entry.
    pub(super) fact: i64,
    pub(super) place: &'a Place,
}

/// Proposes that an entry follows its fact; none if that was proposed before, whatever was decided.
pub(super) fn propose_following(
    store: &mut Memory,
    scope: Scope,
    following: &Following<'_>,
    change: Change<'_>,
) -> Result<Option<i64>> {
    let Following { entry, by, fact, place } = following;
    let target = match place.target {
        MemoryTarget::Memory => Target::Memory,
        _ => Target::User,
    };
    let why = match by {
        Some(by) if by.id == *fact => format!("fact:{fact:03} has this text now"),
        Some(by) => format!("fact:{:03} replaced fact:{fact:03}", by.id),
        None => format!("fact:{fact:03}, which said the same, no longer holds"),
    };
    let body = Body {
        text: entry.text.clone(),
        with: by.map(|by| by.statement.clone()),
        fact: Some(*fact),
        by: by.map(|by| by.id),
        written: entry.written,
        why: Some(why),
    };
    let sources = store.sources_of_fact(scope, by.map_or(*fact, |by| by.id))?;
    let new = NewProposal {
        kind: kind_of(if by.is_some() { "replace" } else { "remove" }, target),
        body: &text_of(&body),
        origin: change.actor,
        trust: by.map_or(Trust::User, |by| by.trust),
        episode: sources.iter().find_map(|source| source.episode),
    };
    Ok(match store.propose(scope, &new, change)? {
        Added::New(id) => Some(id),
        Added::Known(_) => None,
    })
}

impl Writing<'_> {
    pub(super) fn propose(
        &mut self,
        wish: &Wish<'_>,
        fact: Option<i64>,
        why: String,
    ) -> Result<Remembered> {
        let body = Body { text: wish.text.trim().to_owned(), fact, ..Body::default() };
        let new = NewProposal {
            kind: kind_of("add", wish.target),
            body: &text_of(&body),
            origin: wish.origin,
            trust: wish.trust,
            episode: wish.sources.iter().find_map(|source| source.episode),
        };
        let (proposal, is_new) = match self.store.propose(self.scope, &new, self.change)? {
            Added::New(id) => (id, true),
            Added::Known(id) => (id, false),
        };
        Ok(Remembered::Proposed { proposal, is_new, why })
    }

    fn add(&mut self, place: &Place, pending: &Pending, body: &Body) -> Result<Written> {
        // What cannot be seen was not agreed to.
        let text = without_hidden(&body.text);
        let wish = Wish {
            text: &text,
            target: pending.file,
            fact: None,
            kind: "fact",
            predicate: None,
            sources: &[],
            said_at: self.change.at,
            trust: Trust::User,
            is_explicit: true,
            origin: "approve",
        };
        let known = match body.fact {
            None => None,
            Some(id) => self.fact_for(&Wish { fact: Some(id), ..wish.clone() })?,
        };
        let fact = match known {
            Some(fact) => Some(fact),
            None => self.fact_for(&wish)?,
        };
        let refused = |why: &str| Error::NotApproved { id: pending.id, why: why.to_owned() };
        let fact = fact.ok_or_else(|| refused("it was deleted since"))?;
        let written = self.entry(place, &text, fact)?;
        written.ok_or_else(|| refused("the file has no room for it"))
    }

    fn remove(&mut self, place: &Place, body: &Body) -> Result<Approved> {
        let (scope, rules) = (self.scope, self.rules);
        let file_rules = place.rules(rules);
        let file = memory_file::read(rules.home, &place.target, file_rules)?;
        let is_meant =
            |entry: &&memory_file::Entry| entry.text == body.text && entry.written == body.written;
        let entry = body.text.clone();
        let Some(found) = file.document.entries().iter().find(is_meant) else {
            return Ok(Approved::Outdated { entry });
        };
        let reason = body.fact.map(|fact| Step::Withdraw(fact).reason());
        let reason = reason.as_deref().unwrap_or("approved removal");
        let context = memory_file::Context { rules: file_rules, now: self.change.at, reason };
        let selector = Selector::Text(found.text.clone());
        let outcome = memory_file::change(rules.home, &place.target, &context, |document| {
            edit::remove(document, &selector)
        })?;
        let hash = write::hash(&entry);
        for link in self.store.file_entries(scope)? {
            if link.entry == hash && link.file == place.label {
                self.store.unlink_file_entry(scope, link.fact, &link.file)?;
            }
        }
        Ok(Approved::Removed { path: outcome.path, entry })
    }

    /// Lets an entry say what a fact says now, if both are still as they were.
    fn replace(&mut self, place: &Place, body: &Body) -> Result<Approved> {
        let (scope, rules, now) = (self.scope, self.rules, self.change.at);
        let entry = body.text.clone();
        let (Some(with), Some(old), Some(new)) = (&body.with, body.fact, body.by) else {
            return Ok(Approved::Outdated { entry });
        };
        let with = without_hidden(with);
        let file_rules = place.rules(rules);
        let file = memory_file::read(rules.home, &place.target, file_rules)?;
        let is_there = file.document.entries().iter().any(|found| found.text == entry);
        let facts = self.store.facts(scope, &[new])?;
        let is_held = facts.first().is_some_and(|fact| fact.retired_at.is_none());
        if !is_there || !is_held {
            return Ok(Approved::Outdated { entry });
        }
        let step = if old == new { Step::Edit(new) } else { Step::Replace { old, new } };
        let reason = step.reason();
        let context = memory_file::Context { rules: file_rules, now, reason: &reason };
        let selector = Selector::Text(entry.clone());
        let outcome = memory_file::change(rules.home, &place.target, &context, |document| {
            edit::replace(document, &selector, &with, rules.today)
        })?;
        let with = outcome.entry.map_or(with, |entry| entry.text);
        self.store.unlink_file_entry(scope, old, &place.label)?;
        let link = FileEntry { fact: new, file: place.label.clone(), entry: write::hash(&with) };
        self.store.link_file_entry(scope, &link, now)?;
        Ok(Approved::Replaced { path: outcome.path, entry, with })
    }
}

fn read(proposal: &Proposal) -> Option<(Pending, Body)> {
    let (_, does, file) = KINDS.into_iter().find(|(kind, _, _)| *kind == proposal.kind)?;
    let body: Body = serde_json::from_str(&proposal.body).ok()?;
    let why = match &body.why {
        Some(why) => why.clone(),
        None => suspicion(&body.text)
            .or_else(|| distrust(proposal.trust))
            .unwrap_or("waiting for your approval")
            .to_owned(),
    };
    let pending = Pending {
        id: proposal.id,
        does,
        file,
        text: body.text.clone(),
        with: body.with.clone(),
        why,
        origin: proposal.origin.clone(),
        trust: proposal.trust,
        episode: proposal.episode,
        created_at: proposal.created_at,
    };
    Some((pending, body))
}

fn kind_of(does: &str, target: Target) -> &'static str {
    let found = KINDS.iter().find(|(_, known, file)| *known == does && *file == target);
    found.map_or("memory.add", |(kind, _, _)| kind)
}

fn text_of(body: &Body) -> String {
    serde_json::to_string(body).unwrap_or_default()
}
