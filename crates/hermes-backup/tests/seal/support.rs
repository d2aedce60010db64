//! What the tests of encryption share: archives in memory, a big stream.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use hermes_backup::seal::{self, Keys, Passphrase, Sealing};
use jiff::Timestamp;

/// Whether the long counts are asked for.
pub(crate) fn full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}

/// The time at which keys are made and used: that of the machine, since gpg reads its clock.
pub(crate) fn now() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).expect("a clock")
}

pub(crate) fn passphrase(text: &str) -> Passphrase {
    Passphrase::new(text.to_owned())
}

/// Bytes that look random and are the same every time.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(length);
    Noise::new(length as u64).read_to_end(&mut bytes).expect("a stream in memory");
    bytes
}

/// A stream of such bytes that needs no memory; how it is read makes no difference to it.
#[derive(Clone)]
pub(crate) struct Noise {
    at: u64,
    end: u64,
}

impl Noise {
    pub(crate) fn new(length: u64) -> Noise {
        Noise { at: 0, end: length }
    }
}

/// The next of a row of numbers that look random.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

impl Read for Noise {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() && self.at < self.end {
            let eight = (self.at / 8 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let eight = (eight ^ (eight >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).to_le_bytes();
            let from = usize::try_from(self.at % 8).unwrap_or(0);
            let left = usize::try_from(self.end - self.at).unwrap_or(8);
            let length = (8 - from).min(left).min(buffer.len() - done);
            buffer[done..done + length].copy_from_slice(&eight[from..from + length]);
            done += length;
            self.at += length as u64;
        }
        Ok(done)
    }
}

/// Encrypts in memory.
pub(crate) fn sealed(sealing: &Sealing, plain: &[u8]) -> Result<(Vec<u8>, Keys)> {
    let mut out = Vec::new();
    let keys = seal::seal(sealing, plain, &mut out)?;
    Ok((out, keys))
}

/// Opens an archive that is given as bytes.
pub(crate) fn opened(archive: &[u8], keys: &Keys) -> Result<Vec<u8>> {
    opened_as("archive.bin", archive, keys)
}

/// Opens an archive of that name.
pub(crate) fn opened_as(name: &str, archive: &[u8], keys: &Keys) -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = write(folder.path(), name, archive)?;
    let mut plain = Vec::new();
    seal::open(&path, keys)?.read_to_end(&mut plain)?;
    Ok(plain)
}

pub(crate) fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let path = folder.join(name);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(&path)?.write_all(bytes)?;
    Ok(path)
}

/// An archive and everything that is done to it.
pub(crate) struct Case {
    name: &'static str,
    archive: Vec<u8>,
    plain: Vec<u8>,
    keys: Keys,
}

impl Case {
    pub(crate) fn new(name: &'static str, sealing: &Sealing, keys: Keys) -> Result<Case> {
        let plain = noise(20_000);
        let (archive, _) = sealed(sealing, &plain)?;
        let case = Case { name, archive, plain, keys };
        assert!(opened_as(name, &case.archive, &case.keys)? == case.plain);
        Ok(case)
    }

    /// Fails if a changed archive is taken for good.
    pub(crate) fn refuses(&self, changed: &[u8], how: &str) -> Result<()> {
        if changed == self.archive {
            return Ok(());
        }
        match opened_as(self.name, changed, &self.keys) {
            Err(_) => Ok(()),
            Ok(content) => bail!("{how}: accepted, {} bytes", content.len()),
        }
    }

    pub(crate) fn flip(&self, bit: usize) -> Result<()> {
        let mut changed = self.archive.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        self.refuses(&changed, &format!("{} bit {} of byte {}", self.name, bit % 8, bit / 8))
    }

    pub(crate) fn cut(&self, length: usize) -> Result<()> {
        self.refuses(&self.archive[..length], &format!("{} cut to {length}", self.name))
    }

    /// That many flips and cuts at places that look random, half of the flips in the first bytes.
    pub(crate) fn many(&self, count: usize) -> Result<()> {
        let mut state = 0x1234_5678_9ABC_DEF1;
        let mut below = |limit: usize| usize::try_from(next(&mut state) >> 1).unwrap_or(0) % limit;
        for turn in 0..count {
            match turn % 4 {
                0 => self.cut(below(self.archive.len()))?,
                1 | 2 => self.flip(below(self.archive.len() * 8))?,
                _ => self.flip(below(self.archive.len().min(600) * 8))?,
            }
        }
        for length in [self.archive.len() - 1, self.archive.len() - 20, 0, 1, 2] {
            self.cut(length)?;
        }
        for more in [&b"\0"[..], b"\xd3\x00", b"trailing", &self.archive.clone()] {
            self.refuses(&[&self.archive, more].concat(), &format!("{} and more", self.name))?;
        }
        Ok(())
    }
}
