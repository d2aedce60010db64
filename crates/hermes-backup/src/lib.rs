//! Copies that restore: make, keep, send away, bring back, prove.
//!
//! ```
//! use hermes_backup::retention::{Candidate, Policy, choose};
//! use jiff::{Timestamp, tz::TimeZone};
//!
//! let made = |id: &str, at: &str| Candidate {
//!     id: id.to_owned(),
//!     what: "all".to_owned(),
//!     made: at.parse().unwrap(),
//!     verified: true,
//!     damaged: false,
//! };
//! let backups = [made("old", "2026-01-01T02:00:00Z"), made("new", "2026-01-02T02:00:00Z")];
//! let policy: Policy = "last:1".parse()?;
//! let now: Timestamp = "2026-01-03T00:00:00Z".parse()?;
//! let decided = choose(&backups, &policy, now, &TimeZone::UTC)?;
//! let goes: Vec<&str> =
//!     decided.iter().filter(|one| one.kept_by.is_empty()).map(|one| one.id.as_str()).collect();
//! assert_eq!(goes, ["old"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod archive;
mod build;
pub mod contents;
pub mod create;
mod database_files;
pub mod drill;
pub mod erasure;
pub mod error;
pub mod export;
mod first_key;
pub mod folder;
mod hash;
mod held;
mod history;
pub mod lacking;
pub mod manifest;
pub mod name;
pub mod push;
pub mod remote;
mod request;
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
