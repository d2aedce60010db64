//! Every importer on files in the documented form of its program, and on files that were made to trip it.
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its files should stop")]
#![expect(clippy::needless_pass_by_value, reason = "what `json!` makes is handed on as it is")]

mod archives;
mod chats;
mod coding;
mod databases;
mod hostile;
mod memories;
mod openclaw;
#[path = "../../../hermes-store/tests/sql/mod.rs"]
mod sql;
mod support;
