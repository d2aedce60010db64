//! Writes what an archive holds into a folder that nobody else can look into.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::fcntl::OFlag;

use crate::archive::{self, Limits, Member};
use crate::manifest::{Kind, Manifest};
use crate::name::ArchiveName;
use crate::restore::{From, foreign};
use crate::sign::{self, Signed};
use crate::{Error, Progress, Result, Tell, hash};

/// What was unpacked.
#[derive(Debug)]
pub(crate) struct Unpacked {
    /// The list in the archive; none for one of another program.
    pub(crate) manifest: Option<Manifest>,
    /// How many files were written.
    pub(crate) files: u64,
    /// What the user should know.
    pub(crate) remarks: Vec<String>,
}

/// Compares the archive with what its sidecar says, unpacks it below `folder` and checks all of it.
///
/// Nothing of it may be used if this fails.
pub(crate) fn unpack(from: &From<'_>, folder: &Path, tell: Tell<'_>) -> Result<Unpacked> {
    if let Some(expected) = from.sha256 {
        hash::must_be(from.archive, expected, tell)?;
    }
    // Only where the hash was compared does what stands beside it speak of this archive.
    let beside = if from.sha256.is_some() { from.signed.clone() } else { Signed::No };
    if foreign::is_foreign(from)? {
        from.trust.must_take(from.archive, &[beside])?;
        return foreign::unpack(from, folder, tell);
    }
    let mut writer = Writer::new(folder, tell)?;
    let manifest =
        archive::read(from.archive, from.keys, limits(from.archive)?, &mut |m| writer.take(m))?;
    must_be_named(from.archive, &manifest)?;
    let inside = from.trust.look(manifest.signed.as_ref(), &sign::inside(&manifest)?);
    from.trust.must_take(from.archive, &[beside, inside])?;
    sign::must_be_past(from.archive, manifest.started, from.now)?;
    let files = writer.files;
    writer.set_folder_times()?;
    for file in &manifest.files {
        set_mode(folder, &file.path, file.mode, file.kind)?;
    }
    let remarks = damaged(&manifest);
    Ok(Unpacked { manifest: Some(manifest), files, remarks })
}

/// An archive under the name of another one is an old one that was passed off as new, or the like.
pub(crate) fn must_be_named(path: &Path, manifest: &Manifest) -> Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let Ok(name) = name.parse::<ArchiveName>() else {
        return Ok(());
    };
    if (name.id().as_str(), name.what.as_str()) == (manifest.id.as_str(), manifest.what.as_str()) {
        return Ok(());
    }
    let (id, what) = (manifest.id.escape_debug(), manifest.what.escape_debug());
    let why = format!("its file name is wrong: it is {id} of {what}");
    Err(Error::Tampered { what: path.display().to_string(), why })
}

/// The most that an archive may unpack to: more is a trap. What the disk has room for is checked on the way.
pub(crate) fn limits(archive: &Path) -> Result<Limits> {
    let size = fs::metadata(archive).map_err(|error| Error::file("read", archive, error))?.len();
    let bytes = size.saturating_mul(1000).max(16 << 30);
    Ok(Limits { bytes, members: 2_000_000 })
}

/// The same for an archive that another program made: a hundred times its size, which no home reaches.
pub(crate) fn limits_of_foreign(archive: &Path) -> Result<Limits> {
    const LEAST: u64 = 16 << 20;
    let size = fs::metadata(archive).map_err(|error| Error::file("read", archive, error))?.len();
    Ok(Limits { bytes: size.saturating_mul(100).max(LEAST), members: 2_000_000 })
}

/// Makes files and folders, each new and readable by nobody else.
pub(crate) struct Writer<'a> {
    folder: PathBuf,
    room: u64,
    written: u64,
    /// How many files were made.
    pub(crate) files: u64,
    times: Vec<(PathBuf, i64)>,
    tell: Tell<'a>,
}

impl<'a> Writer<'a> {
    /// A writer below `folder`, which is there and empty.
    pub(crate) fn new(folder: &Path, tell: Tell<'a>) -> Result<Writer<'a>> {
        let room = room(folder)?;
        let folder = folder.to_owned();
        Ok(Writer { folder, room, written: 0, files: 0, times: Vec::new(), tell })
    }

    /// Makes what a member says; its path is relative and leads nowhere else.
    pub(crate) fn take(&mut self, member: &mut Member<'_>) -> Result<()> {
        let path = self.folder.join(&member.path);
        if member.folder {
            self.times.push((path.clone(), member.modified));
            return make_folder(&path);
        }
        self.needs(member.size)?;
        if let Some(parent) = path.parent() {
            make_folder(parent)?;
        }
        let failed = |error: io::Error| Error::file("write to", &path, error);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags(OFlag::O_NOFOLLOW.bits())
            .open(&path)
            .map_err(failed)?;
        let done = &mut self.written;
        let mut told = Told { input: member.content, done, tell: self.tell };
        io::copy(&mut told, &mut file).map_err(failed)?;
        file.set_modified(time(member.modified)).map_err(failed)?;
        self.files += 1;
        Ok(())
    }

    fn needs(&self, size: u64) -> Result<()> {
        let needed = self.written.saturating_add(size);
        if needed > self.room {
            return Err(Error::NoSpace { folder: self.folder.clone(), needed, free: self.room });
        }
        Ok(())
    }

    /// Folders get their times when everything is in them.
    pub(crate) fn set_folder_times(&self) -> Result<()> {
        for (path, modified) in self.times.iter().rev() {
            File::open(path)
                .and_then(|folder| folder.set_modified(time(*modified)))
                .map_err(|error| Error::file("write to", path, error))?;
        }
        Ok(())
    }
}

struct Told<'a, 'b> {
    input: &'a mut dyn io::Read,
    done: &'a mut u64,
    tell: &'a mut (dyn FnMut(Progress<'_>) + 'b),
}

impl io::Read for Told<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        *self.done += count as u64;
        (self.tell)(Progress { doing: "unpacking", done: *self.done, of: 0 });
        Ok(count)
    }
}

/// Makes a folder with its parents, for its owner alone.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|error| Error::file("make", path, error))
}

/// Gives a file or folder its mode; what holds secrets is never open to others.
pub(crate) fn set_mode(folder: &Path, path: &str, mode: u32, kind: Kind) -> Result<()> {
    let whole = folder.join(path);
    let permissions = fs::Permissions::from_mode(mode_of(path, mode, kind));
    fs::set_permissions(&whole, permissions)
        .map_err(|error| Error::file("set the mode of", &whole, error))
}

fn mode_of(path: &str, mode: u32, kind: Kind) -> u32 {
    // A profile has the files of a home.
    let inside = match path.strip_prefix("profiles/") {
        Some(profile) => profile.split_once('/').map_or("", |(_, inside)| inside),
        None => path,
    };
    let is_secret = matches!(inside, "" | ".env" | "auth.json" | "hermesd" | "profiles")
        || inside.starts_with("hermesd/")
        || matches!(kind, Kind::Database | Kind::Damaged);
    let kept = if is_secret { mode & 0o700 } else { mode & 0o777 };
    match kind {
        // Its owner must be able to put something into it and to take it out.
        Kind::Folder => kept | 0o700,
        Kind::Database => (kept & 0o666) | 0o600,
        Kind::File | Kind::Damaged => kept,
    }
}

fn damaged(manifest: &Manifest) -> Vec<String> {
    let files = manifest.files.iter().filter(|file| file.kind == Kind::Damaged);
    files.map(|file| format!("{} was already damaged when it was backed up", file.path)).collect()
}

fn room(folder: &Path) -> Result<u64> {
    let found = nix::sys::statvfs::statvfs(folder)
        .map_err(|error| Error::file("access", folder, error.into()))?;
    Ok(found.blocks_available().saturating_mul(found.fragment_size()))
}

fn time(seconds: i64) -> SystemTime {
    let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_secrets_is_open_to_its_owner_alone() {
        let cases = [
            (".env", 0o644, Kind::File, 0o600),
            ("auth.json", 0o664, Kind::File, 0o600),
            ("profiles/coder/.env", 0o644, Kind::File, 0o600),
            ("profiles/coder", 0o755, Kind::Folder, 0o700),
            ("profiles/coder/hermesd/keys/a", 0o644, Kind::File, 0o600),
            ("state.db", 0o644, Kind::Database, 0o600),
            ("state.db", 0o400, Kind::Database, 0o600),
            ("hermesd", 0o755, Kind::Folder, 0o700),
            ("SOUL.md", 0o644, Kind::File, 0o644),
            ("skills/a/run.sh", 0o755, Kind::File, 0o755),
            ("skills/.env", 0o644, Kind::File, 0o644),
            ("skills", 0o555, Kind::Folder, 0o755),
            ("skills/a/run.sh", 0o4755, Kind::File, 0o755),
        ];
        for (path, mode, kind, wanted) in cases {
            assert_eq!(mode_of(path, mode, kind), wanted, "{path} {mode:o}");
        }
    }
}
