//! Models: embeddings inside the program and behind endpoints, and chat models behind endpoints.
//!
//! ```
//! let model = hermes_llm::EmbeddedModel::get();
//! let mut tokens = Vec::new();
//! model.tokens("tea is in the pantry", &mut tokens);
//! assert_eq!(model.pool(&tokens).len(), model.dims());
//! ```

pub mod chat;
mod complaint;
mod embed;
mod embedded;
mod error;
mod http;
mod kernel;
mod model;
mod ollama;
mod openai;
mod retry;
mod table;
mod voyage;
mod wordpiece;

pub use embed::{Embedded, Embedder, HttpEmbedder, HttpModel};
pub use embedded::{EmbeddedModel, SimilarityTable};
pub use error::{Error, ErrorKind, Result, Server, Task};
pub use http::{ApiKey, KeyHeader, Limits};
pub use model::{ModelId, Prefixes, Provider, Purpose};
pub use retry::Sleep;
