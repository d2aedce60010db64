//! Facts: kept, edited, superseded, retired, brought back, erased, and found again.

mod change;
mod read;
mod select;

use jiff::Timestamp;
use rusqlite::{Transaction, params};

use super::index::Indexer;
use super::{SqliteMemory, Step, entities};
use crate::Result;
use crate::memory::{
    Added, Change, ChunkKey, Conflict, Drawn, DrawnFact, Fact, FactChange, FactFilter, Facts,
    FileEntry, ItemKind, NewChunk, NewFact, NewSource, Origin, Revision, Scope, Source, Undone,
    UserNumber,
};

const ORIGINS: [(&str, Origin); 5] = [
    ("user", Origin::User),
    ("agent", Origin::Agent),
    ("extract", Origin::Extract),
    ("import", Origin::Import),
    ("provider", Origin::Provider),
];

impl Facts for SqliteMemory {
    fn add_fact(&mut self, scope: Scope, fact: &NewFact<'_>, change: Change<'_>) -> Result<Added> {
        self.write(|transaction| change::add(transaction, scope, fact, change))
    }

    fn edit_fact(
        &mut self,
        scope: Scope,
        id: i64,
        statement: &str,
        chunks: Vec<NewChunk>,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(|transaction| {
            let held = change::held(transaction, scope, id, "edit")?;
            change::edit(transaction, &held, statement, &chunks, change)
        })
    }

    fn supersede_fact(
        &mut self,
        scope: Scope,
        id: i64,
        by: &NewFact<'_>,
        change: Change<'_>,
    ) -> Result<i64> {
        self.write(|transaction| {
            let held = change::held(transaction, scope, id, "supersede")?;
            change::supersede(transaction, &held, by, change)
        })
    }

    fn retire_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.write(|transaction| {
            let held = change::held(transaction, scope, id, "retire")?;
            change::retire(transaction, &held, change)
        })
    }

    fn restore_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.write(|transaction| {
            let kept = change::kept(transaction, scope, id)?;
            change::restore(transaction, &kept, change)
        })
    }

    fn erase_fact(&mut self, scope: Scope, id: i64, change: Change<'_>) -> Result<()> {
        self.without_a_trace(|transaction| {
            let kept = change::kept(transaction, scope, id)?;
            change::erase(transaction, &kept, change)
        })
    }

    fn find_fact(&self, scope: Scope, selector: &str) -> Result<Fact> {
        select::find(self, scope, selector)
    }

    fn facts(&self, scope: Scope, ids: &[i64]) -> Result<Vec<Fact>> {
        let read = || -> rusqlite::Result<_> {
            let found = ids.iter().map(|id| read::by_id(&self.connection, scope, *id));
            found.filter_map(rusqlite::Result::transpose).collect()
        };
        read().map_err(|source| self.failed(source))
    }

    fn list_facts(
        &self,
        scope: Scope,
        filter: &FactFilter<'_>,
        now: jiff::Timestamp,
    ) -> Result<Vec<Fact>> {
        read::list(&self.connection, scope, filter, now).map_err(|source| self.failed(source))
    }

    fn sources_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Source>> {
        read::sources(&self.connection, scope, id).map_err(|source| self.failed(source))
    }

    fn revisions_of_fact(&self, scope: Scope, id: i64) -> Result<Vec<Revision>> {
        read::revisions(&self.connection, scope, id).map_err(|source| self.failed(source))
    }

    fn draw_fact(
        &mut self,
        _scope: Scope,
        _drawn: &DrawnFact<'_>,
        _change: Change<'_>,
    ) -> Result<Drawn> {
        todo!()
    }

    fn facts_about(
        &self,
        _scope: Scope,
        _subject: &str,
        _predicate: Option<&str>,
    ) -> Result<Vec<Fact>> {
        todo!()
    }

    fn pin_fact(
        &mut self,
        _scope: Scope,
        _id: i64,
        _pinned: bool,
        _change: Change<'_>,
    ) -> Result<()> {
        todo!()
    }

    fn history_of_fact(&self, _scope: Scope, _id: i64) -> Result<Vec<FactChange>> {
        todo!()
    }

    fn undo_fact(
        &mut self,
        _scope: Scope,
        _id: i64,
        _chunks: &dyn Fn(&str) -> Vec<NewChunk>,
        _change: Change<'_>,
    ) -> Result<Undone> {
        todo!()
    }

    fn conflicts(&self, _scope: Scope) -> Result<Vec<Conflict>> {
        todo!()
    }

    fn settle_conflict(
        &mut self,
        _scope: Scope,
        _fact: i64,
        _other: i64,
        _change: Change<'_>,
    ) -> Result<()> {
        todo!()
    }

    fn link_file_entry(&mut self, _scope: Scope, _link: &FileEntry, _now: Timestamp) -> Result<()> {
        todo!()
    }

    fn file_entries(&self, _scope: Scope) -> Result<Vec<FileEntry>> {
        todo!()
    }

    fn unlink_file_entry(&mut self, _scope: Scope, _fact: i64, _file: &str) -> Result<()> {
        todo!()
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
    transaction: &Transaction<'_>,
    belongings: &Belongings<'_>,
    change: Change<'_>,
) -> Step<()> {
    let (kind, item) = belongings.item;
    entities::note(transaction, belongings.owner, belongings.item, belongings.entities, change)?;
    for source in belongings.sources {
        transaction.prepare_cached(ADD_SOURCE)?.execute(params![
            kind.number(),
            item,
            source.episode,
            source.message,
            source.quote,
            source.extractor
        ])?;
    }
    index_text(transaction, belongings)
}

/// Puts the chunks of a thing into the index.
fn index_text(transaction: &Transaction<'_>, belongings: &Belongings<'_>) -> Step<()> {
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
