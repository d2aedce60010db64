//! A fact: what is known. Never overwritten: an edit keeps the earlier text, a change in the world supersedes.

use jiff::Timestamp;

use super::{Admin, Change, NewChunk, OriginId, Scope, Trust, Uid, UserNumber};
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

/// Keep and read facts. What a person (an actor `user`) edits, supersedes or retires stays so: its
/// statement is buried, and drawing it again finds that out.
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

    /// The facts that fit, in the order asked for.
    fn list_facts(
        &self,
        scope: Scope,
        filter: &FactFilter<'_>,
        now: Timestamp,
    ) -> Result<Vec<Fact>>;

    /// The facts that were drawn from an episode, held or not, each with where in it.
    fn facts_drawn_from(&self, scope: Scope, episode: i64) -> Result<Vec<(i64, Source)>>;

    /// Where a fact came from.
    fn sources_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Source>>;

    /// The earlier texts of a fact, oldest first.
    fn revisions_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Revision>>;

    /// Keeps a fact that was drawn from a conversation, unless it is known, was drawn from the same
    /// episode before, or is buried. Newer explicit words lift what is buried.
    fn draw_fact(
        &mut self,
        scope: Scope,
        drawn: &DrawnFact<'_>,
        change: Change<'_>,
    ) -> Result<Drawn>;

    /// Keeps facts of another memory in one transaction, each as `draw_fact` would, and each once: one that
    /// came before adds nothing, whatever became of it since.
    fn take_in_facts(
        &mut self,
        scope: Scope,
        facts: &[(OriginId<'_>, DrawnFact<'_>)],
        change: Change<'_>,
    ) -> Result<Vec<Drawn>>;

    /// The fact that came from there, held or not.
    fn fact_by_origin(&self, scope: Scope, origin: OriginId<'_>) -> Result<Option<i64>>;

    /// The facts held about a subject, whatever is said of it if there is no predicate, newest first;
    /// whether their time is over is not looked at.
    fn facts_about(
        &self,
        scope: Scope,
        subject: &str,
        predicate: Option<&str>,
    ) -> Result<Vec<Fact>>;

    /// Keeps a fact from pruning and from ageing, or no longer.
    fn pin_fact(&mut self, scope: Scope, id: i64, pinned: bool, change: Change<'_>) -> Result<()>;

    /// What happened to a fact, oldest first.
    fn history_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<FactChange>>;

    /// Takes back the last change of a fact: an edit, a supersession, a retirement or a restoration.
    /// With a supersession goes what came into being to take the place; undoing twice does it again.
    fn undo_fact(
        &mut self,
        scope: Scope,
        id: i64,
        chunks: &dyn Fn(&str) -> Vec<NewChunk>,
        change: Change<'_>,
    ) -> Result<Undone>;

    /// How many facts are held of each user who has any, of everybody as well.
    fn held_facts(&self, admin: Admin) -> Result<Vec<(UserNumber, u64)>>;

    /// The pairs of held facts that may not both be true and that nobody settled.
    fn conflicts(&self, scope: Scope) -> Result<Vec<Conflict>>;

    /// Says that two facts may both be true.
    fn settle_conflict(
        &mut self,
        scope: Scope,
        fact: i64,
        other: i64,
        change: Change<'_>,
    ) -> Result<()>;

    /// Notes that an entry of a memory file says the same as a fact.
    fn link_file_entry(&mut self, scope: Scope, link: &FileEntry, now: Timestamp) -> Result<()>;

    /// The entries of memory files that say the same as facts of a scope.
    fn file_entries(&self, scope: Scope) -> Result<Vec<FileEntry>>;

    /// Forgets the link of a fact to a memory file.
    fn unlink_file_entry(&mut self, scope: Scope, fact: i64, file: &str) -> Result<()>;
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
