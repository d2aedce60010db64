//! The index over all texts: chunks, their words and their vectors, kept in the transaction of the text.

use jiff::Timestamp;

use super::backend::{Connection, IndexWriter};
use super::{Outcome, tokens, vector_model};
use crate::memory::{ChunkKey, ItemKind, NewChunk};

/// The provider whose vectors are made while recording.
const EMBEDDED: &str = "embedded";

/// Adds chunks inside one transaction.
pub(super) struct Indexer<'t> {
    writer: Box<dyn IndexWriter + 't>,
}

impl<'t> Indexer<'t> {
    /// Begins; vectors go to the model that answers.
    pub(super) fn new(transaction: &'t Connection) -> Outcome<Indexer<'t>> {
        // Vectors that come with their text are the embedded model's, whichever answers by now.
        let model = vector_model::active(transaction)?.filter(|model| model.provider == EMBEDDED);
        Ok(Indexer { writer: transaction.index().writer(model) })
    }

    /// Adds one chunk with its words and, if it has one, its vector.
    pub(super) fn add(&mut self, key: ChunkKey, chunk: &NewChunk, at: Timestamp) -> Outcome<()> {
        self.writer.add(key, chunk, token_bytes(key, &chunk.tokens))?;
        match &chunk.vector {
            Some(vector) => self.writer.put(key, vector, at),
            None => Ok(()),
        }
    }

    /// Writes what was gathered.
    pub(super) fn finish(self) -> Outcome<()> {
        self.writer.finish()
    }
}

/// Removes every chunk of one text from the index, with the vectors of every model.
pub(super) fn remove_text(transaction: &Connection, text: i64) -> Outcome<()> {
    remove_texts(transaction, &[text])
}

/// Removes every chunk of some texts from the index, with the vectors of every model.
pub(super) fn remove_texts(transaction: &Connection, texts: &[i64]) -> Outcome<()> {
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
    transaction.index().remove(&keys)
}

/// Which tokens a summary has is all that is asked of it; a message has them in their order.
fn token_bytes(key: ChunkKey, ids: &[u16]) -> Vec<u8> {
    match key.kind() {
        Some(ItemKind::Summary) => tokens::set(ids),
        _ => tokens::list(ids),
    }
}

const CHUNKS_OF_TEXT: &str = "select id from chunk where id between ?1 and ?2";
