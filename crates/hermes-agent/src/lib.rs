//! One conversation: what the model is told, what it may do, and what is kept of it.
//!
//! ```
//! let change = hermes_agent::diff::of_file("notes.md", Some(b"tea\n"), Some(b"coffee\n"));
//! assert!(change.contains("-tea") && change.contains("+coffee"));
//! ```

pub mod approval;
pub mod checkpoint;
pub mod confine;
pub mod diff;
pub mod error;
pub mod fence;
pub mod hands;
mod platform;
pub mod prompt;
#[cfg(test)]
mod testing;
pub mod toolbox;
pub mod turn;
pub mod window;

pub use error::{Error, ErrorKind, Result};
