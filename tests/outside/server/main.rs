//! A memory on a server as a caller sees it: all that holds for a file, and what only a server can do.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests are told by variables where their servers are"
)]

#[path = "../../../crates/hermes-store/tests/memory/agreeing.rs"]
mod agreeing;
#[path = "../../../crates/hermes-store/tests/memory/carrying.rs"]
mod carrying;
#[path = "../../../crates/hermes-store/tests/memory/compared.rs"]
mod compared;
mod cutting;
#[path = "../../../crates/hermes-store/tests/memory/drawing.rs"]
mod drawing;
#[path = "../../../crates/hermes-store/tests/life/forgetting.rs"]
mod forgetting;
mod isolation;
#[path = "../../../crates/hermes-store/tests/memory/life_story.rs"]
mod life_story;
#[path = "../../../crates/hermes-store/tests/life/lifecycle.rs"]
mod lifecycle;
mod members;
#[path = "../../../crates/hermes-store/tests/memory/model.rs"]
mod model;
#[path = "../../../crates/hermes-store/tests/memory/model_facts.rs"]
mod model_facts;
#[path = "../../../crates/hermes-store/tests/memory/model_index.rs"]
mod model_index;
#[path = "../../../crates/hermes-store/tests/memory/model_nouns.rs"]
mod model_nouns;
#[path = "../../../crates/hermes-store/tests/memory/model_upkeep.rs"]
mod model_upkeep;
mod near;
#[path = "../../../crates/hermes-store/tests/memory/operations.rs"]
mod operations;
#[path = "../../../crates/hermes-store/tests/memory/people.rs"]
mod people;
#[path = "../pg_server/mod.rs"]
#[allow(dead_code, reason = "the tests of connections use the rest")]
mod pg_server;
mod place;
#[path = "../../../crates/hermes-store/tests/memory/reads.rs"]
mod reads;
mod several;
mod statements;
#[path = "../../../crates/hermes-store/tests/memory/story.rs"]
mod story;
#[path = "../../../crates/hermes-store/tests/memory/support.rs"]
mod support;
mod tables;
mod trips;
#[path = "../../../crates/hermes-store/tests/memory/unmerging.rs"]
mod unmerging;
