//! The SHA-256 of files and of their beginnings, as hexadecimal digits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{Error, Progress, Result, Tell};

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
    of_file_told(path, &mut |_| {})
}

/// The hash of a whole file, telling how far it is.
pub(crate) fn of_file_told(path: &Path, tell: Tell<'_>) -> Result<String> {
    let failed = |error| Error::file("read", path, error);
    let mut file = File::open(path).map_err(failed)?;
    let of = file.metadata().map_err(failed)?.len();
    let (mut hash, mut done) = (Sha256::new(), 0u64);
    let mut buffer = vec![0; 1 << 20];
    loop {
        match io::Read::read(&mut file, &mut buffer) {
            Ok(0) => return Ok(hex(&hash.finalize())),
            Ok(count) => {
                hash.update(&buffer[..count]);
                done += count as u64;
                tell(Progress { doing: "comparing the archive", done, of });
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Compares the hash of a file with the one that is written beside it.
pub(crate) fn must_be(path: &Path, expected: &str, tell: Tell<'_>) -> Result<()> {
    let found = of_file_told(path, tell)?;
    if found.eq_ignore_ascii_case(expected) {
        return Ok(());
    }
    let why = "its SHA-256 does not match the one recorded beside it".to_owned();
    Err(Error::Tampered { what: path.display().to_string(), why })
}

/// The hash of the next `length` bytes, or of what there is if that is less.
pub(crate) fn of_beginning(file: &mut dyn Read, length: u64) -> io::Result<Hashing> {
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

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
