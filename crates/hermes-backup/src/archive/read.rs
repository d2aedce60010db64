//! Reads an archive of ours and compares every member with the list that comes last.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::archive::unsealed::{self, Links, Safe, Safely};
use crate::archive::{Limits, Member};
use crate::hash::hex;
use crate::manifest::{self, FORMAT, Kind, MEMBER, Manifest, ROOT};
use crate::seal::{self, Keys};
use crate::{Error, Result};

/// A list of a million files with long paths has half of this.
const LONGEST_MANIFEST: u64 = 256 * 1024 * 1024;

/// Reads every member of an archive of ours, hands it out, and compares all of them with the manifest.
///
/// What was handed out must not be used before this returned well. Links, devices, paths that lead out of the
/// folder, members that come twice or are not in the manifest, and more than the limits allow are refused.
pub fn read(
    path: &Path,
    keys: &Keys,
    limits: Limits,
    take: &mut dyn FnMut(&mut Member<'_>) -> Result<()>,
) -> Result<Manifest> {
    let what = path.display().to_string();
    read_opened(seal::open(path, keys)?, &what, limits, take)
}

/// The same for an archive that is decrypted already.
pub(crate) fn read_opened(
    sealed: impl Read,
    what: &str,
    limits: Limits,
    take: &mut dyn FnMut(&mut Member<'_>) -> Result<()>,
) -> Result<Manifest> {
    let mut reading = Reading { what, seen: Vec::new(), manifest: None };
    unsealed::members(sealed, what, limits, Links::Refused, &mut |safe| reading.take(safe, take))?;
    let Reading { seen, manifest, .. } = reading;
    let Some(manifest) = manifest else {
        return Err(tampered(what, "its list of members is missing"));
    };
    compare(&seen, &manifest).map_err(|why| tampered(what, &why))?;
    Ok(manifest)
}

struct Reading<'a> {
    what: &'a str,
    seen: Vec<Seen>,
    manifest: Option<Manifest>,
}

/// A member as it came.
struct Seen {
    path: String,
    folder: bool,
    size: u64,
    mode: u32,
    modified: i64,
    sha256: String,
}

impl Reading<'_> {
    fn take(
        &mut self,
        safe: &mut Safe<'_>,
        take: &mut dyn FnMut(&mut Member<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.manifest.is_some() {
            let why = format!("{} comes after the list of members", safe.path.escape_debug());
            return Err(tampered(self.what, &why));
        }
        if safe.path == MEMBER {
            self.manifest = Some(self.read_manifest(safe)?);
            return Ok(());
        }
        let below = safe.path.strip_prefix(ROOT).and_then(|path| path.strip_prefix('/'));
        let Some(below) = below.map(str::to_owned) else {
            let why = format!("{} is not inside {ROOT}", safe.path.escape_debug());
            return Err(tampered(self.what, &why));
        };
        let seen = hand_out(below, safe, take)?;
        self.seen.push(seen);
        Ok(())
    }

    fn read_manifest(&self, safe: &mut Safe<'_>) -> Result<Manifest> {
        if safe.sort != Safely::File || safe.size > LONGEST_MANIFEST {
            return Err(tampered(self.what, "its list of members is not valid"));
        }
        let mut text = Vec::new();
        safe.content
            .read_to_end(&mut text)
            .map_err(|error| Error::file("read", Path::new(self.what), error))?;
        let format: Format = serde_json::from_slice(&text).map_err(|why| {
            tampered(self.what, &format!("its list of members cannot be read: {why}"))
        })?;
        if format.format > FORMAT {
            return Err(Error::NotArchive {
                path: self.what.into(),
                why: format!("it has format {}, of a newer version of Hermes", format.format),
            });
        }
        serde_json::from_slice(&text).map_err(|why| {
            tampered(self.what, &format!("its list of members cannot be read: {why}"))
        })
    }
}

#[derive(serde::Deserialize)]
struct Format {
    format: u32,
}

fn hand_out(
    path: String,
    safe: &mut Safe<'_>,
    take: &mut dyn FnMut(&mut Member<'_>) -> Result<()>,
) -> Result<Seen> {
    let folder = safe.sort == Safely::Folder;
    let mut hashed = Hashed { input: &mut *safe.content, hash: Sha256::new() };
    let mut member = Member {
        path,
        folder,
        size: safe.size,
        mode: safe.mode,
        modified: safe.modified,
        content: &mut hashed,
    };
    take(&mut member)?;
    let path = std::mem::take(&mut member.path);
    io::copy(&mut hashed, &mut io::sink())
        .map_err(|error| Error::file("read", Path::new(&path), error))?;
    let sha256 = if folder { String::new() } else { hex(&hashed.hash.finalize()) };
    let (size, mode, modified) = (safe.size, safe.mode, safe.modified);
    Ok(Seen { path, folder, size, mode, modified, sha256 })
}

struct Hashed<'a> {
    input: &'a mut dyn Read,
    hash: Sha256,
}

impl Read for Hashed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}

/// Every member must be in the list, as the list says it, in its order; and nothing in the list may be missing.
fn compare(seen: &[Seen], manifest: &Manifest) -> Result<(), String> {
    for (seen, listed) in seen.iter().zip(&manifest.files) {
        let shown = listed.path.escape_debug();
        if seen.path != listed.path {
            let found = seen.path.escape_debug();
            return Err(format!("it contains {found} where its list has {shown}"));
        }
        let differs = differs(seen, listed);
        if let Some(what) = differs {
            return Err(format!("the {what} of {shown} differs from its list"));
        }
    }
    match (seen.get(manifest.files.len()), manifest.files.get(seen.len())) {
        (Some(more), _) => Err(format!("{} is not in its list", more.path.escape_debug())),
        (_, Some(less)) => Err(format!("{} is missing", less.path.escape_debug())),
        (None, None) => known_databases(manifest),
    }
}

fn differs(seen: &Seen, listed: &manifest::File) -> Option<&'static str> {
    let checks = [
        (seen.folder == (listed.kind == Kind::Folder), "kind"),
        (seen.size == listed.size, "size"),
        (seen.mode == listed.mode && listed.mode <= 0o777, "mode"),
        // A tar has no time before 1970.
        (seen.modified == listed.modified.max(0), "time"),
        (seen.sha256 == listed.sha256, "content"),
    ];
    checks.into_iter().find(|(fits, _)| !fits).map(|(_, what)| what)
}

/// What the list says of databases must be about databases in it.
fn known_databases(manifest: &Manifest) -> Result<(), String> {
    let is_database = |file: &&manifest::File| file.kind == Kind::Database;
    let listed: HashSet<&str> =
        manifest.files.iter().filter(is_database).map(|file| file.path.as_str()).collect();
    match manifest.databases.iter().find(|database| !listed.contains(database.path.as_str())) {
        None => Ok(()),
        Some(lost) => {
            Err(format!("{} is listed as a database but is not one", lost.path.escape_debug()))
        }
    }
}

fn tampered(what: &str, why: &str) -> Error {
    Error::Tampered { what: what.to_owned(), why: why.to_owned() }
}
