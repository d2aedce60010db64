//! Encryption of archives, against tampering and garbage.
#![expect(clippy::expect_used, reason = "what the tests share stops at the first surprise")]

mod garbage;
mod keys;
mod memory;
mod newer_form;
mod support;
mod tamper;
