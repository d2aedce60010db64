//! A fact: what is known. Never overwritten: an edit keeps the earlier text, a change in the world supersedes.

use jiff::Timestamp;

use super::{Change, NewChunk, Scope, Trust, Uid, UserNumber};
use crate::Result;

/// Where a fact comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The user said so or typed it.
    User,
    /// An agent noted it.
    Agent,
    /// It was drawn from a conversation.
    Extract,
    /// It came with an import.
    Import,
    /// An external memory gave it.
    Provider,
}

/// A fact to be kept.
#[derive(Debug, Clone)]
pub struct NewFact<'a> {
    /// The sentence.
    pub statement: &'a str,
    /// `fact`, `preference`, `decision`, `identity`, `deadline`, `tool`, …
    pub kind: &'a str,
    /// Whom or what it is about, when known.
    pub subject: Option<&'a str>,
    /// What it says of the subject, when known.
    pub predicate: Option<&'a str>,
    /// The value, when known.
    pub object: Option<&'a str>,
    /// How sure we are, from 0 to 1.
    pub confidence: f64,
    /// Where it comes from.
    pub origin: Origin,
    /// How far it can be trusted.
    pub trust: Trust,
    /// Since when it is true in the world, when known.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true in the world, when known.
    pub valid_to: Option<Timestamp>,
    /// Whether everybody may read it.
    pub shared: bool,
    /// The names it mentions.
    pub entities: &'a [String],
    /// The episode, message and words it was drawn from.
    pub sources: &'a [NewSource<'a>],
    /// The sentence ready for the index.
    pub chunks: Vec<NewChunk>,
}

/// Where a derived thing came from.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewSource<'a> {
    /// The episode.
    pub episode: Option<i64>,
    /// The message.
    pub message: Option<i64>,
    /// The words.
    pub quote: Option<&'a str>,
    /// What drew it out.
    pub extractor: Option<&'a str>,
}

/// Where a derived thing came from, as it was kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Source {
    /// The episode.
    pub episode: Option<i64>,
    /// The message.
    pub message: Option<i64>,
    /// The words.
    pub quote: Option<String>,
    /// What drew it out.
    pub extractor: Option<String>,
}

/// A fact as it is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Fact {
    /// Its number: `fact:042`.
    pub id: i64,
    /// The same everywhere.
    pub uid: Uid,
    /// Whose it is; 0 for everybody.
    pub user: UserNumber,
    /// The sentence.
    pub statement: String,
    /// What kind of fact.
    pub kind: String,
    /// Whom or what it is about.
    pub subject: Option<String>,
    /// What it says of the subject.
    pub predicate: Option<String>,
    /// The value.
    pub object: Option<String>,
    /// How sure we are, from 0 to 1.
    pub confidence: f64,
    /// Where it comes from.
    pub origin: Origin,
    /// How far it can be trusted.
    pub trust: Trust,
    /// Since when it is true in the world.
    pub valid_from: Option<Timestamp>,
    /// Until when it is true in the world.
    pub valid_to: Option<Timestamp>,
    /// Since when we know it.
    pub recorded_at: Timestamp,
    /// Since when we no longer hold it.
    pub retired_at: Option<Timestamp>,
    /// The fact that took its place.
    pub superseded_by: Option<i64>,
    /// Whether it is kept from pruning.
    pub pinned: bool,
    /// Whether it is held back as suspect.
    pub quarantined: bool,
    /// How many texts it has had.
    pub revision: u32,
    /// How often it was handed out in a context.
    pub uses: u32,
    /// The names it mentions.
    pub entities: Vec<String>,
}

/// What `add_fact` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// It is new and has this number.
    New(i64),
    /// The same sentence is known under this number.
    Known(i64),
}

/// Which facts are meant.
#[derive(Debug, Clone, Default)]
pub struct FactFilter<'a> {
    /// Only of this kind.
    pub kind: Option<&'a str>,
    /// Only those that mention this name.
    pub entity: Option<&'a str>,
    /// Only those recorded since.
    pub since: Option<Timestamp>,
    /// What held, and what was known, at this time; now if none.
    pub as_of: Option<Timestamp>,
    /// Also those that were retired or superseded.
    pub with_retired: bool,
    /// How many at most, newest first.
    pub limit: Option<usize>,
}

/// Keep and read facts.
pub trait Facts {
    /// Keeps a fact, unless the same sentence is known and held.
    fn add_fact(&mut self, scope: Scope, fact: &NewFact<'_>, change: Change<'_>) -> Result<Added>;

    /// Gives a fact another text, keeping the earlier one; the number stays.
    #[expect(clippy::too_many_arguments, reason = "who, which, the text with its chunks, by whom")]
    fn edit_fact(
        &mut self,
        scope: Scope,
        id: i64,
        statement: &str,
        chunks: Vec<NewChunk>,
        change: Change<'_>,
    ) -> Result<()>;

    /// Puts a new fact in the place of one that is no longer true; returns the new number.
    fn supersede_fact(
        &mut self,
        scope: Scope,
        id: i64,
        by: &NewFact<'_>,
        change: Change<'_>,
    ) -> Result<i64>;

    /// Takes a fact out of every answer; it can be brought back.
    fn retire_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()>;

    /// Brings a retired fact back.
    fn restore_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()>;

    /// Removes a fact with its texts, vectors, quotes and earlier texts; only its id remains.
    fn erase_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()>;

    /// Finds the fact a person means by `42`, `042`, `fact:42` or the beginning of its uid.
    fn find_fact(&self, scope: Scope, selector: &str) -> Result<Fact>;

    /// The facts with these numbers that the scope may read, in the order asked for.
    fn facts(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Fact>>;

    /// The facts that fit, newest first.
    fn list_facts(
        &self,
        scope: Scope,
        filter: &FactFilter<'_>,
        now: Timestamp,
    ) -> Result<Vec<Fact>>;

    /// Where a fact came from.
    fn sources_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Source>>;

    /// The earlier texts of a fact, oldest first.
    fn revisions_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Revision>>;
}

/// An earlier text.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Revision {
    /// Its number, from 1.
    pub number: u32,
    /// When it was replaced.
    pub at: Timestamp,
    /// Who replaced it.
    pub actor: String,
    /// The text.
    pub text: String,
}
