//! Vectors: which model made them, the form they are kept in, and the trait that keeps them.

use jiff::Timestamp;

use super::{Admin, ChunkKey};
use crate::Result;

/// A model of embeddings as the memory knows it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct EmbedModel {
    /// Its number.
    pub id: i64,
    /// Who runs it: `embedded`, `openai`, `ollama`, `voyage`.
    pub provider: String,
    /// Its name there.
    pub name: String,
    /// How many numbers a vector has.
    pub dims: usize,
    /// What else changes its vectors: the prefixes of questions and texts.
    pub details: String,
    /// Whether it answers.
    pub state: ModelState,
}

/// Whether a model answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelState {
    /// Its vectors are being made.
    Building,
    /// It answers.
    Active,
    /// It answered once.
    Retired,
}

/// A model to be known.
#[derive(Debug, Clone)]
pub struct NewModel<'a> {
    /// Who runs it.
    pub provider: &'a str,
    /// Its name there.
    pub name: &'a str,
    /// How many numbers a vector has.
    pub dims: usize,
    /// What else changes its vectors.
    pub details: &'a str,
    /// The middle of its vectors, from which the codes are taken.
    pub mean: &'a [f32],
}

/// A text that lacks a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Unembedded {
    /// Its number.
    pub chunk: ChunkKey,
    /// The text.
    pub text: String,
    /// Who said it, for messages that have a speaker.
    pub speaker: Option<String>,
    /// When it was said, for messages.
    pub at: Option<Timestamp>,
}

/// How much of one model's work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Coverage {
    /// Texts with a vector of the model.
    pub done: u64,
    /// Texts in all.
    pub all: u64,
}

/// Keep vectors, each with the model that made it.
pub trait Vectors {
    /// The model that answers; none in a new memory.
    fn active_model(&self) -> Result<Option<EmbedModel>>;

    /// Every model known, newest first.
    fn models(&self, admin: Admin) -> Result<Vec<EmbedModel>>;

    /// Makes a model known; it becomes active at once if there is nothing to embed, else it is building.
    fn add_model(
        &mut self,
        admin: Admin,
        model: &NewModel<'_>,
        now: Timestamp,
    ) -> Result<EmbedModel>;

    /// The next texts that lack a vector of the model.
    fn unembedded(
        &self,
        admin: Admin,
        model: i64,
        after: Option<ChunkKey>,
        limit: usize,
    ) -> Result<Vec<Unembedded>>;

    /// Keeps vectors; fails if one has other dimensions than the model. Texts gone meanwhile are left out.
    fn put_vectors(
        &mut self,
        admin: Admin,
        model: i64,
        vectors: &[(ChunkKey, Vec<f32>)],
    ) -> Result<usize>;

    /// Lets a model answer that has every vector; the one before is retired.
    fn activate_model(&mut self, admin: Admin, model: i64) -> Result<()>;

    /// Removes what retired models left.
    fn drop_retired_vectors(&mut self, admin: Admin) -> Result<u64>;

    /// How much of a model's work is done.
    fn coverage(&self, admin: Admin, model: i64) -> Result<Coverage>;
}
