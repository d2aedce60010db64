//! Look back on finished work: how it went, what it taught, what is often the same.

mod sentences;
mod sign_words;
pub mod signs;
pub mod work;

pub(crate) use sentences::{first, shorten};
