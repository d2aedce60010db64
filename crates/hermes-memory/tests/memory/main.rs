//! Recording, contexts and re-embedding over a memory in a real file.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod carrying;
mod compressing;
mod contexts;
mod extracting;
mod halves;
mod promoting;
mod recording;
mod reembedding;
mod reflecting;
mod secrets;
mod support;
mod suspects;
mod suspects_corpus;
mod transcripts;
