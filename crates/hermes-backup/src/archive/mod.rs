//! Packing a stream of members, and reading one without trusting it.

mod members;
mod pack;
mod read;
#[cfg(test)]
mod read_tests;
pub(crate) mod unsealed;
pub(crate) mod zipped;

pub use pack::pack;
pub use read::read;
#[cfg(test)]
pub(crate) use read::read_opened;

use std::io::Read;
use std::path::PathBuf;

use crate::manifest::{self, Manifest};
use crate::name::Compression;
use crate::seal::{Keys, Sealing};
use crate::sign::Signers;

/// A member to be packed: what the manifest says of it, and where its bytes are now.
#[derive(Debug, Clone)]
pub struct Source {
    /// As it will stand in the manifest; size and hash of a file are filled in while it is packed.
    pub file: manifest::File,
    /// Where its bytes are; none for a folder.
    pub from: Option<PathBuf>,
}

/// How an archive is made smaller and encrypted.
#[derive(Debug, Clone, Copy)]
pub struct Form<'a> {
    /// How it is made smaller.
    pub compression: Compression,
    /// How it is encrypted.
    pub sealing: &'a Sealing,
    /// Who signs it.
    pub signers: &'a Signers,
}

/// What packing gave.
#[derive(Debug)]
pub struct Packed {
    /// The manifest as it was written, with every size and hash.
    pub manifest: Manifest,
    /// The SHA-256 of the archive.
    pub sha256: String,
    /// Its size.
    pub size: u64,
    /// What opens it, for reading it back.
    pub keys: Keys,
    /// Paths of files that were changed while they were read.
    pub changed: Vec<String>,
}

/// How much an archive may unpack to before it is taken for a trap.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of all members together.
    pub bytes: u64,
    /// Members.
    pub members: u64,
}

/// A member that is being read.
pub struct Member<'a> {
    /// Its path below the home, with `/`: relative, without `..`, never empty.
    pub path: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// Its announced size.
    pub size: u64,
    /// Its permission bits.
    pub mode: u32,
    /// When it was changed last, in seconds since 1970.
    pub modified: i64,
    /// Its content, hashed on the way.
    pub content: &'a mut dyn Read,
}
