//! Embedding models: the one inside the program, and those behind an HTTP endpoint.

mod embed;
mod embedded;
mod error;
mod http;
mod kernel;
mod ollama;
mod openai;
mod retry;
mod table;
mod voyage;
mod wordpiece;

pub use embed::{Embedded, Embedder, HttpEmbedder, ModelId, Prefixes, Provider, Purpose};
pub use embedded::{EmbeddedModel, SimilarityTable};
pub use error::{Error, ErrorKind, Result};
pub use http::{ApiKey, HttpModel, Limits, Sleep};
