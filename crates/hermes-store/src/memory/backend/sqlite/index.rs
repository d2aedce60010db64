//! Adds to the index of a file: chunks, words and vectors as they come.

use jiff::Timestamp;
use rusqlite::params;

use super::File;
use super::segments::{self, Keeper};
use crate::memory::backend::IndexWriter;
use crate::memory::vector_model::Model;
use crate::memory::{ChunkKey, NewChunk, Outcome};

/// Adds to the index inside one transaction.
pub(super) struct FileWriter<'f> {
    file: &'f File,
    keeper: Option<Keeper<'f>>,
    added: usize,
}

impl<'f> FileWriter<'f> {
    pub(super) fn new(file: &'f File, model: Option<Model>) -> FileWriter<'f> {
        let keeper = model.map(|model| Keeper::new(file.as_backend(), model));
        FileWriter { file, keeper, added: 0 }
    }
}

impl IndexWriter for FileWriter<'_> {
    fn add(&mut self, key: ChunkKey, chunk: &NewChunk, tokens: Vec<u8>) -> Outcome<()> {
        let file = self.file.as_backend();
        let row = params![key.get(), chunk.start, chunk.length, tokens];
        file.prepare_cached(ADD_CHUNK)?.execute(row)?;
        file.prepare_cached(ADD_WORDS)?.execute(params![key.get(), chunk.words])?;
        self.added += 1;
        Ok(())
    }

    fn put(&mut self, key: ChunkKey, vector: &[f32], at: Timestamp) -> Outcome<()> {
        self.keeper.as_mut().map_or(Ok(()), |keeper| keeper.put(key, vector, at))
    }

    /// Merges a part of the keyword index in proportion, so that it never needs a long stall.
    fn finish(self: Box<Self>) -> Outcome<()> {
        if let Some(keeper) = self.keeper {
            keeper.finish()?;
        }
        if self.added > 0 {
            let pages = i64::try_from(self.added.clamp(8, 2000)).unwrap_or(8);
            self.file.as_backend().prepare_cached(MERGE)?.execute([pages])?;
        }
        Ok(())
    }
}

/// Removes chunks with their words and the vectors of every model.
pub(super) fn remove(file: &File, keys: &[ChunkKey]) -> Outcome<()> {
    for key in keys {
        file.as_backend().prepare_cached(REMOVE_WORDS)?.execute([key.get()])?;
        file.as_backend().prepare_cached(REMOVE_CHUNK)?.execute([key.get()])?;
    }
    segments::remove(file.as_backend(), keys)
}

const ADD_CHUNK: &str = "insert into chunk (id, start, length, tokens) values (?1, ?2, ?3, ?4)";
const ADD_WORDS: &str = "insert into chunk_words (rowid, words) values (?1, ?2)";
const REMOVE_WORDS: &str = "delete from chunk_words where rowid = ?1";
const REMOVE_CHUNK: &str = "delete from chunk where id = ?1";
const MERGE: &str = "insert into chunk_words (chunk_words, rank) values ('merge', ?1)";
