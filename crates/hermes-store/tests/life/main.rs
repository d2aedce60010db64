//! Memory that lives and forgets, as a caller sees it.
#![expect(clippy::unwrap_used, reason = "what the tests share stops at the first surprise")]

mod forgetting;
mod lifecycle;
#[path = "../memory/place.rs"]
#[allow(dead_code, reason = "the tests of other parts use the rest")]
mod place;
#[path = "../sql/mod.rs"]
#[allow(dead_code, reason = "the tests of transcripts use the rest")]
mod sql;
#[path = "../memory/support.rs"]
mod support;
