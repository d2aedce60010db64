//! Writes members, and the list of them last, as one stream that is made smaller, encrypted and hashed.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::{Instant, SystemTime};

use flate2::GzBuilder;
use sha2::{Digest, Sha256};

use super::{Form, Packed, Source};
use crate::contents::VANISHED;
use crate::hash::hex;
use crate::manifest::{self, Kind, LeftOut, MEMBER, Manifest, ROOT};
use crate::name::Compression;
use crate::seal;
use crate::sign::{self, Signers};
use crate::{Error, Progress, Result, Tell};

/// zstd at its lowest level is five times as fast as gzip for a twelfth more bytes, measured on SQLite pages.
const ZSTD_LEVEL: i32 = 1;
const GZIP_LEVEL: u32 = 6;

/// Files up to this size are read whole before they are packed, and again if they change meanwhile.
const SMALL: u64 = 1024 * 1024;
const TRIES: u32 = 3;

/// How many bytes go by between two words to whoever waits.
const TELL_EVERY: u64 = 1024 * 1024;

/// Packs, makes smaller and encrypts members and, last, the manifest into `out`, which is synced at the end.
///
/// A file that is gone when its turn comes is noted as left out. A large one that becomes shorter while it is
/// read makes all of it fail with the kind `UnexpectedEof`: what was written of it cannot be taken back.
pub fn pack(
    sources: &[Source],
    manifest: Manifest,
    form: Form<'_>,
    out: File,
    tell: Tell<'_>,
) -> Result<Packed> {
    let mut archive = Archive { file: out, hash: Sha256::new(), size: 0, trouble: None };
    let (from_packer, to_sealer) = io::pipe().map_err(unwritten)?;
    let (packed, sealed) = thread::scope(|scope| {
        let sealer = scope.spawn(|| seal::seal(form.sealing, from_packer, &mut archive));
        let packed = Packing::new(sources, manifest, form.signers, tell);
        let packed = packed.write(sources, form.compression, to_sealer);
        (packed, sealer.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    if let Some(trouble) = archive.trouble.take() {
        return Err(unwritten(trouble));
    }
    let (packed, keys) = match (packed, sealed) {
        (Ok(packed), Ok(keys)) => (packed, keys),
        // The packer only noticed that nobody took its bytes any more.
        (Err(pipe), Err(sealing)) if is_broken_pipe(&pipe) => return Err(sealing),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    archive.file.sync_all().map_err(unwritten)?;
    Ok(Packed {
        manifest: packed.manifest,
        sha256: hex(&archive.hash.finalize()),
        size: archive.size,
        keys,
        changed: packed.changed,
    })
}

/// The file at the end of it all.
struct Archive {
    file: File,
    hash: Sha256,
    size: u64,
    /// What the system said when a write failed: whoever encrypts can only tell it in words.
    trouble: Option<io::Error>,
}

impl Write for Archive {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.file.write(bytes) {
            Ok(count) => {
                self.hash.update(&bytes[..count]);
                self.size += count as u64;
                Ok(count)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                self.trouble =
                    Some(error.raw_os_error().map_or_else(
                        || io::Error::from(error.kind()),
                        io::Error::from_raw_os_error,
                    ));
                Err(error)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Packing<'a> {
    manifest: Manifest,
    signers: &'a Signers,
    changed: Vec<String>,
    begun: Instant,
    told: Told<'a>,
}

impl<'a> Packing<'a> {
    fn new(
        sources: &[Source],
        manifest: Manifest,
        signers: &'a Signers,
        tell: Tell<'a>,
    ) -> Packing<'a> {
        let of = sources.iter().map(|source| source.file.size).sum();
        let told = Told { done: 0, of, last: 0, tell };
        Packing { manifest, signers, changed: Vec::new(), begun: Instant::now(), told }
    }

    fn write(
        mut self,
        sources: &[Source],
        compression: Compression,
        out: impl Write,
    ) -> Result<Packing<'a>> {
        match compression {
            Compression::Zstd => {
                let mut smaller = zstd::Encoder::new(out, ZSTD_LEVEL).map_err(unwritten)?;
                smaller.include_checksum(true).map_err(unwritten)?;
                self.members(sources, smaller)?.finish().map_err(unwritten)?;
            }
            Compression::Gzip => {
                let level = flate2::Compression::new(GZIP_LEVEL);
                let smaller = GzBuilder::new().mtime(0).write(out, level);
                self.members(sources, smaller)?.finish().map_err(unwritten)?;
            }
        }
        Ok(self)
    }

    fn members<W: Write>(&mut self, sources: &[Source], out: W) -> Result<W> {
        let mut tar = tar::Builder::new(out);
        for source in sources {
            match self.member(source, &mut tar)? {
                Some(file) => self.manifest.files.push(file),
                None => self
                    .manifest
                    .left_out
                    .push(LeftOut { path: source.file.path.clone(), why: VANISHED.to_owned() }),
            }
        }
        self.list(&mut tar)?;
        tar.into_inner().map_err(unwritten)
    }

    /// The member as it was packed; none if it is gone.
    fn member<W: Write>(
        &mut self,
        source: &Source,
        tar: &mut tar::Builder<W>,
    ) -> Result<Option<manifest::File>> {
        let mut file = source.file.clone();
        let name = format!("{ROOT}/{}", file.path);
        let Some(from) = &source.from else {
            append(tar, &format!("{name}/"), &file, io::empty()).map_err(unwritten)?;
            return Ok(Some(file));
        };
        let unread = |error| Error::file("read", from, error);
        let opened = match File::open(from) {
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(unread)?,
        };
        let before = Stamp::of(&opened).map_err(unread)?;
        if before.size <= SMALL {
            let (bytes, is_still) = read_whole(opened, from).map_err(unread)?;
            self.note_change(&file.path, is_still);
            file.size = bytes.len() as u64;
            file.sha256 = hex(&Sha256::digest(&bytes));
            append(tar, &name, &file, bytes.as_slice()).map_err(unwritten)?;
            self.told.went_by(file.size);
            return Ok(Some(file));
        }
        file.size = before.size;
        let mut content = Content::new(&opened, before.size, &mut self.told);
        let appended = append(tar, &name, &file, &mut content);
        let (sha256, trouble) = content.finish();
        if let Some(trouble) = trouble {
            return Err(unread(trouble));
        }
        appended.map_err(unwritten)?;
        file.sha256 = sha256;
        let is_still = Stamp::of(&opened).map_err(unread)? == before;
        self.note_change(&file.path, is_still);
        Ok(Some(file))
    }

    /// Adds the list of what was packed.
    fn list<W: Write>(&mut self, tar: &mut tar::Builder<W>) -> Result<()> {
        let finished = self.manifest.finished.checked_add(self.begun.elapsed());
        self.manifest.finished = finished.unwrap_or(self.manifest.finished);
        self.manifest.left_out.sort_by(|left, right| left.path.cmp(&right.path));
        self.manifest.signed = self.signers.sign(&sign::inside(&self.manifest)?);
        let text = serde_json::to_vec_pretty(&self.manifest).map_err(io::Error::from);
        let text = text.map_err(unwritten)?;
        let file = manifest::File {
            path: String::new(),
            kind: Kind::File,
            size: text.len() as u64,
            mode: 0o600,
            modified: self.manifest.started.as_second(),
            sha256: String::new(),
            link: None,
        };
        append(tar, MEMBER, &file, text.as_slice()).map_err(unwritten)
    }

    fn note_change(&mut self, path: &str, is_still: bool) {
        if !is_still {
            self.changed.push(path.to_owned());
        }
    }
}

fn append<W: Write>(
    tar: &mut tar::Builder<W>,
    name: &str,
    file: &manifest::File,
    content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    let is_folder = file.kind == Kind::Folder;
    header.set_entry_type(if is_folder {
        tar::EntryType::Directory
    } else {
        tar::EntryType::Regular
    });
    header.set_size(file.size);
    header.set_mode(file.mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(u64::try_from(file.modified).unwrap_or(0));
    tar.append_data(&mut header, name, content)
}

/// By what a change of a file is noticed.
#[derive(PartialEq, Eq)]
struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(file: &File) -> io::Result<Stamp> {
        let metadata = file.metadata()?;
        Ok(Stamp { size: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// The content, and whether it stayed as it was while it was read.
fn read_whole(mut opened: File, path: &Path) -> io::Result<(Vec<u8>, bool)> {
    let mut tries = 0;
    loop {
        let before = Stamp::of(&opened)?;
        let mut bytes = Vec::new();
        // It may have grown by much since; what was there first is enough.
        (&opened).take(before.size.max(SMALL)).read_to_end(&mut bytes)?;
        tries += 1;
        let is_still = Stamp::of(&opened)? == before;
        if is_still || tries == TRIES {
            return Ok((bytes, is_still));
        }
        match fs::File::open(path) {
            Ok(again) => opened = again,
            // Deleted after it was read: this was its content.
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => return Ok((bytes, false)),
            Err(other) => return Err(other),
        }
    }
}

/// A large file on its way: as many bytes as it had in the beginning.
struct Content<'a, 'b> {
    input: io::Take<&'a File>,
    hash: Sha256,
    told: &'a mut Told<'b>,
    trouble: Option<io::Error>,
}

impl<'a, 'b> Content<'a, 'b> {
    fn new(file: &'a File, size: u64, told: &'a mut Told<'b>) -> Content<'a, 'b> {
        Content { input: file.take(size), hash: Sha256::new(), told, trouble: None }
    }

    fn finish(self) -> (String, Option<io::Error>) {
        let cut_short = || {
            let why = "it became shorter while it was being read";
            (self.input.limit() > 0).then(|| io::Error::new(io::ErrorKind::UnexpectedEof, why))
        };
        let trouble = self.trouble.or_else(cut_short);
        (hex(&self.hash.finalize()), trouble)
    }
}

impl Read for Content<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.input.read(buffer) {
            Ok(count) => {
                self.hash.update(&buffer[..count]);
                self.told.went_by(count as u64);
                Ok(count)
            }
            Err(error) => {
                self.trouble = error.raw_os_error().map(io::Error::from_raw_os_error);
                Err(error)
            }
        }
    }
}

/// How far it has come.
struct Told<'a> {
    done: u64,
    of: u64,
    last: u64,
    tell: Tell<'a>,
}

impl Told<'_> {
    fn went_by(&mut self, bytes: u64) {
        self.done += bytes;
        if self.done - self.last >= TELL_EVERY || self.done == self.of {
            self.last = self.done;
            (self.tell)(Progress { doing: "packing", done: self.done, of: self.of });
        }
    }
}

fn unwritten(error: io::Error) -> Error {
    Error::file("write to", Path::new("the archive"), error)
}

fn is_broken_pipe(error: &Error) -> bool {
    matches!(error, Error::File { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
}
