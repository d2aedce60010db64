//! The program under power losses, kills, full disks and servers that go away, against what it answered before.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its sandbox should stop")]

mod accounts;
mod contents;
mod daemon;
mod doors;
mod kills;
mod machines;
#[path = "../../../crates/hermes/tests/e2e/model_server.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod model_server;
mod outage;
#[path = "../pg_server/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod pg_server;
mod power;
#[path = "../../../crates/hermes/tests/e2e/sandbox.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod sandbox;
mod small_disk;
mod soak;
mod tellers;
mod told;
mod traced;
mod tree;

/// Whether the long counts are asked for.
fn is_full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}
