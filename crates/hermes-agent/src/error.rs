//! What can go wrong in a conversation, and the hint for each.

use std::io;
use std::path::{Path, PathBuf};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of trouble an error is; the program turns it into an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something failed that should have worked.
    Failure,
    /// What was asked for makes no sense.
    Usage,
    /// The named thing does not exist.
    NotFound,
    /// It is not done, or only when asked for explicitly.
    Refused,
}

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The home could not be used.
    #[error(transparent)]
    Home(#[from] hermes_home::Error),
    /// A file could not be read.
    #[error("could not read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file could not be written.
    #[error("could not write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A path that no file can have.
    #[error("{path:?} is not a path")]
    BadPath {
        /// What was given.
        path: String,
    },
    /// A path that the agent may not touch.
    #[error("{} may not be touched: {why}", path.display())]
    OutOfBounds {
        /// The path.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// A link that leads nowhere, or round in a circle.
    #[error("{} is a link that leads nowhere", path.display())]
    BrokenLink {
        /// The link.
        path: PathBuf,
    },
    /// Something that is not a plain file.
    #[error("{} is {what}, not a file", path.display())]
    NotPlain {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// There is no such checkpoint.
    #[error("there is no checkpoint {number}")]
    NoCheckpoint {
        /// Its number.
        number: u32,
    },
    /// The kept content of a file is gone or damaged.
    #[error("the stored content {hash} is damaged or missing")]
    DamagedContent {
        /// Its SHA-256.
        hash: String,
    },
    /// The description of a checkpoint cannot be read.
    #[error("could not read {}: it is damaged", path.display())]
    DamagedCheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// Files were changed by somebody else since.
    #[error("changed by someone else since then: {}", listed(paths))]
    ChangedSince {
        /// Which.
        paths: Vec<PathBuf>,
    },
    /// Something that is no file or link stands where one would be put back.
    #[error("could not restore {}: {why}", path.display())]
    InTheWay {
        /// The path.
        path: PathBuf,
        /// What is there.
        why: &'static str,
    },
}

impl Error {
    /// What kind of trouble it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Home(error) => match error.kind() {
                hermes_home::ErrorKind::Usage => ErrorKind::Usage,
                hermes_home::ErrorKind::NotFound => ErrorKind::NotFound,
                hermes_home::ErrorKind::Refused => ErrorKind::Refused,
                _ => ErrorKind::Failure,
            },
            Error::BadPath { .. } => ErrorKind::Usage,
            Error::NoCheckpoint { .. } => ErrorKind::NotFound,
            Error::OutOfBounds { .. }
            | Error::NotPlain { .. }
            | Error::ChangedSince { .. }
            | Error::InTheWay { .. } => ErrorKind::Refused,
            _ => ErrorKind::Failure,
        }
    }

    /// The next thing to try, where there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Home(error) => return error.hint(),
            Error::NoCheckpoint { .. } => "`hermes checkpoint list` shows all checkpoints",
            Error::ChangedSince { .. } => {
                "compare them with `hermes checkpoint show`, then add `--force` to replace them \
                 anyway; that can be undone too"
            }
            Error::InTheWay { .. } => "move it away, then try again",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        Error::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Error {
        Error::Write { path: path.to_owned(), source }
    }
}

fn listed(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    names.join(", ")
}
