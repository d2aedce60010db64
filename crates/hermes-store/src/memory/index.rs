//! The index over all texts: chunks, their words and their vectors, kept in the transaction of the text.

use crate::memory::backend::Transaction;
use jiff::Timestamp;
use rusqlite::params;

use super::segments::{self, Keeper};
use super::words::{self, NewChunks, NewWords};
use super::{Outcome, tokens, vectors};
use crate::memory::{ChunkKey, ItemKind, NewChunk};

/// The provider whose vectors are made while recording.
const EMBEDDED: &str = "embedded";

/// Adds chunks inside one transaction.
#[derive(Debug)]
pub(super) struct Indexer<'t> {
    transaction: &'t Transaction<'t>,
    keeper: Option<Keeper<'t>>,
    added: usize,
    /// What goes to a server in one go.
    words: NewWords,
    chunks: NewChunks,
}

impl<'t> Indexer<'t> {
    /// Begins; vectors go to the model that answers.
    pub(super) fn new(transaction: &'t Transaction<'t>) -> Outcome<Indexer<'t>> {
        // Vectors that come with their text are the embedded model's, whichever answers by now.
        let keeper = segments::active(transaction)?
            .filter(|model| model.provider == EMBEDDED)
            .map(|model| Keeper::new(transaction, model));
        Ok(Indexer {
            transaction,
            keeper,
            added: 0,
            words: NewWords::default(),
            chunks: NewChunks::default(),
        })
    }

    /// Adds one chunk with its words and, if it has one, its vector.
    pub(super) fn add(&mut self, key: ChunkKey, chunk: &NewChunk, at: Timestamp) -> Outcome<()> {
        let tokens = token_bytes(key, &chunk.tokens);
        if self.transaction.postgres().is_some() {
            self.words.add(key.get(), &chunk.words)?;
            self.chunks.add(key, chunk, tokens);
        } else {
            let row = params![key.get(), chunk.start, chunk.length, tokens];
            self.transaction.prepare_cached(ADD_CHUNK)?.execute(row)?;
            self.transaction.prepare_cached(ADD_WORDS)?.execute(params![key.get(), chunk.words])?;
        }
        if let (Some(vector), Some(keeper)) = (&chunk.vector, &mut self.keeper) {
            keeper.put(key, vector, at)?;
        }
        self.added += 1;
        Ok(())
    }

    /// Writes what was gathered, and merges a part of the keyword index in proportion.
    pub(super) fn finish(mut self) -> Outcome<()> {
        if let Some(server) = self.transaction.postgres() {
            self.chunks.write(server)?;
            self.words.write(server)?;
        }
        if let Some(keeper) = self.keeper {
            keeper.finish()?;
        }
        if self.added > 0 {
            merge(self.transaction, self.added)?;
        }
        Ok(())
    }
}

/// Removes every chunk of one text from the index, with the vectors of every model.
pub(super) fn remove_text(transaction: &Transaction<'_>, text: i64) -> Outcome<()> {
    remove_texts(transaction, &[text])
}

/// Removes every chunk of some texts from the index, with the vectors of every model.
pub(super) fn remove_texts(transaction: &Transaction<'_>, texts: &[i64]) -> Outcome<()> {
    let mut keys: Vec<ChunkKey> = Vec::new();
    for text in texts {
        let range = ChunkKey::all_of_text(*text);
        let mut statement = transaction.prepare_cached(CHUNKS_OF_TEXT)?;
        let found = statement
            .query_map([range.start(), range.end()], |row| row.get(0).map(ChunkKey::from_row))?;
        for key in found {
            keys.push(key?);
        }
    }
    if let Some(server) = transaction.postgres() {
        let keys: Vec<i64> = keys.iter().map(|key| key.get()).collect();
        words::remove(server, &keys)?;
        vectors::remove(server, &keys)?;
        return Ok(());
    }
    for key in &keys {
        transaction.prepare_cached(REMOVE_WORDS)?.execute([key.get()])?;
        transaction.prepare_cached(REMOVE_CHUNK)?.execute([key.get()])?;
    }
    segments::remove(transaction, &keys)
}

/// Merges a bounded part of the keyword index, so that it never needs a long stall.
fn merge(transaction: &Transaction<'_>, added: usize) -> Outcome<()> {
    if transaction.sqlite().is_none() {
        return Ok(());
    }
    let pages = i64::try_from(added.clamp(8, 2000)).unwrap_or(8);
    transaction.prepare_cached(MERGE)?.execute([pages])?;
    Ok(())
}

/// Which tokens a summary has is all that is asked of it; a message has them in their order.
fn token_bytes(key: ChunkKey, ids: &[u16]) -> Vec<u8> {
    match key.kind() {
        Some(ItemKind::Summary) => tokens::set(ids),
        _ => tokens::list(ids),
    }
}

const ADD_CHUNK: &str = "insert into chunk (id, start, length, tokens) values (?1, ?2, ?3, ?4)";
const ADD_WORDS: &str = "insert into chunk_words (rowid, words) values (?1, ?2)";
const CHUNKS_OF_TEXT: &str = "select id from chunk where id between ?1 and ?2";
const REMOVE_WORDS: &str = "delete from chunk_words where rowid = ?1";
const REMOVE_CHUNK: &str = "delete from chunk where id = ?1";
const MERGE: &str = "insert into chunk_words (chunk_words, rank) values ('merge', ?1)";
