//! What is in the databases. Takes a path, knows nothing of the home folder.

mod error;
mod migrate;
pub mod sessions;
pub mod sqlite;

pub use error::{Error, ErrorKind, Result};
