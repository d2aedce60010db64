//! Contents by their SHA-256, compressed; each is kept once.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::platform;

/// The folder of contents.
#[derive(Debug, Clone)]
pub(super) struct Blobs {
    folder: PathBuf,
}

/// A content that is kept, or at least known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) hash: String,
    pub(super) size: u64,
}

/// Fast, and about as small as slower levels for source text.
const LEVEL: i32 = 3;
const PIECE: usize = 128 * 1024;

impl Blobs {
    pub(super) fn new(folder: PathBuf) -> Blobs {
        Blobs { folder }
    }

    pub(super) fn has(&self, hash: &str) -> bool {
        self.path(hash).is_file()
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps some bytes.
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<Content> {
        let content = Content { hash: hex(&Sha256::digest(bytes)), size: bytes.len() as u64 };
        if !self.has(&content.hash) {
            let packed = zstd::bulk::compress(bytes, LEVEL);
            let packed = packed.map_err(|source| Error::write(&self.folder, source))?;
            self.put(&content.hash, &packed)?;
        }
        Ok(content)
    }

    /// Keeps what a file holds, without following a link.
    pub(super) fn keep_file(&self, path: &Path) -> Result<Content> {
        const SMALL: u64 = 16_000_000;
        let mut file = platform::open_plain(path).map_err(|source| Error::read(path, source))?;
        let size = file.metadata().map_err(|source| Error::read(path, source))?.len();
        if size > SMALL {
            return self.keep_stream(&mut file, path);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
        file.read_to_end(&mut bytes).map_err(|source| Error::read(path, source))?;
        self.keep(&bytes)
    }

    /// Writes a kept content to a file, checked against its hash.
    pub(super) fn copy_to(&self, hash: &str, file: &mut File) -> Result<()> {
        let damaged = || Error::DamagedContent { hash: hash.to_owned() };
        let packed = File::open(self.path(hash)).map_err(|_| damaged())?;
        let mut reader = zstd::Decoder::new(packed).map_err(|_| damaged())?;
        let mut digest = Sha256::new();
        let mut piece = vec![0; PIECE];
        loop {
            let count = reader.read(&mut piece).map_err(|_| damaged())?;
            if count == 0 {
                break;
            }
            digest.update(&piece[..count]);
            file.write_all(&piece[..count]).map_err(|source| Error::write(&self.folder, source))?;
        }
        if hex(&digest.finalize()) == hash { Ok(()) } else { Err(damaged()) }
    }

    /// A kept content, up to a size; none if it is longer.
    pub(super) fn read(&self, hash: &str, most: u64) -> Result<Option<Vec<u8>>> {
        let damaged = || Error::DamagedContent { hash: hash.to_owned() };
        let packed = File::open(self.path(hash)).map_err(|_| damaged())?;
        let reader = zstd::Decoder::new(packed).map_err(|_| damaged())?;
        let mut bytes = Vec::new();
        reader.take(most + 1).read_to_end(&mut bytes).map_err(|_| damaged())?;
        if bytes.len() as u64 > most {
            return Ok(None);
        }
        if hex(&Sha256::digest(&bytes)) == hash { Ok(Some(bytes)) } else { Err(damaged()) }
    }

    fn path(&self, hash: &str) -> PathBuf {
        let (head, tail) = hash.split_at(hash.len().min(2));
        self.folder.join(head).join(tail)
    }

    /// Puts a content in its place. Not made durable one by one: a kill cannot hurt it, and what a
    /// power failure leaves half-written is told from whole by its hash.
    fn put(&self, hash: &str, packed: &[u8]) -> Result<()> {
        let path = self.path(hash);
        let folder = path.parent().unwrap_or(&self.folder);
        let put = || -> io::Result<()> {
            let mut file =
                tempfile::Builder::new().prefix(".hermes_").suffix(".tmp").tempfile_in(folder)?;
            file.write_all(packed)?;
            file.persist(&path).map(|_| ()).map_err(|error| error.error)
        };
        atomic::make_folder(folder)?;
        put().map_err(|source| Error::write(&path, source))
    }

    fn keep_stream(&self, file: &mut File, path: &Path) -> Result<Content> {
        atomic::make_folder(&self.folder)?;
        let failed = |source| Error::write(&self.folder, source);
        let unpacked =
            tempfile::Builder::new().prefix(".hermes_").suffix(".tmp").tempfile_in(&self.folder);
        let mut encoder = zstd::Encoder::new(unpacked.map_err(failed)?, LEVEL).map_err(failed)?;
        let content = through(file, path, &mut |piece| encoder.write_all(piece).map_err(failed))?;
        let packed = encoder.finish().map_err(failed)?;
        let place = self.path(&content.hash);
        atomic::make_folder(place.parent().unwrap_or(&self.folder))?;
        packed.persist(&place).map_err(|error| Error::write(&place, error.error))?;
        Ok(content)
    }
}

/// What a file holds, without keeping it or following a link.
pub(super) fn look(path: &Path) -> Result<Content> {
    let mut file = platform::open_plain(path).map_err(|source| Error::read(path, source))?;
    through(&mut file, path, &mut |_| Ok(()))
}

/// What some bytes are called.
pub(super) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Removes a content that nothing names any more.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::write(path, error)),
        _ => Ok(()),
    }
}

fn through(
    file: &mut File,
    path: &Path,
    each: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Content> {
    let mut digest = Sha256::new();
    let mut piece = vec![0; PIECE];
    let mut size = 0;
    loop {
        let count = file.read(&mut piece).map_err(|source| Error::read(path, source))?;
        if count == 0 {
            return Ok(Content { hash: hex(&digest.finalize()), size });
        }
        digest.update(&piece[..count]);
        size += count as u64;
        each(&piece[..count])?;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
