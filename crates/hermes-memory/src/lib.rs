//! What the system does with memory: record it, find it, put it in front of a model.
//!
//! ```
//! use hermes_memory::search::{LONGEST_TEXT, bounded};
//!
//! // A question of any length is looked for by its beginning and its end.
//! assert_eq!(bounded("where is the tea?"), "where is the tea?");
//! assert!(bounded(&"tea ".repeat(100_000)).len() <= LONGEST_TEXT);
//! ```

pub mod ask;
mod call;
pub mod catch_up;
pub mod chunk;
pub mod compress;
mod error;
pub mod extract;
pub mod handover;
pub mod identity;
pub mod import;
pub mod learn;
pub mod provenance;
pub mod reader;
pub mod record;
pub mod reembed;
pub mod reflect;
pub mod remember;
pub mod retrieval;
pub mod search;
pub mod task;
pub mod transfer;
pub mod when;

pub use error::{Error, Result};
