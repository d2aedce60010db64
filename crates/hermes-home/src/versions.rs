//! Earlier versions of the memory files and skills: every content that was ever replaced can be brought back.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::atomic;
use crate::error::{Error, Result};
use crate::layout::{Home, MemoryTarget};
use crate::lock;
use crate::text::preview;
use crate::text_file::{Format, read_bytes};

/// One content that a file has had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Version {
    /// 1 for the oldest; a version keeps its number until one before it is erased.
    pub number: usize,
    /// When it was written, or first seen.
    pub at: Timestamp,
    /// The SHA-256 of its bytes.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
    /// Why it was written.
    pub reason: String,
    /// Whether the file has this content now.
    pub current: bool,
}

/// Which version is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// By its number in the list.
    Number(usize),
    /// By the first characters of its hash, at least four.
    Hash(String),
}

/// A new content for a file, with the one it replaces.
#[derive(Debug, Clone)]
pub struct Replacement<'a> {
    /// What the file holds; none when there is no file.
    pub old: Option<&'a [u8]>,
    /// What it will hold.
    pub new: &'a [u8],
    /// A few words for the list.
    pub reason: &'a str,
    /// The time of the change.
    pub now: Timestamp,
    /// How the entries of the new content are set apart, where that is known.
    pub format: Option<Format>,
}

/// What a restore came to.
#[derive(Debug, Clone)]
pub struct Restored {
    /// The file.
    pub path: PathBuf,
    /// The version it has now.
    pub version: Version,
    /// False when it had that content already.
    pub changed: bool,
}

/// The SHA-256 of some bytes, as hexadecimal text.
pub fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a file and keeps what was there; the caller holds the lock of the file.
///
/// First both contents, then the line in the log, then the file: whatever a crash leaves undone,
/// no content is lost.
pub fn replace(home: &Home, path: &Path, replacement: &Replacement<'_>) -> Result<()> {
    atomic::link_target(path)?;
    let replaced = replacement.old.map(|old| keep(home, old)).transpose()?;
    let line = LogLine {
        at: replacement.now,
        file: relative(home, path),
        replaced,
        replaced_size: replacement.old.map_or(0, |old| old.len() as u64),
        hash: keep(home, replacement.new)?,
        size: replacement.new.len() as u64,
        reason: replacement.reason.to_owned(),
        format: replacement.format,
    };
    append(home, &line)?;
    if let Some(folder) = path.parent() {
        atomic::make_folder(folder)?;
    }
    atomic::write(path, replacement.new)
}

/// All versions of a file, newest first; also a content that was never written by this program.
pub fn list(home: &Home, target: &MemoryTarget) -> Result<Vec<Version>> {
    list_of(home, &home.memory_file(target))
}

/// The same for any file below the home that is written with [`replace`].
pub fn list_of(home: &Home, path: &Path) -> Result<Vec<Version>> {
    let mut versions = logged(home, &relative(home, path))?;
    if let Some(now) = read_bytes(path)? {
        mark_current(&mut versions, path, &now)?;
    }
    versions.reverse();
    Ok(versions)
}

/// Writes an earlier version back; that is a change of its own and can be undone the same way.
pub fn restore(
    home: &Home,
    target: &MemoryTarget,
    which: &Which,
    now: Timestamp,
) -> Result<Restored> {
    home.must_exist()?;
    let path = home.memory_file(target);
    // Before the lock: for a version that does not exist, no folder is made.
    choose(list(home, target)?, which, &path)?;
    let _lock = lock::hold(&path)?;
    let version = choose(list(home, target)?, which, &path)?;
    let old = read_bytes(&path)?;
    if version.current {
        return Ok(Restored { path, version, changed: false });
    }
    let new = content(home, &version.hash)?;
    let changed = old.as_deref() != Some(new.as_slice());
    if changed {
        let reason = format!("restored version {}", version.number);
        let old = old.as_deref();
        let replacement = Replacement { old, new: &new, reason: &reason, now, format: None };
        replace(home, &path, &replacement)?;
    }
    Ok(Restored { path, version, changed })
}

/// Removes every kept version of a file that holds one of the texts, for good; what the file holds now
/// is not touched. Returns how many contents went.
pub fn erase(home: &Home, target: &MemoryTarget, texts: &[String]) -> Result<usize> {
    let path = home.memory_file(target);
    if !log(home).exists() {
        return Ok(0);
    }
    let _file_lock = lock::hold(&path)?;
    erase_in(home, &path, texts)
}

/// The same for any file below the home; the caller keeps others from writing to it.
pub(crate) fn erase_in(home: &Home, path: &Path, texts: &[String]) -> Result<usize> {
    let file = relative(home, path);
    if !log(home).exists() {
        return Ok(0);
    }
    let _log_lock = lock::hold(&log(home))?;
    let lines: Vec<LogLine> = log_lines(&read_log(home)?).collect();
    let now = read_bytes(path)?.map(|bytes| hash(&bytes));
    let gone = holding(home, lines.iter().filter(|line| line.file == file), texts)?;
    let gone: BTreeSet<String> =
        gone.into_iter().filter(|hash| Some(hash) != now.as_ref()).collect();
    if gone.is_empty() {
        return Ok(0);
    }
    let kept = without(lines, &file, &gone);
    write_log(home, &kept)?;
    for hash in &gone {
        let is_used = |line: &LogLine| line.hash == *hash || line.replaced.as_ref() == Some(hash);
        if !kept.iter().any(is_used) {
            remove_blob(&blob(home, hash))?;
        }
    }
    Ok(gone.len())
}

/// Removes every kept version of some files, for good; what the files hold now is not touched. Returns how many
/// contents went.
pub fn erase_files(home: &Home, paths: &[PathBuf]) -> Result<usize> {
    if !log(home).exists() {
        return Ok(0);
    }
    let files: BTreeSet<String> = paths.iter().map(|path| relative(home, path)).collect();
    let _log_lock = lock::hold(&log(home))?;
    let (going, kept): (Vec<LogLine>, Vec<LogLine>) =
        log_lines(&read_log(home)?).partition(|line| files.contains(&line.file));
    let hashes = |lines: &[LogLine]| -> BTreeSet<String> {
        lines.iter().flat_map(|line| line.replaced.iter().chain([&line.hash])).cloned().collect()
    };
    if going.is_empty() {
        return Ok(0);
    }
    write_log(home, &kept)?;
    let (gone, used) = (hashes(&going), hashes(&kept));
    for hash in gone.difference(&used) {
        remove_blob(&blob(home, hash))?;
    }
    Ok(gone.len())
}

fn write_log(home: &Home, lines: &[LogLine]) -> Result<()> {
    let mut text = String::new();
    for line in lines {
        let line = serde_json::to_string(line).map_err(io::Error::from);
        text.push_str(&line.map_err(|source| Error::write(&log(home), source))?);
        text.push('\n');
    }
    atomic::write(&log(home), text.as_bytes())
}

/// The bytes of a kept content, checked against its hash.
pub fn content(home: &Home, hash_text: &str) -> Result<Vec<u8>> {
    let path = blob(home, hash_text);
    let bytes = fs::read(&path).map_err(|source| Error::read(&path, source))?;
    if hash(&bytes) == hash_text { Ok(bytes) } else { Err(Error::DamagedVersion { path }) }
}

/// How many contents are kept, and those that are not what their hash says.
pub fn differing(home: &Home) -> Result<(u64, Vec<PathBuf>)> {
    let (mut count, mut differing) = (0, Vec::new());
    for path in blobs(home)? {
        count += 1;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match content(home, &name) {
            // Erased meanwhile.
            Err(_) if !path.exists() => count -= 1,
            Err(Error::DamagedVersion { path }) => differing.push(path),
            other => drop(other?),
        }
    }
    Ok((count, differing))
}

/// The files of all contents: their names are hashes, and others are none of ours.
fn blobs(home: &Home) -> Result<Vec<PathBuf>> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>> {
        let failed = |source| Error::read(folder, source);
        match fs::read_dir(folder) {
            Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(failed(source)),
            Ok(entries) => entries.map(|entry| Ok(entry.map_err(failed)?.path())).collect(),
        }
    };
    let is_hash = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        name.len() == 64 && name.iter().all(u8::is_ascii_hexdigit)
    };
    let mut files = Vec::new();
    for folder in list(&home.versions().join("blobs"))?.into_iter().filter(|path| path.is_dir()) {
        files.extend(list(&folder)?.into_iter().filter(is_hash));
    }
    files.sort();
    Ok(files)
}

/// The format in which this program last wrote a content of a file, if it ever did.
pub(crate) fn format_written(home: &Home, path: &Path, bytes: &[u8]) -> Result<Option<Format>> {
    let (file, hash) = (relative(home, path), hash(bytes));
    let log = read_log(home)?;
    let same = log_lines(&log).rev().filter(|line| line.file == file && line.hash == hash);
    Ok(same.filter_map(|line| line.format).next())
}

impl FromStr for Which {
    type Err = Error;

    fn from_str(text: &str) -> Result<Which> {
        const MOST_DIGITS: usize = 5;
        const SHORTEST_HASH: usize = 4;
        match text.parse() {
            Ok(number) if text.len() <= MOST_DIGITS => Ok(Which::Number(number)),
            _ if text.len() >= SHORTEST_HASH && text.bytes().all(|b| b.is_ascii_hexdigit()) => {
                Ok(Which::Hash(text.to_ascii_lowercase()))
            }
            _ => Err(Error::BadVersion { text: preview(text) }),
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Which::Number(number) => write!(formatter, "{number}"),
            Which::Hash(prefix) => formatter.write_str(prefix),
        }
    }
}

/// One change, as a line of JSON.
#[derive(Debug, Serialize, Deserialize)]
struct LogLine {
    at: Timestamp,
    /// Relative to the home folder.
    file: String,
    /// The hash of what was there.
    replaced: Option<String>,
    replaced_size: u64,
    hash: String,
    size: u64,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
}

const OUTSIDE: &str = "changed outside of hermes";

fn log(home: &Home) -> PathBuf {
    home.versions().join("log.jsonl")
}

fn blob(home: &Home, hash: &str) -> PathBuf {
    let folder = hash.get(..2).unwrap_or_default();
    home.versions().join("blobs").join(folder).join(hash)
}

fn relative(home: &Home, path: &Path) -> String {
    let inside = path.strip_prefix(home.folder()).unwrap_or(path);
    let parts: Vec<_> = inside.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// Stores a content under its hash, once; one that is torn or was altered is written again.
fn keep(home: &Home, bytes: &[u8]) -> Result<String> {
    let hash = hash(bytes);
    let path = blob(home, &hash);
    if content(home, &hash).is_ok() {
        return Ok(hash);
    }
    let folder = path.parent().unwrap_or(&path);
    if !folder.exists() {
        atomic::make_folder(folder)?;
        let above = folder.parent().unwrap_or(folder);
        atomic::sync_folder(above).map_err(|source| Error::write(above, source))?;
    }
    if !atomic::create(&path, bytes)? {
        atomic::write(&path, bytes)?;
    }
    Ok(hash)
}

fn append(home: &Home, line: &LogLine) -> Result<()> {
    let path = log(home);
    let _lock = lock::hold(&path)?;
    let write = || -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        let is_new = !path.exists();
        let mut file = open_log(&path)?;
        if atomic::is_torn(&mut file)? {
            text.insert(0, '\n');
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        if is_new { atomic::sync_folder(&home.versions()) } else { Ok(()) }
    };
    write().map_err(|source| Error::write(&path, source))
}

fn open_log(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).read(true).mode(0o600).open(path)
}

/// The bytes of the log; none when nothing was written yet.
fn read_log(home: &Home) -> Result<Vec<u8>> {
    let path = log(home);
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.map_err(|source| Error::read(&path, source)),
    }
}

/// The lines of a log. A torn one was never followed by a write of the file, so that nothing is
/// missing without it.
fn log_lines(log: &[u8]) -> impl DoubleEndedIterator<Item = LogLine> {
    log.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The contents that hold one of the texts, however their lines are broken.
fn holding<'a>(
    home: &Home,
    lines: impl Iterator<Item = &'a LogLine>,
    texts: &[String],
) -> Result<BTreeSet<String>> {
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let texts: Vec<String> =
        texts.iter().map(|text| plain(text)).filter(|text| !text.is_empty()).collect();
    let hashes: BTreeSet<String> =
        lines.flat_map(|line| [Some(line.hash.clone()), line.replaced.clone()]).flatten().collect();
    let mut found = BTreeSet::new();
    for hash in hashes {
        let path = blob(home, &hash);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            other => other.map_err(|source| Error::read(&path, source))?,
        };
        let content = plain(&String::from_utf8_lossy(&bytes));
        if texts.iter().any(|text| content.contains(text.as_str())) {
            found.insert(hash);
        }
    }
    Ok(found)
}

/// The log without some contents of a file; what one of them had replaced is what the next one replaces.
fn without(lines: Vec<LogLine>, file: &str, gone: &BTreeSet<String>) -> Vec<LogLine> {
    let mut before: Option<(String, u64)> = None;
    let mut kept = Vec::new();
    for mut line in lines {
        if line.file != file {
            kept.push(line);
            continue;
        }
        if line.replaced.as_ref().is_some_and(|replaced| gone.contains(replaced)) {
            (line.replaced, line.replaced_size) = match before.take() {
                Some((hash, size)) => (Some(hash), size),
                None => (None, 0),
            };
        }
        if gone.contains(&line.hash) {
            before = line.replaced.map(|hash| (hash, line.replaced_size));
        } else {
            before = None;
            kept.push(line);
        }
    }
    kept
}

fn remove_blob(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| Error::write(path, source)),
    }
}

/// The versions of one file by the log, oldest first.
fn logged(home: &Home, file: &str) -> Result<Vec<Version>> {
    let log = read_log(home)?;
    let lines = log_lines(&log);
    let mut versions: Vec<Version> = Vec::new();
    for line in lines.filter(|line| line.file == file) {
        let last = versions.last().map(|version| &version.hash);
        if let Some(replaced) = line.replaced.filter(|replaced| Some(replaced) != last) {
            let number = versions.len() + 1;
            versions.push(version(number, line.at, replaced, line.replaced_size, OUTSIDE));
        }
        let number = versions.len() + 1;
        versions.push(version(number, line.at, line.hash, line.size, &line.reason));
    }
    Ok(versions)
}

fn version(number: usize, at: Timestamp, hash: String, size: u64, reason: &str) -> Version {
    Version { number, at, hash, size, reason: reason.to_owned(), current: false }
}

/// Marks the newest version with the file's content; one that is not in the log becomes the newest.
fn mark_current(versions: &mut Vec<Version>, path: &Path, bytes: &[u8]) -> Result<()> {
    let now = hash(bytes);
    if versions.last().is_none_or(|last| last.hash != now) {
        let modified = path.metadata().and_then(|found| found.modified());
        let modified = modified.map_err(|source| Error::read(path, source))?;
        let at = Timestamp::try_from(modified).unwrap_or(Timestamp::UNIX_EPOCH);
        versions.push(version(versions.len() + 1, at, now, bytes.len() as u64, OUTSIDE));
    }
    if let Some(last) = versions.last_mut() {
        last.current = true;
    }
    Ok(())
}

/// The version that is meant, out of a list with the newest first.
fn choose(versions: Vec<Version>, which: &Which, path: &Path) -> Result<Version> {
    let is_meant = |version: &Version| match which {
        Which::Number(number) => version.number == *number,
        Which::Hash(prefix) => version.hash.starts_with(prefix),
    };
    let mut meant: Vec<Version> = versions.into_iter().filter(is_meant).collect();
    let hashes: BTreeSet<&str> = meant.iter().map(|version| version.hash.as_str()).collect();
    if hashes.len() == 1 {
        return Ok(meant.swap_remove(0));
    }
    let count = hashes.len();
    Err(Error::NoVersion { which: which.to_string(), count, path: path.to_owned() })
}
