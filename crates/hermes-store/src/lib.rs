//! What is in the databases. Takes a path, knows nothing of the home folder.

mod error;
#[cfg(test)]
mod error_tests;
pub mod foreign;
mod log_fits;
pub mod memory;
mod migrate;
pub mod postgres;
pub mod rot;
pub mod sessions;
pub mod snapshot;
pub mod sqlite;
mod still;
mod stop;

pub use error::{Error, ErrorKind, Result};
pub use stop::Stop;
