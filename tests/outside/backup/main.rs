//! Backups with the programs of others at the other end: gpg, age, tar, sshd, rsync, an S3 service, Hermes Agent.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what the tests share stops at the first surprise"
)]

mod age_program;
mod foreign;
mod full_disk;
mod gpg;
mod gpg_program;
#[path = "../../../crates/hermes-backup/tests/create/support.rs"]
#[allow(dead_code, reason = "the other tests of backups use the rest")]
mod places;
#[path = "../../../crates/hermes/tests/e2e/ports.rs"]
mod ports;
mod proxy;
mod s3;
mod s3_service;
#[path = "../../../crates/hermes-backup/tests/restore/sandbox.rs"]
#[allow(dead_code, reason = "the other tests of backups use the rest")]
mod sandbox;
#[path = "../../../crates/hermes-backup/tests/seal/support.rs"]
#[allow(dead_code, reason = "the other tests of backups use the rest")]
mod sealing;
mod service;
mod ssh;
mod sshd;
mod stock;
#[path = "../../../crates/hermes-backup/tests/remote/support/mod.rs"]
#[allow(dead_code, reason = "the other tests of backups use the rest")]
mod support;
