//! state.db as a caller sees it.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod layouts;
mod living;
mod managing;
mod reading;
mod recording;
mod repairing;
mod rot;
mod safety;
#[path = "../sql/mod.rs"]
mod sql;
mod support;
mod talking;
mod transfer;
