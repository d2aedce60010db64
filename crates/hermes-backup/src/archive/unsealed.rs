//! The members of an archive, whoever made it: decrypted, decompressed, and checked for what no home holds.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Component, Path};

use crate::archive::Limits;
use crate::archive::members::{Announced, Broken, Members, Sort, read_some};
use crate::{Error, Result};

/// Programs fill the last record with empty blocks; GNU tar writes records of at most this size.
const LONGEST_END: u64 = 64 * 1024 * 1024;
/// The memory that unpacking may ask for, as a power of two: 128 MB, zstd's own bound.
const WINDOW: u32 = 27;
/// All paths together, which are kept to find one that comes twice.
const LONGEST_PATHS: usize = 256 * 1024 * 1024;
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A member that is safe to make: below one folder, of a kind a home has.
pub(crate) struct Safe<'a> {
    /// Its path, with `/`; never empty.
    pub(crate) path: String,
    pub(crate) sort: Safely,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) modified: i64,
    pub(crate) content: &'a mut dyn Read,
}

/// The kinds of members that are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Safely {
    File,
    Folder,
    /// Only where links are passed over: nothing may be made of it.
    Link,
}

/// What happens to links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Refused,
    PassedOver,
}

/// Reads all members of a decrypted stream to the very end of it, and hands them out one by one.
pub(crate) fn members(
    sealed: impl Read,
    what: &str,
    limits: Limits,
    links: Links,
    take: &mut dyn FnMut(&mut Safe<'_>) -> Result<()>,
) -> Result<()> {
    let mut sealed = BufReader::with_capacity(128 * 1024, sealed);
    let subject = Subject { what };
    let mut members = Members::new(decompressed(&mut sealed, &subject)?);
    let mut known = Known::new(limits);
    while let Some(announced) = members.next().map_err(|broken| subject.broken(broken))? {
        let (path, sort) = known.admit(&announced, links).map_err(|why| subject.tampered(&why))?;
        hand_out(&mut members, &subject, |content| {
            let Announced { size, mode, modified, .. } = announced;
            take(&mut Safe { path, sort, size, mode, modified, content })
        })?;
    }
    members.must_be_over(LONGEST_END).map_err(|broken| subject.broken(broken))?;
    drop(members);
    // The proof that nothing was changed stands at the end of what is encrypted.
    match read_some(&mut sealed, &mut [0; 1]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(subject.tampered("there is data after its end")),
        Err(error) => Err(subject.broken(Broken::Input(error))),
    }
}

fn hand_out(
    members: &mut Members<impl Read>,
    subject: &Subject<'_>,
    take: impl FnOnce(&mut dyn Read) -> Result<()>,
) -> Result<()> {
    let mut content = Watched { input: members, failed: None };
    let taken = take(&mut content);
    // Whoever copies cannot tell whether reading or writing failed; what was read is known here.
    match content.failed {
        Some(error) => Err(subject.broken(Broken::Input(error))),
        None => taken,
    }
}

/// Content that remembers if reading it failed.
struct Watched<R> {
    input: R,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.input.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failed = Some(match error.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => io::Error::new(error.kind(), error.to_string()),
                });
            }
        })
    }
}

/// Tells by the first bytes how the stream was made smaller.
fn decompressed<'a>(
    sealed: &'a mut BufReader<impl Read>,
    subject: &Subject<'_>,
) -> Result<Box<dyn Read + 'a>> {
    let first = sealed.fill_buf().map_err(|error| subject.broken(Broken::Input(error)))?;
    if first.starts_with(&ZSTD) {
        let failed = |error| subject.broken(Broken::Input(error));
        let mut decoder = zstd::stream::read::Decoder::with_buffer(sealed).map_err(failed)?;
        decoder.window_log_max(WINDOW).map_err(failed)?;
        return Ok(Box::new(decoder));
    }
    if first.starts_with(&GZIP) {
        return Ok(Box::new(flate2::bufread::MultiGzDecoder::new(sealed)));
    }
    if first.get(257..262) == Some(b"ustar") {
        return Ok(Box::new(sealed));
    }
    Err(subject
        .tampered("it is not a backup: expected a tar file, plain or compressed with zstd or gzip"))
}

/// What is known of the members before.
pub(super) struct Known {
    limits: Limits,
    paths: HashMap<String, Place>,
    bytes: u64,
    path_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    File,
    Folder,
    /// A folder that only what is in it speaks of.
    Implied,
}

impl Known {
    pub(super) fn new(limits: Limits) -> Known {
        Known { limits, paths: HashMap::new(), bytes: 0, path_bytes: 0 }
    }

    /// Says what may be made of a member, or why nothing may.
    pub(super) fn admit(
        &mut self,
        member: &Announced,
        links: Links,
    ) -> Result<(String, Safely), String> {
        let path = safe_path(&member.path)?;
        let shown = || path.escape_debug();
        let sort = match member.kind {
            Sort::File => Safely::File,
            Sort::Folder => Safely::Folder,
            Sort::Link(_) if links == Links::PassedOver => Safely::Link,
            Sort::Link(kind) | Sort::Other(kind) => return Err(format!("{} is {kind}", shown())),
        };
        if sort == Safely::Folder && member.size != 0 {
            return Err(format!("{} is a folder with content", shown()));
        }
        self.count(member.size)?;
        if sort == Safely::Link {
            return Ok((path, sort));
        }
        self.path_bytes += path.len();
        for (place, _) in path.match_indices('/') {
            match self.paths.get(&path[..place]) {
                Some(Place::File) => return Err(format!("{} is inside a file", shown())),
                Some(Place::Folder | Place::Implied) => {}
                None => {
                    self.path_bytes += place;
                    self.paths.insert(path[..place].to_owned(), Place::Implied);
                }
            }
        }
        let is = if sort == Safely::File { Place::File } else { Place::Folder };
        match (self.paths.insert(path.clone(), is), is) {
            (None, _) | (Some(Place::Implied), Place::Folder) => Ok((path, sort)),
            _ => Err(format!("{} is in it twice", path.escape_debug())),
        }
    }

    fn count(&mut self, size: u64) -> Result<(), String> {
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > self.limits.bytes {
            return Err(format!("it unpacks to more than {} bytes", self.limits.bytes));
        }
        if self.paths.len() as u64 >= self.limits.members || self.path_bytes > LONGEST_PATHS {
            return Err(format!("it has more than {} members", self.limits.members));
        }
        Ok(())
    }
}

/// A relative path of plain names; a stroke at the end and `./` at the beginning are no part of it.
pub(super) fn safe_path(bytes: &[u8]) -> Result<String, String> {
    let refused = |why| Err(format!("the path {:?} {why}", String::from_utf8_lossy(bytes)));
    let Ok(path) = std::str::from_utf8(bytes) else {
        return refused("is not UTF-8");
    };
    if path.contains('\0') {
        return refused("contains a NUL character");
    }
    let is_drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if path.starts_with(['/', '\\']) || is_drive {
        return refused("is absolute");
    }
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    let path = path.strip_suffix('/').unwrap_or(path);
    if path == "." || path.is_empty() {
        return Ok(".".to_owned());
    }
    if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return refused("points outside the archive");
    }
    // What is a plain name here may lead elsewhere on another system.
    if !Path::new(path).components().all(|part| matches!(part, Component::Normal(_))) {
        return refused("points outside the archive");
    }
    Ok(path.to_owned())
}

/// Whom errors are about.
struct Subject<'a> {
    what: &'a str,
}

impl Subject<'_> {
    fn tampered(&self, why: &str) -> Error {
        Error::Tampered { what: self.what.to_owned(), why: why.to_owned() }
    }

    fn broken(&self, broken: Broken) -> Error {
        match broken {
            Broken::Form(why) => self.tampered(&why),
            // The system itself said no: a disk or a network, not the archive.
            Broken::Input(error) if error.raw_os_error().is_some() => {
                Error::file("read", Path::new(self.what), error)
            }
            Broken::Input(error) => {
                self.tampered(&format!("it was changed or truncated ({error})"))
            }
        }
    }
}
