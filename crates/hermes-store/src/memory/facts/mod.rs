//! Facts: kept, edited, superseded, retired, brought back, erased, and found again.

pub(super) mod change;
mod draw;
mod history;
mod links;
mod read;
mod select;
mod undo;

use jiff::Timestamp;
use rusqlite::params;

use super::index::Indexer;
use super::{Memory, Outcome, audit, entities, origins};
use crate::memory::backend::{self, Connection};
use crate::memory::{
    Added, Admin, Change, ChunkKey, Conflict, Drawn, DrawnFact, Fact, FactChange, FactFilter,
    FileEntry, ItemKind, NewChunk, NewFact, NewSource, Origin, OriginId, Revision, Scope, Source,
    Undone, UserNumber,
};
use crate::{Error, Result};

const ORIGINS: [(&str, Origin); 5] = [
    ("user", Origin::User),
    ("agent", Origin::Agent),
    ("extract", Origin::Extract),
    ("import", Origin::Import),
    ("provider", Origin::Provider),
];

/// How far above the number of its kind the reasons for a change of a thing are kept.
const REASONS_ABOVE: i64 = 100;

impl Memory {
    /// Takes a fact out of every answer; its history says why, in a person's own words.
    pub fn retire_fact_because(
        &mut self,
        scope: Scope,
        id: i64,
        reason: &str,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| {
            let held = change::held(transaction, scope, id, "retire")?;
            change::retire(transaction, &held, change)?;
            history::keep_reason(transaction, id, (reason, change))
        })
    }
}

impl Memory {
    /// Keeps a fact, unless the same sentence is known and held.
    pub fn add_fact(
        &mut self,
        scope: Scope,
        fact: &NewFact<'_>,
        change: Change<'_>,
    ) -> Result<Added> {
        self.write(scope, |transaction| change::add(transaction, scope, fact, change))
    }

    /// Gives a fact another text, keeping the earlier one; the number stays.
    #[expect(clippy::too_many_arguments, reason = "who, which, the text with its chunks, by whom")]
    pub fn edit_fact(
        &mut self,
        scope: Scope,
        id: i64,
        statement: &str,
        chunks: &[NewChunk],
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| {
            let held = change::held(transaction, scope, id, "edit")?;
            change::edit(transaction, &held, statement, chunks, change)
        })
    }

    /// Puts a new fact in the place of one that is no longer true; returns the new number.
    pub fn supersede_fact(
        &mut self,
        scope: Scope,
        id: i64,
        by: &NewFact<'_>,
        change: Change<'_>,
    ) -> Result<i64> {
        self.write(scope, |transaction| {
            let held = change::held(transaction, scope, id, "supersede")?;
            change::supersede(transaction, &held, by, change)
        })
    }

    /// Takes a fact out of every answer; it can be brought back.
    pub fn retire_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.write(scope, |transaction| {
            let held = change::held(transaction, scope, id, "retire")?;
            change::retire(transaction, &held, change)
        })
    }

    /// Brings a retired fact back.
    pub fn restore_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.write(scope, |transaction| {
            let kept = change::kept(transaction, scope, id)?;
            change::restore(transaction, &kept, change)
        })
    }

    /// Removes a fact with its texts, vectors, quotes and earlier texts; only its id remains.
    pub fn erase_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.without_a_trace(scope, |transaction| {
            let kept = change::kept(transaction, scope, id)?;
            change::erase(transaction, &kept, change)
        })
    }

    /// Finds the fact a person means by `42`, `042`, `fact:42` or the beginning of its uid.
    pub fn find_fact(&self, scope: Scope, selector: &str) -> Result<Fact> {
        select::find(self, scope, selector)
    }

    /// The facts with these numbers that the scope may read, in the order asked for.
    pub fn facts(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Fact>> {
        let read = || -> backend::Result<_> { read::by_ids(self.asking(scope), scope, ids) };
        read().map_err(|source| self.failed(source))
    }

    /// The facts that fit, in the order asked for.
    pub fn list_facts(
        &self,
        scope: Scope,
        filter: &FactFilter<'_>,
        now: jiff::Timestamp,
    ) -> Result<Vec<Fact>> {
        read::list(self.asking(scope), scope, filter, now).map_err(|source| self.failed(source))
    }

    /// The facts that were drawn from an episode, held or not, each with where in it.
    pub fn facts_drawn_from(&self, scope: Scope, episode: i64) -> Result<Vec<(i64, Source)>> {
        if self.asking(scope).has_no_facts(episode) {
            return Ok(Vec::new());
        }
        read::drawn_from(self.asking(scope), scope, episode).map_err(|source| self.failed(source))
    }

    /// Where a fact came from.
    pub fn sources_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        read::sources(self.asking(scope), scope, id).map_err(|source| self.failed(source))
    }

    /// The earlier texts of a fact, oldest first.
    pub fn revisions_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Revision>> {
        read::revisions(self.asking(scope), scope, id).map_err(|source| self.failed(source))
    }

    /// Keeps a fact that was drawn from a conversation, unless it is known, was drawn from the same
    /// episode before, or is buried. Newer explicit words lift what is buried.
    pub fn draw_fact(
        &mut self,
        scope: Scope,
        drawn: &DrawnFact<'_>,
        change: Change<'_>,
    ) -> Result<Drawn> {
        self.write(scope, |transaction| draw::draw(transaction, scope, drawn, change))
    }

    /// Keeps facts of another memory in one transaction, each as `draw_fact` would, and each once: one that
    /// came before adds nothing, whatever became of it since.
    pub fn take_in_facts(
        &mut self,
        scope: Scope,
        facts: &[(OriginId<'_>, DrawnFact<'_>)],
        change: Change<'_>,
    ) -> Result<Vec<Drawn>> {
        self.write(scope, |transaction| {
            let take = |(origin, drawn): &(OriginId<'_>, DrawnFact<'_>)| {
                draw::take_in(transaction, scope, (*origin, drawn), change)
            };
            facts.iter().map(take).collect()
        })
    }

    /// The fact that came from there, held or not.
    pub fn fact_by_origin(&self, scope: Scope, origin: OriginId<'_>) -> Result<Option<i64>> {
        let item = (ItemKind::Fact, scope.user());
        origins::look_up(self.asking(scope), item, origin).map_err(|source| self.failed(source))
    }

    /// The facts held about a subject, whatever is said of it if there is no predicate, newest first;
    /// whether their time is over is not looked at.
    pub fn facts_about(
        &self,
        scope: Scope,
        subject: &str,
        predicate: Option<&str>,
    ) -> Result<Vec<Fact>> {
        let found = read::about(self.asking(scope), scope, subject, predicate);
        found.map_err(|source| self.failed(source))
    }

    /// Keeps a fact from pruning and from ageing, or no longer.
    pub fn pin_fact(
        &mut self,
        scope: Scope,
        id: i64,
        pinned: bool,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| links::pin(transaction, scope, id, pinned, change))
    }

    /// What happened to a fact, oldest first.
    pub fn history_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<FactChange>> {
        let failed = |source| self.failed(source);
        let fact = read::by_id(self.asking(scope), scope, id).map_err(failed)?;
        let missing = || Error::NoSuchItem { item: audit::item_name(ItemKind::Fact, id) };
        history::history(self.asking(scope), scope, &fact.ok_or_else(missing)?).map_err(failed)
    }

    /// Takes back the last change of a fact: an edit, a supersession, a retirement or a restoration.
    /// With a supersession goes what came into being to take the place; undoing twice does it again.
    pub fn undo_fact(
        &mut self,
        scope: Scope,
        id: i64,
        chunks: &dyn Fn(&str) -> Vec<NewChunk>,
        change: Change<'_>,
    ) -> Result<Undone> {
        self.write(scope, |transaction| undo::undo(transaction, scope, id, chunks, change))
    }

    /// How many facts are held of each user who has any, of everybody as well.
    pub fn held_facts(&self, _admin: Admin) -> Result<Vec<(UserNumber, u64)>> {
        read::held(self.asking(Admin)).map_err(|source| self.failed(source))
    }

    /// The pairs of held facts that may not both be true and that nobody settled.
    pub fn conflicts(&self, scope: Scope) -> Result<Vec<Conflict>> {
        links::conflicts(self.asking(scope), scope).map_err(|source| self.failed(source))
    }

    /// Says that two facts may both be true.
    pub fn settle_conflict(
        &mut self,
        scope: Scope,
        fact: i64,
        other: i64,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| links::settle(transaction, scope, [fact, other], change))
    }

    /// Notes that an entry of a memory file says the same as a fact.
    pub fn link_file_entry(
        &mut self,
        scope: Scope,
        link: &FileEntry,
        now: Timestamp,
    ) -> Result<()> {
        self.write(scope, |transaction| links::link(transaction, scope, link, now))
    }

    /// The entries of memory files that say the same as facts of a scope.
    pub fn file_entries(&self, scope: Scope) -> Result<Vec<FileEntry>> {
        links::entries(self.asking(scope), scope).map_err(|source| self.failed(source))
    }

    /// Forgets the link of a fact to a memory file.
    pub fn unlink_file_entry(&mut self, scope: Scope, fact: i64, file: &str) -> Result<()> {
        self.write(scope, |transaction| links::unlink(transaction, scope, fact, file))
    }
}

/// What belongs to a fact, procedure or event besides its row.
pub(super) struct Belongings<'a> {
    pub(super) owner: UserNumber,
    pub(super) item: (ItemKind, i64),
    pub(super) entities: &'a [String],
    pub(super) sources: &'a [NewSource<'a>],
    pub(super) chunks: &'a [NewChunk],
    /// The time of the text, for the index.
    pub(super) at: jiff::Timestamp,
}

/// Keeps names, sources and the index of a thing whose row was just made.
pub(super) fn keep_belongings(
    transaction: &Connection,
    belongings: &Belongings<'_>,
    change: Change<'_>,
) -> Outcome<()> {
    entities::note(transaction, belongings.owner, belongings.item, belongings.entities, change)?;
    keep_sources(transaction, belongings.item, belongings.sources)?;
    index_text(transaction, belongings)
}

/// Keeps where a thing came from.
fn keep_sources(
    transaction: &Connection,
    (kind, item): (ItemKind, i64),
    sources: &[NewSource<'_>],
) -> Outcome<()> {
    for source in sources {
        transaction.prepare_cached(ADD_SOURCE)?.execute(params![
            kind.number(),
            item,
            source.episode,
            source.message,
            source.quote,
            source.extractor
        ])?;
    }
    Ok(())
}

/// Puts the chunks of a thing into the index.
fn index_text(transaction: &Connection, belongings: &Belongings<'_>) -> Outcome<()> {
    let (kind, item) = belongings.item;
    let mut indexer = Indexer::new(transaction)?;
    for (part, chunk) in belongings.chunks.iter().enumerate() {
        let key = ChunkKey::of_item(belongings.owner, kind, item, part);
        indexer.add(key, chunk, belongings.at)?;
    }
    indexer.finish()
}

const ADD_SOURCE: &str = "
    insert into source (kind, item, episode, message, quote, extractor)
    values (?1, ?2, ?3, ?4, ?5, ?6)";
