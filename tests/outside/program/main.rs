//! The built program together with programs of others: browsers, servers of databases, the tools of a system, the real
//! Hermes Agent, and disks of its own.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot set up its sandbox should stop"
)]

mod backup_by_hand;
mod browser;
mod clients;
mod curl;
#[path = "../../../crates/hermes/tests/e2e/folk.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod folk;
#[path = "../../../crates/hermes/tests/e2e/guide.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod guide;
#[path = "../../../crates/hermes/tests/e2e/hook_turns.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod hook_turns;
mod hooks_full_disk;
#[path = "../../../crates/hermes/tests/e2e/listening.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod listening;
mod measuring;
#[path = "../../../crates/hermes/tests/e2e/model_server.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod model_server;
#[path = "../../../crates/hermes/tests/e2e/moments.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod moments;
#[path = "../../../crates/hermes/tests/e2e/old_homes.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod old_homes;
mod peer;
#[path = "../pg_server/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod pg_server;
mod postgres;
mod postgres_away;
mod postgres_backup;
mod postgres_people;
mod programs;
mod provider;
#[path = "../../../crates/hermes/tests/e2e/sandbox.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod sandbox;
mod small_disk;
mod stock_sqlite;
#[path = "../../../crates/hermes/tests/e2e/talks.rs"]
#[allow(dead_code, reason = "the other tests of the program use the rest")]
mod talks;
mod tls;
mod units;
mod upgrade_cut;
mod upgrade_server;
mod walls;
