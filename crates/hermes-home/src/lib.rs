//! What the user can open in an editor: paths, config, memory files, profiles, skills. No SQL, no network.
//!
//! ```
//! use hermes_home::layout::parse_profile;
//!
//! assert!(parse_profile("work").is_ok());
//! assert!(parse_profile("../elsewhere").is_err());
//! ```

#[cfg(not(unix))]
compile_error!("Hermes runs on Linux and macOS; on Windows, build it inside WSL");

pub mod atomic;
pub mod before_upgrade;
pub mod config;
pub mod databases;
pub mod env;
pub mod error;
pub mod init;
mod keyed_text;
pub mod layout;
mod locate;
pub mod lock;
pub mod memory_file;
pub mod name;
pub mod pasted;
pub mod person;
pub mod pins;
pub mod places;
pub mod profile;
pub mod redaction;
pub mod reflections;
pub mod secret;
pub mod session_files;
pub mod skill;
pub mod soul;
pub mod text;
mod text_file;
pub mod tokens;
pub mod versions;

#[cfg(test)]
mod places_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod versions_tests;

pub use error::{Error, ErrorKind, Result};
pub use layout::Home;
pub use name::{ProfileName, SkillName, UserId};
