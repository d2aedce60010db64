//! The index over one user's texts gets another user's numbers: chunks, words, vectors, codes.

use std::collections::HashMap;

use jiff::Timestamp;

use super::super::Outcome;
use super::super::index::{self, Indexer};
use super::super::vector_model::{self, from_bytes};
use crate::memory::backend::{self, Connection};
use crate::memory::{ChunkKey, Chunker, ItemKind, NewChunk, PortableText, UserNumber};

/// Gives texts their new numbers inside one transaction.
pub(super) struct Texts<'t> {
    transaction: &'t Connection,
    chunker: Chunker<'t>,
    anew: Vec<(ChunkKey, NewChunk, Timestamp)>,
    /// The vectors that go along, by their model.
    vectors: HashMap<i64, Vec<(ChunkKey, Vec<f32>, Timestamp)>>,
}

/// One text that moves: the number it had, the number it gets, what it says and when.
pub(super) struct Moving<'a> {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) text: PortableText<'a>,
    pub(super) at: Timestamp,
}

impl<'t> Texts<'t> {
    pub(super) fn new(transaction: &'t Connection, chunker: Chunker<'t>) -> Texts<'t> {
        Texts { transaction, chunker, anew: Vec::new(), vectors: HashMap::new() }
    }

    /// Moves one text; one that is not in the index has nothing to be moved. Its vectors go along, whichever model
    /// made them: only those of the model inside the program could be made anew.
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
        let is_cut_alike = chunks.len() == parts.len();
        for (part, mut chunk) in chunks.into_iter().enumerate() {
            let key = ChunkKey::from_row(new.start() + i64::try_from(part).unwrap_or(0));
            if is_cut_alike {
                self.keep_vectors(old.start() + key.get() - new.start(), key, moving.at)?;
                chunk.vector = None;
            }
            self.anew.push((key, chunk, moving.at));
        }
        index::remove_text(self.transaction, moving.from)
    }

    fn keep_vectors(&mut self, part: i64, key: ChunkKey, at: Timestamp) -> Outcome<()> {
        let mut statement = self.transaction.prepare_cached(VECTORS)?;
        let kept = statement.query_map([part], |row| Ok((row.get(0)?, row.get(1)?)))?;
        for vector in kept {
            let (model, bytes): (i64, Vec<u8>) = vector?;
            self.vectors.entry(model).or_default().push((key, from_bytes(&bytes), at));
        }
        Ok(())
    }

    /// Writes what was gathered.
    pub(super) fn finish(self) -> Outcome<()> {
        let mut indexer = Indexer::new(self.transaction)?;
        for (key, chunk, at) in &self.anew {
            indexer.add(*key, chunk, *at)?;
        }
        indexer.finish()?;
        for (model, vectors) in self.vectors {
            let Some(model) = vector_model::model(self.transaction, model)? else { continue };
            let mut writer = self.transaction.index().writer(Some(model));
            for (key, vector, at) in &vectors {
                writer.put(*key, vector, *at)?;
            }
            writer.finish()?;
        }
        Ok(())
    }
}

/// Takes what is left of a user out of the index.
pub(super) fn clear(transaction: &Connection, user: UserNumber) -> Outcome<()> {
    for kind in ItemKind::ALL {
        let range = ChunkKey::all_of(user, kind);
        let left: Vec<i64> = transaction
            .prepare_cached(CHUNKS)?
            .query_map([range.start(), range.end()], |row| row.get(0))?
            .collect::<backend::Result<_>>()?;
        let mut texts: Vec<i64> =
            left.into_iter().map(|id| ChunkKey::from_row(id).text()).collect();
        texts.dedup();
        index::remove_texts(transaction, &texts)?;
    }
    Ok(())
}

const CHUNKS: &str = "select id from chunk where id between ?1 and ?2 order by id";
const VECTORS: &str = "
    select model, v from vector where chunk = ?1 and model in (select id from embed_model)";
