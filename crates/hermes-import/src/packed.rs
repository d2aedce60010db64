//! Members of a zip, read as streams and never written anywhere; archives made to do harm are refused.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::lines::Line;
use crate::reading::Reading;
use crate::{Error, Result, elements, files};

/// More members than any export has.
const MOST_MEMBERS: usize = 200_000;
/// All wanted members together may be so many bytes.
const MOST_BYTES: u64 = 16 * 1024 * 1024 * 1024;
/// Text becomes about ten times smaller; whoever claims more than this makes a bomb.
const MOST_TIMES: u64 = 300;
/// Below this nobody cares how well it was packed.
const HARMLESS: u64 = 64 * 1024 * 1024;

/// The first bytes of a zip.
const ZIP: &[u8; 4] = b"PK\x03\x04";

/// Whether a file begins like a zip.
pub(crate) fn is_zip(path: &Path) -> Result<bool> {
    let mut first = [0; 4];
    let mut file = files::open(path)?;
    match file.read_exact(&mut first) {
        Ok(()) => Ok(&first == ZIP),
        Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(why) => Err(Error::file(path, why)),
    }
}

/// The names of the members, as far as they are text.
pub(crate) fn names(path: &Path) -> Result<Vec<String>> {
    let archive = open(path)?;
    Ok(archive.file_names().flatten().map(Cow::into_owned).collect())
}

/// Hands out every wanted member as a stream; returns how many there were.
pub(crate) fn each(
    path: &Path,
    reading: &mut Reading<'_>,
    is_wanted: &dyn Fn(&str) -> bool,
    take: &mut dyn FnMut(&mut Reading<'_>, &Path, &mut dyn BufRead) -> Result<()>,
) -> Result<u64> {
    let mut archive = open(path)?;
    let hostile = |why: &str| Error::Hostile { path: path.to_owned(), why: why.to_owned() };
    if archive.len() > MOST_MEMBERS {
        return Err(hostile("it has more than 200,000 files"));
    }
    if announces_too_much(&mut archive, is_wanted) {
        return Err(hostile("a file in it unpacks to far more data than an export can have"));
    }
    let mut count = 0;
    let mut left = MOST_BYTES;
    for place in 0..archive.len() {
        let Some(Ok(name)) = archive.name_for_index(place) else { continue };
        let name = name.into_owned();
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        if !is_wanted(last) {
            continue;
        }
        let shown = path.join(&name);
        if name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..") {
            reading.tally.problem(
                path,
                None,
                format!("the name {name:?} points outside the archive"),
            );
            continue;
        }
        let member = match archive.by_index(place) {
            Ok(member) => member,
            Err(why) => {
                reading.tally.problem(&shown, None, format!("could not be unpacked: {why}"));
                continue;
            }
        };
        if member.is_dir() || member.is_symlink() {
            continue;
        }
        let room = most(member.compressed_size()).min(left);
        let mut bounded = Bounded::new(member, room);
        let mut input = BufReader::with_capacity(128 * 1024, &mut bounded);
        let taken = take(reading, &shown, &mut input);
        drop(input);
        if bounded.is_over {
            return Err(hostile("a file in it unpacks to far more data than an export can have"));
        }
        taken?;
        left = left.saturating_sub(room - bounded.left);
        count += 1;
    }
    Ok(count)
}

/// Whether the archive says itself that it is a bomb, before anything of it is read.
fn announces_too_much(
    archive: &mut ZipArchive<BufReader<File>>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> bool {
    let mut all = 0_u64;
    for place in 0..archive.len() {
        let Ok(member) = archive.by_index_raw(place) else { continue };
        let Ok(name) = member.name() else { continue };
        if !is_wanted(name.rsplit(['/', '\\']).next().unwrap_or_default()) {
            continue;
        }
        all = all.saturating_add(member.size());
        if member.size() > most(member.compressed_size()) {
            return true;
        }
    }
    all > MOST_BYTES
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>> {
    ZipArchive::new(files::open(path)?).map_err(|why| match why {
        ZipError::Io(why) if why.raw_os_error().is_some() => Error::file(path, why),
        why => Error::NotThis { path: path.to_owned(), why: format!("the zip is damaged ({why})") },
    })
}

/// How many bytes something packed may become.
pub(crate) fn most(packed: u64) -> u64 {
    packed.saturating_mul(MOST_TIMES).max(HARMLESS)
}

/// A stream that ends with an error when it is longer than allowed.
pub(crate) struct Bounded<R> {
    input: R,
    left: u64,
    pub(crate) is_over: bool,
}

impl<R> Bounded<R> {
    pub(crate) fn new(input: R, most: u64) -> Bounded<R> {
        Bounded { input, left: most, is_over: false }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => {
                self.left = left;
                Ok(count)
            }
            None => {
                self.is_over = true;
                Err(io::Error::other("it unpacks to too much data"))
            }
        }
    }
}

/// Hands out the conversations of an export: a zip, a JSON file, or a folder of such.
pub(crate) fn conversations(
    path: &Path,
    reading: &mut Reading<'_>,
    take: &mut dyn FnMut(&mut Reading<'_>, &Path, Line) -> Result<()>,
) -> Result<()> {
    let found = path.metadata().map_err(|why| Error::file(path, why))?;
    if !found.is_dir() {
        return conversation_file(path, reading, take);
    }
    let is_wanted = |path: &Path| {
        let name = files::name(path);
        files::ends_with(path, ".zip") || is_conversations(&name)
    };
    let listing = files::below(path, &is_wanted);
    reading.tally.leave(crate::tally::LeftOut::Links, listing.links);
    if listing.files.is_empty() {
        return Err(Error::not_this(path, "it contains no conversations.json"));
    }
    listing.files.iter().try_for_each(|file| match conversation_file(&file.path, reading, take) {
        Err(why @ Error::NotThis { .. }) if files::ends_with(&file.path, ".zip") => {
            reading.tally.problem(&file.path, None, why.to_string());
            Ok(())
        }
        other => other,
    })
}

fn conversation_file(
    path: &Path,
    reading: &mut Reading<'_>,
    take: &mut dyn FnMut(&mut Reading<'_>, &Path, Line) -> Result<()>,
) -> Result<()> {
    const KEYS: &[&str] = &["conversations"];
    if !is_zip(path)? {
        let mut input = files::open(path)?;
        let found = elements::each(path, &mut input, KEYS, reading, &mut |reading, line| {
            take(reading, path, line)
        })?;
        let none = || Error::not_this(path, "it is not a list of conversations");
        return found.then_some(()).ok_or_else(none);
    }
    let count = each(path, reading, &is_conversations, &mut |reading, member, input| {
        let found = elements::each(member, input, KEYS, reading, &mut |reading, line| {
            take(reading, member, line)
        })?;
        if !found {
            reading.tally.problem(member, None, "it is not a list of conversations");
        }
        Ok(())
    })?;
    let none = || Error::not_this(path, "it contains no conversations.json");
    (count > 0).then_some(()).ok_or_else(none)
}

/// `conversations.json`, or a part of it: `conversations-000.json`.
fn is_conversations(name: &str) -> bool {
    name.starts_with("conversations") && name.ends_with(".json")
}
