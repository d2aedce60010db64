//! What the user asked to remember in so many words: written to the memory files, as far as the rules let it.

use hermes_store::memory::{Message, NewSource, ProposalState, Scope, Trust};
use jiff::Timestamp;

use super::run::{ACTOR, Item, Read, Run};
use super::{Found, Kind, rules};
use crate::remember::{self, Followed, Remembered, Target};
use crate::{Result, provenance};

/// Something the user asked to remember in so many words.
pub(super) struct Wish {
    pub(super) episode: i64,
    message: i64,
    fact: Option<i64>,
    kind: Kind,
    text: String,
    quote: String,
    /// How far its words can be trusted: less than the user's own, and a person decides.
    trust: Trust,
    said_at: Timestamp,
}

impl<'a> Item<'a> {
    /// What the rules found in a message; what was pasted in is not taken for the user's own words.
    pub(super) fn by_rules(read: &'a Read, message: &'a Message, found: &'a Found) -> Item<'a> {
        let trust = provenance::of_words(&message.text);
        Item { read, message, found, extractor: rules::EXTRACTOR, trust }
    }

    /// Whether it is known before a person agreed: what a pasted text asks to be remembered is not.
    pub(super) fn is_kept(&self) -> bool {
        self.trust == Trust::User || !self.found.is_explicit
    }
}

impl Run<'_> {
    /// What no longer holds leaves the memory files, or says what holds in its place.
    pub(super) fn follow(&mut self, scope: Scope) -> Result<Vec<Followed>> {
        let Some(rules) = self.settings.remember else { return Ok(Vec::new()) };
        let change = self.change();
        let all = remember::follow(self.store, scope, &[], rules, change)?;
        for followed in &all {
            match followed {
                Followed::Proposed { .. } => self.report.proposed += 1,
                Followed::LeftAlone { .. } => self.report.left_alone += 1,
                _ => self.report.followed += 1,
            }
        }
        Ok(all)
    }

    /// Wishes in history that was brought in are years old: facts alone come of them.
    pub(super) fn write(&mut self, read: &Read, wishes: Vec<Wish>) -> Result<Vec<Remembered>> {
        let mut became = Vec::new();
        let Some(rules) = self.settings.remember.filter(|_| !read.episode.imported) else {
            return Ok(became);
        };
        let scope = Scope::of(read.episode.user);
        let linked = match wishes.is_empty() {
            true => Vec::new(),
            false => self.store.file_entries(scope)?,
        };
        for wish in wishes {
            // An entry that was written before and is gone was taken out by hand.
            if wish.fact.is_some_and(|fact| linked.iter().any(|link| link.fact == fact)) {
                continue;
            }
            let source = NewSource {
                episode: Some(wish.episode),
                message: Some(wish.message),
                quote: Some(&wish.quote),
                extractor: Some(rules::EXTRACTOR),
            };
            let wanted = remember::Wish {
                text: &wish.text,
                target: target_of(wish.kind),
                fact: wish.fact,
                kind: wish.kind.as_str(),
                predicate: None,
                sources: &[source],
                said_at: wish.said_at,
                trust: wish.trust,
                is_explicit: true,
                origin: ACTOR,
            };
            let change = self.change();
            let remembered = remember::remember(self.store, scope, &wanted, rules, change)?;
            match &remembered {
                Remembered::Written(_) => self.report.remembered += 1,
                Remembered::Proposed { proposal, .. } => {
                    let is_open =
                        self.store.proposal(scope, *proposal)?.state == ProposalState::Open;
                    self.report.proposed += u64::from(is_open);
                }
                Remembered::Buried => {}
            }
            became.push(remembered);
        }
        Ok(became)
    }

    pub(super) fn wish(&mut self, item: &Item<'_>, fact: Option<i64>) {
        let is_buried = fact.is_none()
            && item.trust == Trust::User
            && item.extractor == rules::EXTRACTOR
            && self.report.calls == 0;
        if !item.found.is_explicit || is_buried {
            return;
        }
        let quote = item.message.text.get(item.found.quote.clone()).unwrap_or_default();
        self.wishes.push(Wish {
            episode: item.read.episode.id,
            message: item.message.key.get(),
            fact,
            kind: item.found.kind,
            text: item.found.statement.clone(),
            quote: quote.to_owned(),
            trust: trust_of_wish(&item.message.text),
            said_at: item.message.at,
        });
    }
}

/// A wish in a message that reads like an order to the model, or that was pasted or piped in, may be another's.
fn trust_of_wish(message: &str) -> Trust {
    match remember::suspicion(message) {
        Some(_) => Trust::Untrusted,
        None => provenance::of_words(message),
    }
}

/// Which memory file tells such a thing: what is about the user, or what is known.
pub fn target_of(kind: Kind) -> Target {
    match kind {
        Kind::Preference | Kind::Instruction | Kind::Identity | Kind::Account | Kind::Relation => {
            Target::User
        }
        Kind::Decision | Kind::Deadline | Kind::Tool | Kind::Fact => Target::Memory,
    }
}
