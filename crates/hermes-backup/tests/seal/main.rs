//! Encryption of archives, against the stock gpg and age programs and against tampering.
#![expect(clippy::expect_used, reason = "what the tests share stops at the first surprise")]

mod age_program;
mod garbage;
mod gpg;
mod keys;
mod memory;
mod newer_form;
mod support;
mod tamper;
