//! What is in the databases. Takes a path, knows nothing of the home folder.
//!
//! ```
//! use hermes_store::sessions::SessionStore;
//! use hermes_store::sqlite::{Access, DEFAULT_WAIT};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("state.db");
//! SessionStore::create(&path)?;
//! let sessions = SessionStore::open(&path, Access::Read, DEFAULT_WAIT)?;
//! assert!(sessions.every_id()?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
#[cfg(test)]
mod error_tests;
pub mod foreign;
pub mod memory;
mod migrate;
pub mod postgres;
pub mod rot;
pub mod sessions;
pub mod snapshot;
pub mod sqlite;
mod stop;

pub use error::{Error, ErrorKind, Result};
pub use stop::Stop;
