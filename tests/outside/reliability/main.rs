//! The program under power losses, kills and full disks, against what it answered before.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its sandbox should stop")]

mod contents;
mod daemon;
mod doors;
mod kills;
#[path = "../../../crates/hermes/tests/e2e/model_server.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod model_server;
mod power;
#[path = "../../../crates/hermes/tests/e2e/sandbox.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod sandbox;
mod small_disk;
mod told;
mod traced;
mod tree;

/// Whether the long counts are asked for.
fn is_full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}
