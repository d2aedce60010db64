//! Copies that restore: make, keep, send away, bring back, prove.

pub mod archive;
mod build;
pub mod contents;
pub mod create;
pub mod drill;
pub mod erasure;
pub mod error;
pub mod export;
pub mod folder;
mod held;
pub mod lacking;
pub mod manifest;
pub mod name;
pub mod push;
pub mod remote;
pub mod restore;
pub mod retention;
pub mod seal;
pub mod server_dump;
pub mod sign;
mod staging;
pub mod status;
pub mod verify;
pub mod whose;

pub use error::{Error, Result};

/// How far a long step has come: what it works on, how much is done of how much (in bytes).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress<'a> {
    /// What is being done, such as `copying state.db`.
    pub doing: &'a str,
    /// Bytes done.
    pub done: u64,
    /// Bytes in all; 0 where that is not known.
    pub of: u64,
}

/// Who is told how far a long step has come.
pub type Tell<'a> = &'a mut dyn FnMut(Progress<'_>);
