//! Archives of a home that another program made: the zip of Hermes Agent, or a plain tar.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use hermes_store::snapshot::{self, Depth};
use hermes_store::sqlite::{self, Access};

use crate::archive::unsealed::{self, Links, Safe, Safely};
use crate::archive::{Member, zipped};
use crate::database_files::{SIDECARS, beside, remove_sidecars};
use crate::manifest::{Kind, MEMBER, ROOT};
use crate::name::ArchiveName;
use crate::restore::From;
use crate::restore::unpack::{self, Unpacked, Writer};
use crate::{Error, Result, Tell, seal};

/// The first bytes of a SQLite database.
const SQLITE: &[u8; 16] = b"SQLite format 3\0";

/// What a folder must have one of to be a home.
const SIGNS: [&str; 7] =
    ["SOUL.md", "state.db", "config.yaml", "memories", "skills", "memory.db", ".env"];

/// Whether an archive is none of ours: told by its name, its first bytes, and whether it has a list.
pub(super) fn is_foreign(from: &From<'_>) -> Result<bool> {
    if is_zip(from.archive)? {
        return Ok(true);
    }
    let name = from.archive.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.parse::<ArchiveName>().is_ok() {
        return Ok(false);
    }
    // Ours under another name still has its list, and must fit it.
    let mut has_list = false;
    each(from, &mut |safe| {
        has_list |= safe.path == MEMBER;
        Ok(())
    })?;
    Ok(!has_list)
}

/// Unpacks all of it that belongs to a home, and settles its databases.
pub(super) fn unpack(from: &From<'_>, folder: &Path, tell: Tell<'_>) -> Result<Unpacked> {
    let shape = Shape::of(from)?;
    let mut writer = Writer::new(folder, tell)?;
    let mut modes: Vec<(String, u32, Kind)> = Vec::new();
    let mut left_out = LeftOut::default();
    each(from, &mut |safe| {
        let Some(path) = shape.place(safe, &mut left_out) else {
            return Ok(());
        };
        let kind = if safe.sort == Safely::Folder { Kind::Folder } else { Kind::File };
        modes.push((path.clone(), safe.mode & 0o777, kind));
        writer.take(&mut Member {
            path,
            folder: kind == Kind::Folder,
            size: safe.size,
            mode: safe.mode,
            modified: safe.modified,
            content: safe.content,
        })
    })?;
    let files = writer.files;
    writer.set_folder_times()?;
    let mut remarks = left_out.remarks(&shape);
    for (path, mode, kind) in &mut modes {
        if *kind == Kind::File && settle(&folder.join(&*path), from.archive)? {
            *kind = Kind::Database;
        }
        if folder.join(&*path).symlink_metadata().is_ok() {
            unpack::set_mode(folder, path, *mode, *kind)?;
        }
    }
    remarks.push("the archive has no file list: only its databases could be checked".to_owned());
    Ok(Unpacked { manifest: None, files, remarks })
}

/// Folds what is beside a database into it and checks it; returns whether the file is a database at all.
fn settle(path: &Path, archive: &Path) -> Result<bool> {
    let is_sidecar = SIDECARS.iter().any(|ending| {
        let name = path.as_os_str().to_string_lossy();
        name.strip_suffix(ending).is_some_and(|main| is_database(Path::new(main)))
    });
    if is_sidecar || !is_database(path) {
        return Ok(false);
    }
    let tampered = |why: String| Error::Tampered {
        what: archive.display().to_string(),
        why: format!("{}: {why}", path.file_name().unwrap_or_default().display()),
    };
    // What was committed and is only in the log must not be lost: whoever closes the file last folds it in.
    let opened = sqlite::open(path, Access::Write, sqlite::DEFAULT_WAIT);
    drop(opened.map_err(|error| tampered(error.to_string()))?);
    let log = beside(path, "-wal");
    if log.symlink_metadata().is_ok_and(|found| found.len() > 0) {
        return Err(tampered("its write-ahead log could not be merged".to_owned()));
    }
    let size = path.metadata().map_or(0, |found| found.len());
    let found = snapshot::examine(path, Depth::for_size(size));
    remove_sidecars(path)?;
    let found = found.map_err(|error| tampered(error.to_string()))?;
    if found.is_whole() { Ok(true) } else { Err(tampered(found.integrity)) }
}

pub(super) fn is_database(path: &Path) -> bool {
    let mut first = [0; SQLITE.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut first)).is_ok() && &first == SQLITE
}

fn is_zip(path: &Path) -> Result<bool> {
    let mut first = Vec::new();
    File::open(path)
        .and_then(|file| file.take(4).read_to_end(&mut first))
        .map_err(|error| Error::file("read", path, error))?;
    Ok(first == zipped::ZIP)
}

fn each(from: &From<'_>, take: &mut dyn FnMut(&mut Safe<'_>) -> Result<()>) -> Result<()> {
    let limits = unpack::limits_of_foreign(from.archive)?;
    if is_zip(from.archive)? {
        return zipped::members(from.archive, limits, take);
    }
    let what = from.archive.display().to_string();
    let opened = seal::open(from.archive, from.keys)?;
    unsealed::members(opened, &what, limits, Links::PassedOver, take)
}

/// Where the home is in an archive.
#[derive(Debug, Default)]
struct Shape {
    /// The folder that is the home, with `/` at its end; empty if the archive is the home.
    prefix: String,
    /// A copy of state.db that a script made outside of the home.
    state_copy: Option<String>,
}

impl Shape {
    fn of(from: &From<'_>) -> Result<Shape> {
        let mut prefixes = BTreeSet::new();
        let mut tops = BTreeSet::new();
        let mut seconds = BTreeSet::new();
        let mut state_copy = None;
        each(from, &mut |safe| {
            let path = safe.path.as_str();
            if let Some(prefix) = before_root(path, safe.sort) {
                prefixes.insert(prefix);
            } else if is_state_copy(path) {
                state_copy = Some(path.to_owned());
            } else {
                let mut parts = path.split('/');
                tops.extend(parts.next().map(str::to_owned));
                seconds.extend(parts.next().map(str::to_owned));
            }
            Ok(())
        })?;
        let no_home =
            |why: &str| Error::NotArchive { path: from.archive.to_owned(), why: why.to_owned() };
        let has_sign = |names: &BTreeSet<String>| SIGNS.iter().any(|sign| names.contains(*sign));
        let prefix = match (prefixes.len(), prefixes.pop_first()) {
            (1, Some(prefix)) => prefix,
            (0, _) if has_sign(&tops) => String::new(),
            (0, _) if tops.len() == 1 && has_sign(&seconds) => {
                tops.pop_first().map(|top| format!("{top}/")).unwrap_or_default()
            }
            (0, _) => return Err(no_home("it does not contain the home of an agent")),
            _ => return Err(no_home("it contains several homes")),
        };
        Ok(Shape { prefix, state_copy })
    }

    /// Where a member belongs below the home; none if it does not.
    fn place(&self, safe: &Safe<'_>, left_out: &mut LeftOut) -> Option<String> {
        if self.state_copy.as_deref() == Some(safe.path.as_str()) {
            return Some("state.db".to_owned());
        }
        let Some(path) = safe.path.strip_prefix(&self.prefix).filter(|path| *path != ".") else {
            let is_around = self.prefix.starts_with(&format!("{}/", safe.path));
            left_out.elsewhere += u64::from(!is_around && safe.path != ".");
            return None;
        };
        if safe.sort == Safely::Link {
            left_out.links.push(path.to_owned());
            return None;
        }
        let is_live =
            SIDECARS.iter().any(|ending| path == format!("state.db{ending}")) || path == "state.db";
        if (self.state_copy.is_some() && is_live) || path.ends_with("-shm") {
            return None;
        }
        if safe.sort == Safely::File && is_of_one_machine(path, safe.size) {
            left_out.machine.push(path.to_owned());
            return None;
        }
        Some(path.to_owned())
    }
}

/// What stands before `.hermes/` in a path, with it.
fn before_root(path: &str, sort: Safely) -> Option<String> {
    let mut before = String::new();
    let mut parts = path.split('/').peekable();
    while let Some(part) = parts.next() {
        before.push_str(part);
        before.push('/');
        if part == ROOT && (parts.peek().is_some() || sort == Safely::Folder) {
            return Some(before);
        }
    }
    None
}

fn is_state_copy(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path.starts_with("tmp/") && name.starts_with("hermes-state-") && name.ends_with(".db")
}

/// A note about a process, or an empty lock: it means nothing on another machine.
fn is_of_one_machine(path: &str, size: u64) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.ends_with(".pid")
        || (name.ends_with(".lock") && size == 0)
        || matches!(path, "gateway_state.json" | "hermesd/daemon.json" | "hermesd/daemon.lock")
}

#[derive(Default)]
struct LeftOut {
    links: Vec<String>,
    machine: Vec<String>,
    elsewhere: u64,
}

impl LeftOut {
    fn remarks(&self, shape: &Shape) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(copy) = &shape.state_copy {
            remarks.push(format!("{copy} was restored as state.db"));
        }
        if let Some(first) = self.links.first() {
            let count = self.links.len();
            remarks.push(format!("links are never restored: {count} skipped, such as {first}"));
        }
        if !self.machine.is_empty() {
            let names = self.machine.join(", ");
            remarks.push(format!("skipped, because they are specific to another machine: {names}"));
        }
        if self.elsewhere > 0 {
            remarks.push(format!("skipped {} that are outside the home", self.elsewhere));
        }
        remarks
    }
}

/// Whether something is a database, or a folder with one in it.
pub(super) fn holds_database(path: &Path) -> bool {
    if !path.is_dir() {
        return is_database(path);
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| holds_database(&path))
}
