//! What stands at a path: looked at, and put back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use serde::{Deserialize, Serialize};

use super::blobs::{self, Blobs};
use crate::error::{Error, Result};
use crate::platform::{self, Identity};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum State {
    /// Nothing.
    Missing,
    /// A plain file.
    File {
        /// The SHA-256 of what it holds.
        hash: String,
        /// Its size in bytes.
        size: u64,
        /// Who may do what.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it leads, as it says.
        target: PathBuf,
    },
    /// A file that is too big to be kept.
    TooBig {
        /// Its size in bytes.
        size: u64,
        /// When it changed, in nanoseconds since 1970.
        modified: i64,
    },
    /// A folder, whatever is in it.
    Folder,
    /// A device, a pipe or a socket.
    Other,
}

/// What is done with the content of a file that is looked at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Contents<'a> {
    /// It is kept.
    Keep(&'a Blobs),
    /// Only its hash is wanted.
    Look,
}

impl State {
    /// What stands at a path now.
    pub(super) fn of(path: &Path, contents: Contents<'_>, most: u64) -> Result<State> {
        let found = match path.symlink_metadata() {
            Err(error) if is_nothing(&error) => return Ok(State::Missing),
            found => found.map_err(|source| Error::read(path, source))?,
        };
        if found.is_symlink() {
            let target = fs::read_link(path).map_err(|source| Error::read(path, source))?;
            // One whose target is no text cannot be written down.
            return Ok(match target.to_str() {
                Some(_) => State::Link { target },
                None => State::Other,
            });
        }
        if !found.is_file() {
            return Ok(if found.is_dir() { State::Folder } else { State::Other });
        }
        let Identity { size, modified, mode, .. } = Identity::of(&found);
        if size > most {
            return Ok(State::TooBig { size, modified });
        }
        let content = match contents {
            Contents::Keep(blobs) => blobs.keep_file(path)?,
            Contents::Look => blobs::look(path)?,
        };
        Ok(State::File { hash: content.hash, size: content.size, mode })
    }

    /// Whether both say the same, whoever may do what with it.
    pub(super) fn holds_same(&self, other: &State) -> bool {
        match (self, other) {
            (State::File { hash: left, .. }, State::File { hash: right, .. }) => left == right,
            _ => self == other,
        }
    }

    /// The content that must be kept as long as this state is.
    pub(super) fn hash(&self) -> Option<&str> {
        match self {
            State::File { hash, .. } => Some(hash),
            _ => None,
        }
    }

    /// Puts it at a path: whole or not at all; the caller makes the name durable.
    pub(super) fn put(&self, path: &Path, blobs: &Blobs) -> Result<()> {
        let write = |source| Error::write(path, source);
        match self {
            State::Missing => match fs::remove_file(path) {
                Err(error) if !is_nothing(&error) => Err(write(error)),
                _ => Ok(()),
            },
            State::File { hash, mode, .. } => {
                make_parent(path)?;
                let mut trouble = None;
                let mode = platform::permissions(*mode);
                let put = atomic::put_one_of_many(path, mode.as_ref(), &mut |file| {
                    blobs.copy_to(hash, file).map_err(|error| {
                        trouble = Some(error);
                        io::Error::other("the stored content cannot be read")
                    })
                });
                put.map_err(|error| trouble.unwrap_or(Error::Home(error)))
            }
            State::Link { target } => {
                make_parent(path)?;
                put_link(target, path).map_err(write)
            }
            State::Folder => atomic::make_common_folder(path).map_err(write),
            State::TooBig { .. } | State::Other => Ok(()),
        }
    }
}

/// Nothing can be there: neither the name nor the folder.
pub(super) fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn make_parent(path: &Path) -> Result<()> {
    match path.parent() {
        Some(folder) => {
            atomic::make_common_folder(folder).map_err(|source| Error::write(folder, source))
        }
        None => Ok(()),
    }
}

/// A link has its name only when it is whole, so that there is never nothing in its place.
fn put_link(target: &Path, path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let made = tempfile::Builder::new()
        .prefix(".hermes_")
        .suffix(".tmp")
        .make_in(folder, |beside| platform::make_link(target, beside))?;
    made.persist(path).map_err(|error| error.error)
}
