//! "Remember that…": an entry of a memory file and a fact that says the same, with one undo for both.

mod erase;
mod follow;
mod proposal;
mod room;
mod step;
pub(crate) mod suspect;
mod undo;
mod write;

use std::path::PathBuf;

use hermes_home::init::Owner;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file;
use hermes_home::redaction::{Kept, Policy};
use hermes_home::{Home, UserId};
use hermes_store::memory::{
    Admin, Change, Drawn, DrawnFact, Memory, NewFact, NewSource, Origin, Scope, Standing, Trust,
    User, UserNumber,
};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;

use crate::chunk::{self, Vectors, Words};
use crate::{Error, Result};

pub use erase::{Erased, erase_entries};
pub use follow::{Followed, follow};
pub use proposal::{Approved, Pending, approve, pending, reject};
pub(crate) use proposal::{Removal, propose_removal};
pub use suspect::{is_hidden, suspicion, without_hidden};
pub use undo::{TakenBack, undo};
pub(crate) use write::{hash as entry_hash, links};

/// Which file a thing belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// What is known: MEMORY.md.
    Memory,
    /// Who the user is: their USER.md.
    User,
}

/// What is to be remembered.
#[derive(Debug, Clone)]
pub struct Wish<'a> {
    /// The entry as it is to be read.
    pub text: &'a str,
    /// Which file it belongs to.
    pub target: Target,
    /// The fact that says the same, where one was drawn already.
    pub fact: Option<i64>,
    /// What kind of fact it is otherwise: `fact`, `preference`, …
    pub kind: &'a str,
    /// What it says of the user, where one such fact is enough: `usual_hours`.
    pub predicate: Option<&'a str>,
    /// The messages it comes from.
    pub sources: &'a [NewSource<'a>],
    /// When it was said.
    pub said_at: Timestamp,
    /// How far its words can be trusted.
    pub trust: Trust,
    /// Whether the user asked for it in so many words.
    pub is_explicit: bool,
    /// What made it: `extract`, `look_back`, `agent`.
    pub origin: &'a str,
}

/// What holds for writing.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// Where the files are.
    pub home: &'a Home,
    /// Whose home it is.
    pub owner: Owner,
    /// Whether it is written without asking; see `Config::auto_writes`.
    pub auto_write: bool,
    /// The longest MEMORY.md, in characters.
    pub memory_limit: Option<usize>,
    /// The longest USER.md, in characters.
    pub user_limit: Option<usize>,
    /// The day for date comments.
    pub today: Date,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// What is done with secrets.
    pub secrets: Policy,
}

/// What became of a wish.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "became")]
pub enum Remembered {
    /// It is in the file and was read back, and the fact says the same.
    Written(Written),
    /// It waits until a person agrees.
    Proposed {
        /// The number of the proposal.
        proposal: i64,
        /// Whether it is new; otherwise it was made, and maybe refused, before.
        is_new: bool,
        /// Why it was not written.
        why: String,
    },
    /// A person took it back before, and nothing newer was said.
    Buried,
}

/// An entry that is in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// The entry, as it was read back.
    pub entry: String,
    /// The fact that says the same.
    pub fact: i64,
    /// False if the entry was there already.
    pub is_new: bool,
    /// Entries that went to the facts because the file was full.
    pub moved: Vec<String>,
}

/// Remembers something, as far as the rules let it; what was said twice is kept once.
pub fn remember(
    store: &mut Memory,
    scope: Scope,
    wish: &Wish<'_>,
    rules: &Rules<'_>,
    change: Change<'_>,
) -> Result<Remembered> {
    let mut writing = Writing { store, scope, rules, change };
    match rules.secrets.keep(wish.text) {
        Kept::AsItIs => writing.keep(wish),
        Kept::Redacted(text) => writing.keep(&Wish { text: &text, ..wish.clone() }),
        Kept::Refused(kind) => Err(Error::Secret { kind }),
    }
}

/// Who writes what into whose files, and by which rules.
struct Writing<'a> {
    store: &'a mut Memory,
    scope: Scope,
    rules: &'a Rules<'a>,
    change: Change<'a>,
}

impl Writing<'_> {
    fn keep(&mut self, wish: &Wish<'_>) -> Result<Remembered> {
        if let Some(why) = refusal(wish, self.rules) {
            // Words of the user are known as a fact all the same; other words are not even that.
            let is_known = wish.trust == Trust::User && suspicion(wish.text).is_none();
            let fact = match is_known {
                true => match self.fact_for(wish)? {
                    None => return Ok(Remembered::Buried),
                    fact => fact,
                },
                false => wish.fact,
            };
            return self.propose(wish, fact, why);
        }
        let Some(fact) = self.fact_for(wish)? else {
            return Ok(Remembered::Buried);
        };
        let place = Place::of(self.store, self.scope, wish.target)?;
        match self.entry(&place, wish.text, fact)? {
            Some(written) => Ok(Remembered::Written(written)),
            None => {
                let why = format!("{} has no room for it", place.label);
                self.propose(wish, Some(fact), why)
            }
        }
    }

    /// The fact that says the same; none if a person took it back.
    fn fact_for(&mut self, wish: &Wish<'_>) -> Result<Option<i64>> {
        if let Some(id) = wish.fact {
            let found = self.store.facts(self.scope, &[id])?;
            let is_held = found.iter().any(|fact| fact.retired_at.is_none() && !fact.quarantined);
            return Ok(is_held.then_some(id));
        }
        let statement = wish.text.trim();
        let unsaid = [NewSource { extractor: Some(wish.origin), ..NewSource::default() }];
        let drawn = DrawnFact {
            fact: NewFact {
                statement,
                kind: wish.kind,
                subject: wish.predicate.map(|_| "user"),
                predicate: wish.predicate,
                object: None,
                confidence: 0.9,
                origin: if wish.is_explicit { Origin::Extract } else { Origin::Agent },
                trust: wish.trust,
                valid_from: None,
                valid_to: None,
                shared: false,
                entities: &crate::task::names(statement),
                sources: if wish.sources.is_empty() { &unsaid } else { wish.sources },
                chunks: chunk::prepare(
                    &Words { text: statement, ..Words::default() },
                    self.rules.vectors,
                ),
            },
            standing: Standing::New,
            said_at: wish.said_at,
            is_explicit: wish.is_explicit,
        };
        match self.store.draw_fact(self.scope, &drawn, self.change)? {
            Drawn::New(id) | Drawn::Known(id) => Ok(Some(id)),
            Drawn::Buried => Ok(None),
        }
    }
}

/// Why it must not be written without asking.
fn refusal(wish: &Wish<'_>, rules: &Rules<'_>) -> Option<String> {
    if let Some(why) = suspicion(wish.text) {
        return Some(why.to_owned());
    }
    if let Some(why) = distrust(wish.trust) {
        return Some(why.to_owned());
    }
    (!rules.auto_write).then(|| "memory.auto_write is off".to_owned())
}

/// Why words of this trust wait for a person; none: they need not.
fn distrust(trust: Trust) -> Option<&'static str> {
    match trust {
        Trust::User => None,
        Trust::Agent => Some("it may not be the user's own words"),
        Trust::Untrusted => Some("it does not come from the user"),
    }
}

/// A memory file, and what the memory calls it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) target: MemoryTarget,
    /// `memory`, `user`, or `user:ID`.
    pub(crate) label: String,
}

impl Place {
    /// The file for things of a user. MEMORY.md is read by all, so only the owner's words go there.
    pub(crate) fn of(store: &Memory, scope: Scope, target: Target) -> Result<Place> {
        if scope.user() == UserNumber::OWNER {
            let (target, label) = match target {
                Target::Memory => (MemoryTarget::Memory, "memory"),
                Target::User => (MemoryTarget::User(None), "user"),
            };
            return Ok(Place { target, label: label.to_owned() });
        }
        let users = store.users(Admin)?;
        let user = users.iter().find(|user| user.number == scope.user());
        let id = user.map(user_id).transpose()?.flatten();
        let label = id.as_ref().map_or_else(|| "user".to_owned(), |id| format!("user:{id}"));
        Ok(Place { target: MemoryTarget::User(id), label })
    }

    /// Every file that a user's words go to.
    pub(crate) fn all(store: &Memory, scope: Scope) -> Result<Vec<Place>> {
        let own = Place::of(store, scope, Target::User)?;
        Ok(match scope.user() == UserNumber::OWNER {
            true => vec![Place::of(store, scope, Target::Memory)?, own],
            false => vec![own],
        })
    }

    pub(crate) fn rules(&self, rules: &Rules<'_>) -> memory_file::Rules {
        let limit = match self.target {
            MemoryTarget::Memory => rules.memory_limit,
            _ => rules.user_limit,
        };
        memory_file::Rules { owner: rules.owner, limit }
    }
}

/// The fact that an entry of a user's file was written with, if it was.
pub fn fact_of_entry(
    store: &Memory,
    scope: Scope,
    target: Target,
    entry: &str,
) -> Result<Option<i64>> {
    let place = Place::of(store, scope, target)?;
    let links = write::links(store, scope, &place)?;
    Ok(links.get(&entry_hash(entry)).map(|fact| fact.id))
}

/// The file that things of a user go to: MEMORY.md is read by all, so only the owner's words go there.
pub fn file_of(store: &Memory, scope: Scope, target: Target) -> Result<MemoryTarget> {
    Ok(Place::of(store, scope, target)?.target)
}

/// The folder name of a user; none for the owner.
pub fn user_id(user: &User) -> Result<Option<UserId>> {
    if user.number == UserNumber::OWNER {
        return Ok(None);
    }
    Ok(Some(user.name.parse()?))
}
