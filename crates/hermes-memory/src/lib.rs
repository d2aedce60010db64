//! What the system does with memory: record it, find it, put it in front of a model.

pub mod ask;
pub mod chunk;
pub mod compress;
mod error;
pub mod record;
pub mod reembed;
pub mod retrieval;
pub mod search;
pub mod task;
pub mod when;

pub use error::{Error, Result};
