//! Reads messages with linear models that were trained on labelled ones: what a clause states, what kind
//! of task is asked for, which words are names. Without a network, in microseconds, the same each time.

pub mod clauses;
mod linear;
pub mod names;
pub mod signs;
pub mod tasks;
pub mod tokens;
pub(crate) mod words;

pub use linear::Linear;
