//! Builds an archive: copies databases, packs, encrypts and reads all of it back, before it gets its name.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hermes_home::{Home, atomic};
use jiff::Timestamp;

use crate::archive::{self, Form, Limits, Packed};
use crate::contents::Contents;
use crate::folder::sidecar_path;
use crate::held::Scratch;
use crate::manifest::{self, Manifest, Previous, Sidecar};
use crate::name::{ArchiveName, PARTIAL};
use crate::request::{Request, plan};
use crate::restore::unpack;
use crate::staging::{self, Staged};
use crate::{Error, Progress, Result, Tell, lacking};

/// An archive that was read back and waits for its name.
pub(crate) struct Built {
    pub(crate) name: ArchiveName,
    pub(crate) packed: Packed,
    pub(crate) partial: Partial,
    /// When it had been read back.
    pub(crate) verified: Timestamp,
    pub(crate) remarks: Vec<String>,
    pub(crate) checking: Duration,
}

/// What else is known before it is built.
#[derive(Debug, Default)]
pub(crate) struct Known<'a> {
    /// The archive before this one.
    pub(crate) previous: Option<Previous>,
    /// The file it becomes, if not one with a name of our own.
    pub(crate) file: Option<&'a Path>,
}

/// Builds the archive in the folder of the request.
pub(crate) fn build(request: &Request<'_>, known: Known<'_>, tell: Tell<'_>) -> Result<Built> {
    let begun = Instant::now();
    let contents = plan(request)?;
    let folder = request.folder.path();
    let needed = bytes_needed(&contents);
    refuse_full(folder, needed)?;
    let built = write(request, known, contents, begun, tell);
    built.map_err(|error| name_full_disk(error, folder, needed))
}

fn write(
    request: &Request<'_>,
    known: Known<'_>,
    contents: Contents,
    begun: Instant,
    tell: Tell<'_>,
) -> Result<Built> {
    let staging = place_to_stage(request.home, staging::bytes_of(&contents))?;
    let lost = lacking::lost(request.home, &request.scope, &contents)?;
    let mut staged = staging::stage(contents, staging.path(), &mut *tell)?;
    staged.lacks(lost);
    let name = name_of(request, &staged);
    let named = match known.file {
        Some(file) => file.to_owned(),
        None => request.folder.path().join(name.to_string()),
    };
    let partial = Partial::new(named)?;
    let manifest = first_manifest(request, &mut staged, known.previous, name.id(), begun);
    let work = Work { request, staging: staging.path(), partial: &partial };
    let packed = pack(&work, &mut staged, &manifest, &mut *tell)?;
    staging.close()?;
    read_back(&partial, &packed, &mut *tell)?;
    let mut remarks = staged.remarks;
    remarks.extend(
        packed.changed.iter().map(|path| format!("{path} changed while it was being read")),
    );
    let (verified, checking) = (later(request.now, begun), staged.checking);
    Ok(Built { name, packed, partial, verified, remarks, checking })
}

/// In the home, where the words of its databases are anyway. One whose disk takes nothing more is worth a backup most of
/// all: then it is the system's temporary folder, never the folder of backups, which others may read.
fn place_to_stage(home: &Home, copies: u64) -> Result<Scratch> {
    let own = home.sibling(None).own();
    match takes_files(&own, copies) {
        true => Scratch::in_home(home),
        false => Scratch::in_temporary_folder(),
    }
}

/// Whether so much can be written to a folder, in a handful of files.
fn takes_files(folder: &Path, bytes: u64) -> bool {
    const HANDFUL: u64 = 64;
    let Ok(found) = nix::sys::statvfs::statvfs(folder) else { return true };
    let is_read_only = found.flags().contains(nix::sys::statvfs::FsFlags::ST_RDONLY);
    // File systems that make inodes as they are needed say that they have none at all.
    let has_inodes = found.files() == 0 || found.files_available() >= HANDFUL;
    let free = found.blocks_available().saturating_mul(found.fragment_size());
    !is_read_only && has_inodes && free >= bytes
}

fn later(now: Timestamp, begun: Instant) -> Timestamp {
    now.checked_add(begun.elapsed()).unwrap_or(now)
}

fn name_of(request: &Request<'_>, staged: &Staged) -> ArchiveName {
    ArchiveName {
        what: request.scope.as_str().to_owned(),
        made: Timestamp::from_second(request.now.as_second()).unwrap_or(request.now),
        tag: request.tag,
        damaged: staged.damaged,
        compression: request.compression,
        format: request.sealing.format(),
    }
}

/// Everything but the files, which are added while they are packed.
fn first_manifest(
    request: &Request<'_>,
    staged: &mut Staged,
    previous: Option<Previous>,
    id: String,
    begun: Instant,
) -> Manifest {
    Manifest {
        format: manifest::FORMAT,
        made_by: request.made_by.to_owned(),
        id,
        what: request.scope.as_str().to_owned(),
        host: request.host.to_owned(),
        label: request.label.clone(),
        started: request.now,
        finished: later(request.now, begun),
        files: Vec::new(),
        databases: std::mem::take(&mut staged.databases),
        left_out: std::mem::take(&mut staged.left_out),
        previous,
        signed: None,
    }
}

/// How often a large file may become shorter while it is read.
const TRIES: usize = 3;

/// What packing is about.
struct Work<'a> {
    request: &'a Request<'a>,
    staging: &'a Path,
    partial: &'a Partial,
}

fn pack(
    work: &Work<'_>,
    staged: &mut Staged,
    manifest: &Manifest,
    tell: Tell<'_>,
) -> Result<Packed> {
    let (partial, request) = (work.partial, work.request);
    let signers = request.folder.signers();
    let form = Form { compression: request.compression, sealing: request.sealing, signers };
    let mut tries = 0;
    loop {
        let out = partial.file.try_clone().map_err(|source| partial.unwritten(source))?;
        let packed = archive::pack(&staged.sources, manifest.clone(), form, out, &mut *tell);
        let shorter = match packed {
            Err(Error::File { source, path, .. })
                if source.kind() == io::ErrorKind::UnexpectedEof && tries < TRIES =>
            {
                path
            }
            other => return other,
        };
        tries += 1;
        partial.begin_anew()?;
        hold_still(staged, &shorter, &work.staging.join(format!("still-{tries}")))?;
    }
}

/// Copies a file that others change, so that the copy can be packed in its place.
fn hold_still(staged: &mut Staged, path: &Path, copy: &Path) -> Result<()> {
    staging::copy_private(path, copy)?;
    for source in &mut staged.sources {
        if source.from.as_deref() == Some(path) {
            source.from = Some(copy.to_owned());
            staged.remarks.push(format!("{} changed while it was being read", source.file.path));
        }
    }
    Ok(())
}

/// An archive that has not got its name yet; it goes when this does.
pub(crate) struct Partial {
    path: PathBuf,
    named: PathBuf,
    file: File,
}

impl Partial {
    fn new(named: PathBuf) -> Result<Partial> {
        if named.symlink_metadata().is_ok() {
            let taken = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(Error::file("create", &named, taken));
        }
        let mut path = named.clone().into_os_string();
        path.push(PARTIAL);
        let path = PathBuf::from(path);
        let file = staging::create_private(&path)?;
        Ok(Partial { path, named, file })
    }

    fn begin_anew(&self) -> Result<()> {
        let mut file = &self.file;
        file.set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)).map(drop))
            .map_err(|source| self.unwritten(source))
    }

    fn unwritten(&self, source: io::Error) -> Error {
        Error::file("write to", &self.path, source)
    }

    /// Writes the sidecar, if there is to be one, then gives the archive its name: what has its name is whole.
    pub(crate) fn keep(self, sidecar: Option<&Sidecar>) -> Result<PathBuf> {
        let beside = sidecar_path(&self.named);
        if let Some(sidecar) = sidecar {
            let text = serde_json::to_vec_pretty(sidecar).map_err(io::Error::from);
            let text = text.map_err(|source| Error::file("write", &beside, source))?;
            atomic::write_private(&beside, &text)?;
        }
        let folder = self.named.parent().unwrap_or(Path::new("."));
        let renamed =
            fs::rename(&self.path, &self.named).and_then(|()| atomic::sync_folder(folder));
        renamed.map(|()| self.named.clone()).map_err(|source| {
            if sidecar.is_some() {
                let _ = fs::remove_file(&beside);
            }
            Error::file("rename", &self.path, source)
        })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Gone already if it has its name.
        let _ = fs::remove_file(&self.path);
    }
}

/// Decrypts what is on the disk with the key that is still in memory and compares every member.
fn read_back(partial: &Partial, packed: &Packed, tell: Tell<'_>) -> Result<()> {
    forget_cached(&partial.file);
    let of = packed.manifest.files.iter().map(|file| file.size).sum();
    let limits = unpack::limits(&partial.path)?;
    refuse_trap(&packed.manifest, limits)?;
    let mut done = 0;
    let read = archive::read(&partial.path, &packed.keys, limits, &mut |member| {
        done += member.size;
        tell(Progress { doing: "reading back", done, of });
        Ok(())
    })?;
    let size = partial.path.metadata().map_err(|source| partial.unwritten(source))?.len();
    if read != packed.manifest || size != packed.size {
        return Err(Error::Tampered {
            what: partial.path.display().to_string(),
            why: "the file that was read back differs from what was written".to_owned(),
        });
    }
    Ok(())
}

/// Asks the system to read from the disk again, not from memory.
fn forget_cached(file: &File) {
    #[cfg(target_os = "linux")]
    {
        use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
        // Advice that is not taken makes the check weaker, never wrong.
        let _ = posix_fadvise(file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = file;
}

/// What no restore would take is no backup: it must fail now, not on the day it is needed.
fn refuse_trap(manifest: &Manifest, limits: Limits) -> Result<()> {
    // The list itself and the folder around everything are members too.
    let members = manifest.files.len() as u64 + 2;
    let bytes: u64 = manifest.files.iter().map(|file| file.size).sum();
    let why = if members > limits.members {
        format!("it would have {members} members; at most {} can be restored", limits.members)
    } else if bytes > limits.bytes {
        let largest = manifest.files.iter().max_by_key(|file| file.size);
        let largest = largest.map_or("", |file| file.path.as_str());
        format!(
            "it would unpack to {bytes} bytes; at most {} can be restored from an archive of its \
             size; the largest file is {largest}",
            limits.bytes
        )
    } else {
        return Ok(());
    };
    Err(Error::NotRestorable { why })
}

/// Copies of databases, and an archive in which they have half their size, as text in SQLite pages has.
fn bytes_needed(contents: &Contents) -> u64 {
    let all: u64 = contents.entries.iter().map(|entry| entry.size).sum();
    let copies = staging::bytes_of(contents);
    let archive = all.saturating_sub(copies) + copies / 2;
    // A fifth more, for what is written to the home meanwhile.
    (copies + archive) / 5 * 6
}

fn refuse_full(folder: &Path, needed: u64) -> Result<()> {
    let free = free_bytes(folder)?;
    if free < needed {
        return Err(Error::NoSpace { folder: folder.to_owned(), needed, free });
    }
    Ok(())
}

fn free_bytes(folder: &Path) -> Result<u64> {
    let found = nix::sys::statvfs::statvfs(folder)
        .map_err(|code| Error::file("check", folder, code.into()))?;
    Ok(found.blocks_available().saturating_mul(found.fragment_size()))
}

/// Says that the disk of the backups is full where that is why something could not be written.
fn name_full_disk(error: Error, folder: &Path, needed: u64) -> Error {
    let Ok(free) = free_bytes(folder) else { return error };
    // SQLite has one word for a disk that is full and one that fails.
    let may_be = matches!(&error, Error::Store(hermes_store::Error::CopyUnwritten { .. }));
    match free < needed && (may_be || says_full(&error)) {
        true => Error::NoSpace { folder: folder.to_owned(), needed, free },
        false => error,
    }
}

fn says_full(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(said) = error.downcast_ref::<io::Error>() {
            return matches!(
                said.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            );
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Kind;

    fn manifest(sizes: &[u64]) -> Manifest {
        let file = |(number, size): (usize, &u64)| manifest::File {
            path: format!("file-{number}"),
            kind: Kind::File,
            size: *size,
            mode: 0o600,
            modified: 0,
            sha256: String::new(),
            link: None,
        };
        Manifest {
            format: manifest::FORMAT,
            made_by: String::new(),
            id: String::new(),
            what: "all".to_owned(),
            host: String::new(),
            label: None,
            started: Timestamp::UNIX_EPOCH,
            finished: Timestamp::UNIX_EPOCH,
            files: sizes.iter().enumerate().map(file).collect(),
            databases: Vec::new(),
            left_out: Vec::new(),
            previous: None,
            signed: None,
        }
    }

    #[test]
    fn what_restore_would_take_for_a_trap_is_not_made() {
        let limits = Limits { bytes: 1000, members: 5 };
        refuse_trap(&manifest(&[400, 600]), limits).unwrap();
        let refused = refuse_trap(&manifest(&[400, 601]), limits).unwrap_err();
        assert!(refused.to_string().contains("file-1"), "{refused}");
        assert!(refused.hint().unwrap().contains("backup.exclude"));
        assert!(refuse_trap(&manifest(&[1, 1, 1, 1]), limits).is_err());
    }
}
