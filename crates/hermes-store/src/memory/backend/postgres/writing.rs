//! Adds to the index of a server: gathered, and sent in one go.

use jiff::Timestamp;
use rusqlite::params;

use super::vectors::{self, NewVectors};
use super::words::{NewChunks, NewWords};
use super::{Server, new_key};
use crate::Error;
use crate::memory::backend::{Index as _, IndexWriter};
use crate::memory::vector_model::{FITTED_FROM, Model, SET_MEAN, mean_of, to_bytes};
use crate::memory::{ChunkKey, NewChunk, Outcome, Refusal, code};

/// Adds to the index inside one transaction.
pub(super) struct ServerWriter<'s> {
    server: &'s Server,
    model: Option<Model>,
    chunks: NewChunks,
    words: NewWords,
    vectors: NewVectors,
}

impl<'s> ServerWriter<'s> {
    pub(super) fn new(server: &'s Server, model: Option<Model>) -> ServerWriter<'s> {
        ServerWriter {
            server,
            model,
            chunks: NewChunks::default(),
            words: NewWords::default(),
            vectors: NewVectors::default(),
        }
    }

    /// Takes the middle of a model from the vectors that are there, once there are enough. Counting them is not worth
    /// it each time.
    fn fit(&self, model: &Model, added: usize) -> Outcome<()> {
        let is_worth_a_look = added >= 100 || new_key() % 16 == 0;
        if model.is_fitted
            || !is_worth_a_look
            || !vectors::has_many(self.server, model.id, FITTED_FROM)?
        {
            return Ok(());
        }
        let mean = mean_of(model.dims, &vectors::some(self.server, model.id, 4_000)?);
        self.server.as_backend().execute(SET_MEAN, params![model.id, mean])?;
        self.server.make_codes(model.id)
    }
}

impl IndexWriter for ServerWriter<'_> {
    fn add(&mut self, key: ChunkKey, chunk: &NewChunk, tokens: Vec<u8>) -> Outcome<()> {
        self.words.add(key.get(), &chunk.words)?;
        self.chunks.add(key, chunk, tokens);
        Ok(())
    }

    fn put(&mut self, key: ChunkKey, vector: &[f32], _: Timestamp) -> Outcome<()> {
        let Some(model) = &self.model else { return Ok(()) };
        if vector.len() != model.dims {
            return Err(Refusal::Rule(Error::WrongDimensions {
                model: model.name.clone(),
                found: vector.len(),
                wanted: model.dims,
            }));
        }
        self.vectors.add(key, to_bytes(vector), &code::encode(vector, &model.mean));
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Outcome<()> {
        self.chunks.write(self.server)?;
        self.words.write(self.server)?;
        let Some(model) = self.model.take() else { return Ok(()) };
        let added = self.vectors.len();
        self.vectors.write(self.server, model.id)?;
        self.fit(&model, added)
    }
}
