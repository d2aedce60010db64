//! memory.db as a caller sees it.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod agreeing;
mod canary;
mod carrying;
mod compared;
mod drawing;
mod life_record;
mod life_story;
mod model;
mod model_facts;
mod model_index;
mod model_nouns;
mod model_upkeep;
mod operations;
mod people;
mod place;
mod reads;
mod rot;
mod safety;
#[path = "../sql/mod.rs"]
#[allow(dead_code, reason = "the tests of transcripts use the rest")]
mod sql;
mod story;
mod support;
mod unmerging;
