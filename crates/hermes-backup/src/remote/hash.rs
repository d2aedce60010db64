//! The SHA-256 of files and of their beginnings, as hexadecimal digits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

pub(super) use crate::archive::hex;
use crate::{Error, Result};

/// A hash that is being made.
#[derive(Clone, Default)]
pub(crate) struct Hashing(Sha256);

impl Hashing {
    /// Takes more bytes in.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of all that was taken in.
    pub(crate) fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

/// The hash of a whole file.
pub(crate) fn of_file(path: &Path) -> Result<String> {
    let hash = || -> io::Result<String> {
        let mut file = File::open(path)?;
        Ok(of_beginning(&mut file, u64::MAX)?.hex())
    };
    hash().map_err(|source| Error::file("read", path, source))
}

/// The hash of the next `length` bytes, or of what there is if that is less.
pub(super) fn of_beginning(file: &mut dyn Read, length: u64) -> io::Result<Hashing> {
    let mut hashing = Hashing::default();
    let mut buffer = vec![0; 1 << 20];
    let mut left = length;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = file.read(&mut buffer[..most])?;
        if read == 0 {
            break;
        }
        hashing.update(&buffer[..read]);
        left -= read as u64;
    }
    Ok(hashing)
}
