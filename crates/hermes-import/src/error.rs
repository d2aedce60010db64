//! What can go wrong with reading what another program keeps, and the hint for each.

use std::io;
use std::path::{Path, PathBuf};

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing, or nothing more, can be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing at the path.
    #[error("could not read {}: there is no such file or folder", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file or folder cannot be read.
    #[error("could not read {}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is something else than what was asked for.
    #[error("could not import {}: {why}", path.display())]
    NotThis {
        /// The file or folder.
        path: PathBuf,
        /// What it is, or what it lacks.
        why: String,
    },
    /// An archive that was made to do harm, or is far too big.
    #[error("could not import {}: {why}", path.display())]
    Hostile {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A database refused.
    #[error(transparent)]
    Store(#[from] hermes_store::Error),
    /// The one who takes the items wants no more.
    #[error("the import was stopped")]
    Stopped,
}

impl Error {
    /// The next thing to try, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Missing { .. } => {
                Some("`hermes import auto` shows what is on this machine".to_owned())
            }
            Error::NotThis { .. } => {
                Some("`hermes import --help` shows what each kind of import reads".to_owned())
            }
            Error::Store(error) => error.hint(),
            Error::Unreadable { .. } | Error::Hostile { .. } | Error::Stopped => None,
        }
    }

    /// Why not, for a list that names the file already.
    pub(crate) fn reason(&self) -> String {
        match self {
            Error::Unreadable { source, .. } => source.to_string(),
            other => other.to_string(),
        }
    }

    pub(crate) fn file(path: &Path, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => Error::Missing { path: path.to_owned() },
            _ => Error::Unreadable { path: path.to_owned(), source },
        }
    }

    pub(crate) fn not_this(path: &Path, why: &str) -> Error {
        Error::NotThis { path: path.to_owned(), why: why.to_owned() }
    }
}
