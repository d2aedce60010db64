//! Draw facts from conversations: by rules, or by a model whose every fact is checked against the words.

mod at_once;
mod batch;
pub mod model;
pub mod relate;
pub mod rules;
mod run;
mod wishes;

pub use at_once::{AtOnce, at_once};
pub use run::{Report, Settings, run};
pub use wishes::target_of;

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// What kind of fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What somebody likes, and how things should be done.
    Preference,
    /// A standing wish: from now on, always, never.
    Instruction,
    /// What was chosen.
    Decision,
    /// Who the user is.
    Identity,
    /// Something due on a date.
    Deadline,
    /// What something uses, runs on or is written in.
    Tool,
    /// Handles, user names, addresses, numbers.
    Account,
    /// Who somebody is to the user or to a project.
    Relation,
    /// Anything else that the user asked to remember.
    Fact,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 9] = [
        Kind::Preference,
        Kind::Instruction,
        Kind::Decision,
        Kind::Identity,
        Kind::Deadline,
        Kind::Tool,
        Kind::Account,
        Kind::Relation,
        Kind::Fact,
    ];

    /// The word that stands for it in the memory.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Preference => "preference",
            Kind::Instruction => "instruction",
            Kind::Decision => "decision",
            Kind::Identity => "identity",
            Kind::Deadline => "deadline",
            Kind::Tool => "tool",
            Kind::Account => "account",
            Kind::Relation => "relation",
            Kind::Fact => "fact",
        }
    }

    /// The kind with this word.
    pub fn from_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A message as the rules read it.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'a> {
    /// `user`, `assistant`, `tool` or `system`; only the user's words say facts.
    pub role: &'a str,
    /// What was said.
    pub text: &'a str,
    /// What was said just before, oldest first: (role, text).
    pub before: &'a [(&'a str, &'a str)],
    /// When it was said.
    pub at: Timestamp,
    /// Where the user lives.
    pub zone: &'a TimeZone,
}

impl Spoken<'_> {
    /// The day it was said, where the user lives.
    pub fn day(&self) -> Date {
        self.at.to_zoned(self.zone.clone()).date()
    }
}

/// A fact that was found in a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What kind of fact.
    pub kind: Kind,
    /// A sentence in the third person that stands alone.
    pub statement: String,
    /// Whom or what it is about, when known.
    pub subject: Option<String>,
    /// What it says of the subject, when known; see [`relate::PREDICATES`].
    pub predicate: Option<String>,
    /// The value, when known.
    pub object: Option<String>,
    /// How sure we are, from 0 to 1.
    pub confidence: f64,
    /// Since when it is true in the world, when known.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true in the world, when known; for a deadline the end of its day.
    pub valid_to: Option<Timestamp>,
    /// The day of a deadline.
    pub due: Option<Date>,
    /// The names it mentions.
    pub entities: Vec<String>,
    /// The exact words, in bytes of the message.
    pub quote: Range<usize>,
    /// Whether the user asked for it to be remembered in so many words.
    pub is_explicit: bool,
    /// Whether the words say that something changed: moved, switched, no longer.
    pub is_change: bool,
}
