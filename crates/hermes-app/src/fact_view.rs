//! Facts as they are shown: one, many, and what became of one.

use hermes_store::memory::{Fact, Origin, Revision, Source, Trust, UserNumber};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::text::one_line;

/// One fact with all its fields.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// Its number, as it is typed: `fact:042`.
    pub id: String,
    /// Its id everywhere.
    pub uid: String,
    /// What it says.
    pub text: String,
    /// What kind of fact it is.
    pub kind: String,
    /// Whether it belongs to everybody.
    pub shared: bool,
    /// Whom or what it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What it says of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicate: Option<String>,
    /// The value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// Where it comes from.
    pub origin: Origin,
    /// How far its source is trusted.
    pub trust: Trust,
    /// Since when it is true.
    pub valid_from: Option<Timestamp>,
    /// Until when it was true.
    pub valid_to: Option<Timestamp>,
    /// When it was recorded.
    pub recorded_at: Timestamp,
    /// When it was forgotten.
    pub retired_at: Option<Timestamp>,
    /// The fact that took its place.
    pub superseded_by: Option<String>,
    /// Whether nothing drawn may take its place.
    pub pinned: bool,
    /// Whether it is held back.
    pub quarantined: bool,
    /// How often its words were changed.
    pub revision: u32,
    /// How often it was given to a model.
    pub uses: u32,
    /// The names it is about.
    pub entities: Vec<String>,
}

/// Facts in lines, or in a table.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// The facts.
    pub results: Vec<Shown>,
    /// The zone in which times are shown.
    #[serde(skip)]
    pub zone: TimeZone,
    /// Whether all columns are shown.
    #[serde(skip)]
    pub long: bool,
}

/// A fact with where it comes from and what it said before.
#[derive(Debug, Serialize)]
pub struct Detail {
    /// The fact.
    #[serde(flatten)]
    pub fact: Shown,
    /// Where it comes from.
    pub sources: Vec<From>,
    /// What it said before.
    pub revisions: Vec<Revision>,
    /// The zone in which times are shown.
    #[serde(skip)]
    pub zone: TimeZone,
}

/// Where a fact comes from, and what stands for it now.
#[derive(Debug, Serialize)]
pub struct From {
    /// Where it was said.
    #[serde(flatten)]
    pub source: Source,
    /// The summary that tells of the episode, where its messages are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<i64>,
}

/// What became of a fact.
#[derive(Debug, Serialize)]
pub struct Changed {
    /// Its number, as it is typed: `fact:042`.
    pub id: String,
    /// What it says.
    pub text: String,
    /// What was done.
    pub change: Change,
    /// The fact whose place it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<String>,
    /// The names it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entities: Vec<String>,
}

/// What was done to a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Added,
    /// It was known.
    Known,
    /// It is back.
    Restored,
    /// Its words changed.
    Edited,
    /// It took the place of another.
    Superseded,
}

/// Facts that were deleted.
#[derive(Debug, Serialize)]
pub struct Deleted {
    /// The facts.
    pub results: Vec<Gone>,
    /// Whether nothing is left of them.
    pub erased: bool,
}

/// A fact that was deleted; its words only if they can be brought back.
#[derive(Debug, Serialize)]
pub struct Gone {
    /// Its number, as it is typed.
    pub id: String,
    /// What it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The command that brings it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
}

/// The number of a fact as it is typed and shown.
pub fn name_of(id: i64) -> String {
    format!("fact:{id:03}")
}

/// A fact that was deleted, and how it comes back.
pub fn deleted(fact: &Fact, is_erased: bool) -> Gone {
    let id = name_of(fact.id);
    let undo = format!("hermes memory fact restore {id}");
    Gone {
        text: (!is_erased).then(|| fact.statement.clone()),
        undo: (!is_erased).then_some(undo),
        id,
    }
}

impl Shown {
    /// A fact with all its fields.
    pub fn of(fact: &Fact) -> Shown {
        let fact = fact.clone();
        Shown {
            id: name_of(fact.id),
            uid: fact.uid.to_string(),
            text: fact.statement,
            kind: fact.kind,
            shared: fact.user == UserNumber::SHARED,
            subject: fact.subject,
            predicate: fact.predicate,
            object: fact.object,
            confidence: fact.confidence,
            origin: fact.origin,
            trust: fact.trust,
            valid_from: fact.valid_from,
            valid_to: fact.valid_to,
            recorded_at: fact.recorded_at,
            retired_at: fact.retired_at,
            superseded_by: fact.superseded_by.map(name_of),
            pinned: fact.pinned,
            quarantined: fact.quarantined,
            revision: fact.revision,
            uses: fact.uses,
            entities: fact.entities,
        }
    }

    /// How sure we are: `90 %`.
    pub fn percent(&self) -> String {
        format!("{:.0} %", self.confidence * 100.0)
    }

    /// Where it comes from, in a word.
    pub fn origin_word(&self) -> &'static str {
        match self.origin {
            Origin::User => "user",
            Origin::Agent => "agent",
            Origin::Extract => "conversation",
            Origin::Import => "import",
            Origin::Provider => "provider",
        }
    }

    /// `[fact:042] User prefers tea (confidence: high)`; what the user typed needs no such word.
    pub fn line(&self) -> String {
        let sure = match self.confidence {
            1.0.. => "",
            0.8..1.0 => " (confidence: high)",
            0.5..0.8 => " (confidence: medium)",
            _ => " (confidence: low)",
        };
        format!("[{}] {}{}{sure}", self.id, self.mark(), one_line(&self.text, 160))
    }

    /// How it stands, in a word.
    pub fn state(&self) -> &'static str {
        match (self.retired_at, &self.superseded_by, self.quarantined) {
            (_, Some(_), _) => "superseded",
            (Some(_), None, _) => "forgotten",
            (None, None, true) => "held back",
            (None, None, false) => "current",
        }
    }

    /// What keeps it out of answers, or as it is, in a word.
    pub fn mark(&self) -> &'static str {
        match (self.retired_at, &self.superseded_by, self.quarantined) {
            (_, Some(_), _) => "[superseded] ",
            (Some(_), None, _) => "[deleted] ",
            (None, None, true) => "[held back] ",
            (None, None, false) if self.pinned && self.shared => "[pinned] [shared] ",
            (None, None, false) if self.pinned => "[pinned] ",
            (None, None, false) if self.shared => "[shared] ",
            (None, None, false) => "",
        }
    }
}
