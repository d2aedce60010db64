//! A fact: what is known. Never overwritten: an edit keeps the earlier text, a change in the world supersedes.

use jiff::Timestamp;

use super::{NewChunk, Trust, Uid, UserNumber};

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
    /// Only those that are marked so.
    pub only: FactOnly,
    /// In which order.
    pub order: FactOrder,
    /// So many are left out at the beginning.
    pub offset: usize,
    /// How many at most.
    pub limit: Option<usize>,
}

/// Facts that are marked in some way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FactOnly {
    /// Marked or not.
    #[default]
    Any,
    /// Pinned ones.
    Pinned,
    /// Those that we no longer hold; they must not be left out otherwise.
    Retired,
}

/// The order of a list of facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FactOrder {
    /// The latest first.
    #[default]
    Newest,
    /// The first first.
    Oldest,
    /// The most used first.
    MostUsed,
}

/// How a fact that was drawn from a conversation stands to those we hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It says something new.
    New,
    /// It takes the place of this one.
    Supersedes(i64),
    /// It was true before this one, which was said later, took its place.
    SupersededBy(i64),
    /// It and this one may not both be true.
    MayContradict(i64),
}

/// A fact that was drawn from a conversation.
#[derive(Debug, Clone)]
pub struct DrawnFact<'a> {
    /// The fact; it has at least one source.
    pub fact: NewFact<'a>,
    /// How it stands to those we hold.
    pub standing: Standing,
    /// When the words it comes from were said.
    pub said_at: Timestamp,
    /// Whether the user asked for it to be remembered in so many words.
    pub is_explicit: bool,
}

/// What became of a fact that was drawn from a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// It is new and has this number.
    New(i64),
    /// The same sentence is known under this number, or was drawn from the same episode before.
    Known(i64),
    /// A person took it back, and said nothing newer.
    Buried,
}

/// One change of a fact, as its history shows it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct FactChange {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub actor: String,
    /// `fact.add`, `fact.succeed` (it took another's place), `fact.edit`, `fact.supersede`, `fact.retire`,
    /// `fact.restore`, `fact.confirm` (said again elsewhere), …
    pub action: String,
    /// The text when it was added, after an edit or before a supersession.
    pub text: Option<String>,
    /// Why, in the words of the person who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What was undone.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Undone {
    /// The change that was taken back.
    pub action: String,
    /// The fact that it was about: of a supersession, the one that holds now.
    pub fact: i64,
}

/// Two facts that may not both be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Conflict {
    /// The newer one.
    pub fact: i64,
    /// The older one.
    pub other: i64,
    /// When it was noticed.
    pub at: Timestamp,
}

/// An entry of a memory file that says the same as a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The fact.
    pub fact: i64,
    /// The file: `memory`, `user`, or `user:ID`.
    pub file: String,
    /// The entry's text as a hash.
    pub entry: [u8; 32],
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
