//! Encryption of archives, against the stock gpg and age programs and against tampering.

mod age_program;
mod garbage;
mod gpg;
mod keys;
mod memory;
mod newer_form;
mod support;
mod tamper;
