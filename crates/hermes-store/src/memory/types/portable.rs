//! A whole memory as items that can be carried elsewhere, and taken in again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{NewChunk, UserNumber};

/// The newest form of an export that this build knows.
pub const EXPORT_VERSION: u32 = 1;

/// The parts of an export, in the order in which they stand and must be taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// People.
    Users,
    /// Channels and ids that belong to people.
    Identities,
    /// Channels and ids that were seen and belong to nobody.
    SeenIdentities,
    /// The chain of changes.
    Audit,
    /// Names and their aliases.
    Entities,
    /// Conversations.
    Sessions,
    /// What happened, with its messages.
    Episodes,
    /// What is known.
    Facts,
    /// Facts that may not both be true.
    Conflicts,
    /// How things are done well.
    Procedures,
    /// Work that was done.
    Tasks,
    /// What happened when.
    Events,
    /// What waits for a person's word.
    Proposals,
    /// What was handed to a model.
    Receipts,
    /// How far sessions of state.db were taken in.
    Taken,
    /// Where things came from that are no longer there.
    Origins,
    /// What a person took back, as hashes.
    Graves,
    /// The ids of what was erased.
    Tombstones,
}

impl Section {
    /// Every part, in order.
    pub const ALL: [Section; 18] = [
        Section::Users,
        Section::Identities,
        Section::SeenIdentities,
        Section::Audit,
        Section::Entities,
        Section::Sessions,
        Section::Episodes,
        Section::Facts,
        Section::Conflicts,
        Section::Procedures,
        Section::Tasks,
        Section::Events,
        Section::Proposals,
        Section::Receipts,
        Section::Taken,
        Section::Origins,
        Section::Graves,
        Section::Tombstones,
    ];

    /// Its key in the document.
    pub fn name(self) -> &'static str {
        match self {
            Section::Users => "users",
            Section::Identities => "identities",
            Section::SeenIdentities => "seen_identities",
            Section::Audit => "audit",
            Section::Entities => "entities",
            Section::Sessions => "sessions",
            Section::Episodes => "episodes",
            Section::Facts => "facts",
            Section::Conflicts => "conflicts",
            Section::Procedures => "procedures",
            Section::Tasks => "tasks",
            Section::Events => "events",
            Section::Proposals => "proposals",
            Section::Receipts => "receipts",
            Section::Taken => "taken",
            Section::Origins => "origins",
            Section::Graves => "graves",
            Section::Tombstones => "tombstones",
        }
    }

    /// The part with this key.
    pub fn from_name(name: &str) -> Option<Section> {
        Section::ALL.into_iter().find(|section| section.name() == name)
    }
}

/// What stands in front of the items of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ExportHead {
    /// The form of the document.
    pub hermes_memory: u32,
    /// The program that wrote it.
    pub made_by: String,
    /// The profile it was taken from.
    pub profile: String,
    /// The memory it was taken from.
    pub home_id: String,
    /// When.
    pub exported_at: Timestamp,
    /// Whether only a part of the memory was asked for.
    pub is_part: bool,
    /// The highest number that was given out of each kind, so that none is given out twice.
    pub numbers: BTreeMap<String, i64>,
}

/// What of a memory is exported.
#[derive(Clone, Default)]
pub struct ExportChoice<'a> {
    /// Only what belongs to this user.
    pub user: Option<UserNumber>,
    /// Only what was recorded since.
    pub since: Option<Timestamp>,
    /// Only these parts, with the users and sessions they need.
    pub sections: Option<&'a [Section]>,
    /// What every text is passed through.
    pub redact: Option<&'a dyn Fn(&str) -> String>,
}

impl ExportChoice<'_> {
    /// Whether everything is meant, as it is.
    pub fn is_whole(&self) -> bool {
        self.user.is_none()
            && self.since.is_none()
            && self.sections.is_none()
            && self.redact.is_none()
    }
}

/// One thing that is exported.
#[derive(Debug)]
pub enum Exported<'a> {
    /// What stands in front; who writes it and when is for the caller to add.
    Head(ExportHead),
    /// One item as JSON without a line end.
    Item(Section, &'a [u8]),
}

/// One item of an export, as it was read.
#[derive(Debug, Clone)]
pub struct PortableItem {
    /// Which part it belongs to.
    pub section: Section,
    /// What it says.
    pub fields: Map<String, Value>,
}

/// A text that is about to be indexed.
#[derive(Debug, Clone, Copy)]
pub struct PortableText<'a> {
    /// The words.
    pub text: &'a str,
    /// The description of an attachment.
    pub caption: Option<&'a str>,
    /// Who said it.
    pub speaker: Option<&'a str>,
    /// When it was said, for a message.
    pub at: Option<Timestamp>,
    /// The words by which a summary is found beside its own; none for all that is no summary.
    pub further: Option<&'a str>,
}

/// Makes the chunks of a text that is taken in.
pub type Chunker<'a> = &'a dyn Fn(&PortableText<'_>) -> Vec<NewChunk>;

/// An import under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// What the import is known by, if it has to be gone on with.
    pub id: String,
    /// The memory that the items come from.
    pub home_id: String,
    /// Whether an earlier run of the same import was cut off.
    pub resumes: bool,
    /// Whether the memory was empty: it becomes the same as the one exported.
    pub into_empty: bool,
    /// Whether the items come from this very memory.
    pub is_own: bool,
    pub(crate) follows_chain: bool,
    pub(crate) last_hash: Option<[u8; 32]>,
    pub(crate) added: u64,
    pub(crate) numbers_here: BTreeMap<String, i64>,
    pub(crate) numbers_there: BTreeMap<String, i64>,
}

impl Import {
    /// Whether a number means the same here as there, also that of something which is gone.
    pub(crate) fn keeps_numbers(&self) -> bool {
        self.into_empty || self.is_own
    }
}

/// What became of the items of one part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Tally {
    /// Taken in.
    pub added: u64,
    /// There already.
    pub known: u64,
    /// Left out because they were to be forgotten here.
    pub forgotten: u64,
    /// Left out because they cannot be used.
    pub refused: u64,
}

/// What became of items.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    /// By part, and messages by themselves.
    pub tallies: BTreeMap<&'static str, Tally>,
    /// The first reasons for which an item was refused.
    pub reasons: Vec<String>,
}

/// How many reasons are kept.
pub const MOST_REASONS: usize = 20;

impl Imported {
    /// What became of the items of one part.
    pub fn tally(&mut self, name: &'static str) -> &mut Tally {
        self.tallies.entry(name).or_default()
    }

    /// Adds what became of others.
    pub fn join(&mut self, other: Imported) {
        for (name, tally) in other.tallies {
            let sum = self.tally(name);
            sum.added += tally.added;
            sum.known += tally.known;
            sum.forgotten += tally.forgotten;
            sum.refused += tally.refused;
        }
        let room = MOST_REASONS.saturating_sub(self.reasons.len());
        self.reasons.extend(other.reasons.into_iter().take(room));
    }

    /// The sum over all parts; messages are inside their episodes and not counted again.
    pub fn total(&self) -> Tally {
        let mut sum = Tally::default();
        for tally in self.tallies.iter().filter(|(name, _)| **name != MESSAGES).map(|one| one.1) {
            sum.added += tally.added;
            sum.known += tally.known;
            sum.forgotten += tally.forgotten;
            sum.refused += tally.refused;
        }
        sum
    }
}

/// The name under which messages are counted.
pub const MESSAGES: &str = "messages";
