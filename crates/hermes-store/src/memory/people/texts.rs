//! The index over one user's texts gets another user's numbers: chunks, words, vectors, codes.

use std::collections::HashMap;

use crate::memory::backend::{self, Transaction};
use jiff::Timestamp;
use rusqlite::params;

use super::super::Outcome;
use super::super::index::{self, Indexer};
use super::super::segments::{self, Keeper};
use crate::memory::{ChunkKey, Chunker, ItemKind, NewChunk, PortableText, UserNumber};

/// Gives texts their new numbers inside one transaction.
pub(super) struct Texts<'t> {
    transaction: &'t Transaction<'t>,
    from: UserNumber,
    chunker: Chunker<'t>,
    keepers: HashMap<i64, Keeper<'t>>,
    /// Texts that this program cuts otherwise than the one that wrote them.
    anew: Vec<(ChunkKey, NewChunk, Timestamp)>,
}

/// One text that moves: the number it had, the number it gets, what it says and when.
pub(super) struct Moving<'a> {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) text: PortableText<'a>,
    pub(super) at: Timestamp,
}

impl<'t> Texts<'t> {
    pub(super) fn new(
        transaction: &'t Transaction<'t>,
        [from, _]: [UserNumber; 2],
        chunker: Chunker<'t>,
    ) -> Outcome<Texts<'t>> {
        let ids: Vec<i64> = transaction
            .prepare(MODELS)?
            .query_map([], |row| row.get(0))?
            .collect::<backend::Result<_>>()?;
        let mut keepers = HashMap::new();
        for id in ids {
            if let Some(model) = segments::model(transaction, id)? {
                keepers.insert(id, Keeper::new(transaction, model));
            }
        }
        Ok(Texts { transaction, from, chunker, keepers, anew: Vec::new() })
    }

    /// Moves one text; one that is not in the index has nothing to be moved.
    pub(super) fn take(&mut self, moving: &Moving<'_>) -> Outcome<()> {
        let (old, new) = (ChunkKey::all_of_text(moving.from), ChunkKey::all_of_text(moving.to));
        let parts: Vec<i64> = self
            .transaction
            .prepare_cached(CHUNKS)?
            .query_map([old.start(), old.end()], |row| row.get(0))?
            .collect::<backend::Result<_>>()?;
        if parts.is_empty() {
            return Ok(());
        }
        let chunks = (self.chunker)(&moving.text);
        // A server keeps words and vectors in rows of its own form: there they are made anew.
        if chunks.len() != parts.len() || self.transaction.postgres().is_some() {
            index::remove_text(self.transaction, moving.from)?;
            let keyed = chunks.into_iter().enumerate().map(|(part, chunk)| {
                let part = i64::try_from(part).unwrap_or(0);
                (ChunkKey::from_row(new.start() + part), chunk, moving.at)
            });
            self.anew.extend(keyed);
            return Ok(());
        }
        for (part, chunk) in parts.into_iter().zip(chunks) {
            let key = ChunkKey::from_row(part - old.start() + new.start());
            self.transaction.prepare_cached(DROP_WORDS)?.execute([part])?;
            self.transaction.prepare_cached(ADD_WORDS)?.execute(params![key.get(), chunk.words])?;
            self.transaction.prepare_cached(MOVE_CHUNK)?.execute([part, key.get()])?;
            self.vectors(part, key, moving.at)?;
        }
        Ok(())
    }

    fn vectors(&mut self, part: i64, key: ChunkKey, at: Timestamp) -> Outcome<()> {
        let kept: Vec<(i64, Vec<u8>)> = self
            .transaction
            .prepare_cached(VECTORS)?
            .query_map([part], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<backend::Result<_>>()?;
        for (model, bytes) in kept {
            self.transaction.prepare_cached(MOVE_VECTOR)?.execute([model, part, key.get()])?;
            if let Some(keeper) = self.keepers.get_mut(&model) {
                keeper.put_code(key, &segments::from_bytes(&bytes), at)?;
            }
        }
        Ok(())
    }

    /// Writes what was gathered; what is left of the old numbers goes.
    pub(super) fn finish(self) -> Outcome<()> {
        for keeper in self.keepers.into_values() {
            keeper.finish()?;
        }
        let mut indexer = Indexer::new(self.transaction)?;
        for (key, chunk, at) in &self.anew {
            indexer.add(*key, chunk, *at)?;
        }
        indexer.finish()?;
        for kind in ItemKind::ALL {
            let range = ChunkKey::all_of(self.from, kind);
            let left: Vec<i64> = self
                .transaction
                .prepare_cached(CHUNKS)?
                .query_map([range.start(), range.end()], |row| row.get(0))?
                .collect::<backend::Result<_>>()?;
            let mut texts: Vec<i64> =
                left.into_iter().map(|id| ChunkKey::from_row(id).text()).collect();
            texts.dedup();
            index::remove_texts(self.transaction, &texts)?;
        }
        if self.transaction.postgres().is_some() {
            return Ok(());
        }
        for sql in DROP_SEGMENTS {
            self.transaction.prepare_cached(sql)?.execute([self.from.get()])?;
        }
        Ok(())
    }
}

const MODELS: &str = "select id from embed_model order by id";
const CHUNKS: &str = "select id from chunk where id between ?1 and ?2 order by id";
const DROP_WORDS: &str = "delete from chunk_words where rowid = ?1";
const ADD_WORDS: &str = "insert into chunk_words (rowid, words) values (?1, ?2)";
const MOVE_CHUNK: &str = "update chunk set id = ?2 where id = ?1";
const VECTORS: &str = "
    select model, v from vector where chunk = ?1 and model in (select id from embed_model)";
const MOVE_VECTOR: &str = "update vector set chunk = ?3 where model = ?1 and chunk = ?2";
const DROP_SEGMENTS: [&str; 3] = [
    "delete from vector_codes where segment in (select id from vector_segment where user_id = ?1)",
    "delete from vector_slots where segment in (select id from vector_segment where user_id = ?1)",
    "delete from vector_segment where user_id = ?1",
];
