//! Vectors: which model made them, the form they are kept in, and the trait that keeps them.

use jiff::Timestamp;

use super::ChunkKey;

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
