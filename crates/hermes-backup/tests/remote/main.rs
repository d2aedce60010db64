//! Places off this host, each with the real program at the other end.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what the tests share stops at the first surprise"
)]

mod folder;
mod push;
mod s3;
mod s3_answers;
mod ssh;
mod support;
