//! A reader that ends well only if all of the archive was genuine, and stays failed once it failed.

use std::io::{self, Read};

/// Wraps a decrypting reader; after an error or the end it is not touched again.
pub(super) struct Whole<R> {
    inner: Option<R>,
    failed: bool,
}

impl<R: Read> Whole<R> {
    pub(super) fn new(inner: R) -> Whole<R> {
        Whole { inner: Some(inner), failed: false }
    }
}

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.failed {
            return Err(changed("an earlier read failed"));
        }
        let Some(inner) = self.inner.as_mut().filter(|_| !buffer.is_empty()) else {
            return Ok(0);
        };
        match inner.read(buffer) {
            Ok(0) => {
                self.inner = None;
                Ok(0)
            }
            Ok(read) => Ok(read),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.inner = None;
                self.failed = true;
                // what the system said about the disk is no sign of a changed archive
                Err(if error.raw_os_error().is_some() { error } else { changed(error) })
            }
        }
    }
}

fn changed(why: impl std::fmt::Display) -> io::Error {
    let text = format!("decryption failed: {why}");
    io::Error::new(io::ErrorKind::InvalidData, text)
}
