//! Makes one backup while everything runs.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Instant;

use hermes_home::lock::Held;
use hermes_home::{Home, atomic};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::archive::{self, Form, Packed};
use crate::contents::{self, Contents, Scope};
use crate::folder::{Backup, Event, Folder, Happened, PARTIAL, STAGING, sidecar_path};
use crate::manifest::{self, Kind, Manifest, Previous, Sidecar};
use crate::name::{ArchiveName, Compression};
use crate::seal::Sealing;
use crate::staging::{self, Staged};
use crate::{Error, Progress, Result, Tell};

/// What is wanted.
#[derive(Debug)]
pub struct Request<'a> {
    /// The home.
    pub home: &'a Home,
    /// Which part of it.
    pub scope: Scope,
    /// Where the archive goes.
    pub folder: &'a Folder,
    /// How it is made smaller.
    pub compression: Compression,
    /// How it is encrypted.
    pub sealing: &'a Sealing,
    /// What the user calls it.
    pub label: Option<String>,
    /// Paths below the root that the user wants out.
    pub exclude: &'a [String],
    /// Files of the home that are kept elsewhere: the path they get, and where they are.
    pub outside: &'a [(String, PathBuf)],
    /// `hermes 0.1.0`.
    pub made_by: &'a str,
    /// The name of this host.
    pub host: &'a str,
    /// Now.
    pub now: Timestamp,
    /// What tells two backups of one second apart: a random number.
    pub tag: u32,
}

/// What was made.
#[derive(Debug)]
pub struct Created {
    /// The archive, as the folder lists it.
    pub backup: Backup,
    /// What is in it.
    pub manifest: Manifest,
    /// What a killed run had left and was taken away.
    pub swept: Vec<PathBuf>,
    /// What the user should know: links that lead to folders, files that changed while they were read.
    pub remarks: Vec<String>,
    /// CPU seconds of the checks of databases, reported beside the rest.
    pub checking: std::time::Duration,
}

/// What would go in and what would stay out.
pub fn plan(request: &Request<'_>) -> Result<Contents> {
    contents::list(request.home, &request.scope, request.exclude, request.outside)
}

/// Makes the backup: copies databases, packs, encrypts, reads all of it back, then gives it its name.
///
/// A damaged database does not make it fail: its bytes are saved, and the name of the archive says so. When it
/// fails, nothing new is left in the folder but a line in its history.
pub fn create(request: &Request<'_>, tell: Tell<'_>) -> Result<Created> {
    request.home.sibling(None).must_exist()?;
    request.folder.make(request.home.root())?;
    let who = format!("{}, process {}, {}", request.made_by, std::process::id(), request.now);
    let held = request.folder.lock(&who)?;
    let created = make(request, &held, tell);
    if let Err(error) = &created {
        let event = event(request.now, Happened::CreateFailed, None, error.to_string());
        // Where even this cannot be written, the error itself says more.
        let _ = request.folder.note(&event);
    }
    created
}

fn make(request: &Request<'_>, held: &Held, tell: Tell<'_>) -> Result<Created> {
    let begun = Instant::now();
    let swept = request.folder.sweep(held)?;
    let contents = plan(request)?;
    let needed = bytes_needed(&contents);
    refuse_full(request.folder, needed)?;
    let made = write(request, contents, begun, tell);
    let mut created = made.map_err(|error| name_full_disk(error, request.folder, needed))?;
    created.swept = swept;
    Ok(created)
}

fn write(
    request: &Request<'_>,
    contents: Contents,
    begun: Instant,
    tell: Tell<'_>,
) -> Result<Created> {
    let folder = request.folder;
    let staging = make_staging(request.home)?;
    let mut staged = staging::stage(contents, staging.path(), &mut *tell)?;
    let name = name_of(request, &staged);
    let id = name.id();
    let partial = Partial::new(folder, &name)?;
    let manifest = first_manifest(request, &mut staged, id.clone(), begun)?;
    let work = Work { request, staging: staging.path(), partial: &partial };
    let packed = pack(&work, &mut staged, &manifest, &mut *tell)?;
    staging.close().map_err(|source| Error::file("remove", folder.path(), source))?;
    read_back(&partial, &packed, &mut *tell)?;
    let verified = later(request.now, begun);
    let sidecar = sidecar(request, &name, &packed, verified);
    partial.keep(&sidecar)?;
    let mut remarks = staged.remarks;
    remarks
        .extend(packed.changed.iter().map(|path| format!("{path} was changed while it was read")));
    let happened = if name.damaged { Happened::CreatedDamaged } else { Happened::Created };
    let label = request.label.clone().unwrap_or_default();
    if let Err(error) = folder.note(&event(verified, happened, Some(id), label)) {
        remarks.push(error.to_string());
    }
    Ok(Created {
        backup: folder.find(&name.to_string())?,
        manifest: packed.manifest,
        swept: Vec::new(),
        remarks,
        checking: staged.checking,
    })
}

fn event(at: Timestamp, what: Happened, id: Option<String>, detail: String) -> Event {
    Event { at, what, id, place: None, detail }
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

/// A folder of our own on the same disk: copies of databases are plain text and do not belong into /tmp.
/// Copies are staged inside the home, where their words are anyway: the folder of backups may be on another disk, or
/// in somebody's cloud.
fn make_staging(home: &Home) -> Result<TempDir> {
    let own = home.sibling(None).own();
    hermes_home::atomic::make_folder(&own)?;
    sweep_staging(&own)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGING);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o700));
    }
    builder.tempdir_in(&own).map_err(|source| Error::file("make a folder in", &own, source))
}

/// Takes away what a killed run left; whoever stages holds the lock.
fn sweep_staging(own: &Path) -> Result<()> {
    let failed = |source| Error::file("remove left-over files of", own, source);
    for entry in fs::read_dir(own).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_string_lossy().starts_with(STAGING) {
            fs::remove_dir_all(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}

/// Everything but the files, which are added while they are packed.
fn first_manifest(
    request: &Request<'_>,
    staged: &mut Staged,
    id: String,
    begun: Instant,
) -> Result<Manifest> {
    let what = request.scope.as_str();
    let before = request.folder.list()?.into_iter().find(|backup| backup.name.what == what);
    let previous = before.and_then(|backup| backup.sidecar);
    Ok(Manifest {
        format: manifest::FORMAT,
        made_by: request.made_by.to_owned(),
        id,
        what: what.to_owned(),
        host: request.host.to_owned(),
        label: request.label.clone(),
        started: request.now,
        finished: later(request.now, begun),
        files: Vec::new(),
        databases: std::mem::take(&mut staged.databases),
        left_out: std::mem::take(&mut staged.left_out),
        previous: previous.map(|sidecar| Previous { id: sidecar.id, sha256: sidecar.sha256 }),
    })
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
    let form = Form { compression: request.compression, sealing: request.sealing };
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
            staged.remarks.push(format!("{} was changed while it was read", source.file.path));
        }
    }
    Ok(())
}

/// An archive that has not got its name yet; it goes when this does.
struct Partial {
    path: PathBuf,
    named: PathBuf,
    file: File,
}

impl Partial {
    fn new(folder: &Folder, name: &ArchiveName) -> Result<Partial> {
        let named = folder.path().join(name.to_string());
        if named.exists() {
            let taken = io::Error::from(io::ErrorKind::AlreadyExists);
            return Err(Error::file("create", &named, taken));
        }
        let path = folder.path().join(format!("{name}{PARTIAL}"));
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

    /// Writes the sidecar, then gives the archive its name: what has its name is whole.
    fn keep(self, sidecar: &Sidecar) -> Result<()> {
        let beside = sidecar_path(&self.named);
        let text = serde_json::to_vec_pretty(sidecar).map_err(io::Error::from);
        let text = text.map_err(|source| Error::file("write", &beside, source))?;
        atomic::write_private(&beside, &text)?;
        let folder = self.named.parent().unwrap_or(Path::new("."));
        let renamed =
            fs::rename(&self.path, &self.named).and_then(|()| atomic::sync_folder(folder));
        renamed.map_err(|source| {
            let _ = fs::remove_file(&beside);
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
    let limits = archive::Limits { bytes: u64::MAX, members: u64::MAX };
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
            why: "what was read back is not what was written".to_owned(),
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

fn sidecar(
    request: &Request<'_>,
    name: &ArchiveName,
    packed: &Packed,
    verified: Timestamp,
) -> Sidecar {
    let files = packed.manifest.files.iter().filter(|file| file.kind != Kind::Folder);
    Sidecar {
        format: manifest::FORMAT,
        id: name.id(),
        archive: name.to_string(),
        sha256: packed.sha256.clone(),
        size: packed.size,
        made: request.now,
        home: request.folder.home().map(str::to_owned),
        made_by: request.made_by.to_owned(),
        compression: request.compression,
        encryption: name.format,
        encrypted_to: request.sealing.encrypted_to(),
        files: files.clone().count() as u64,
        databases: files.clone().filter(|file| file.kind == Kind::Database).count() as u64,
        bytes: files.map(|file| file.size).sum(),
        damaged: name.damaged,
        verified: Some(verified),
        open_with: open_with(name, request.sealing),
    }
}

/// The command that unpacks an archive into the user's folder without this program.
fn open_with(name: &ArchiveName, sealing: &Sealing) -> String {
    let flag = match name.compression {
        Compression::Zstd => "--zstd -x",
        Compression::Gzip => "-xz",
    };
    let unpack = format!("tar {flag} -C \"$HOME\"");
    match sealing {
        Sealing::Plain => format!("{unpack} -f {name}"),
        Sealing::Gpg(_) | Sealing::GpgPassphrase(_) => format!("gpg --decrypt {name} | {unpack}"),
        Sealing::Age(_) => format!("age --decrypt -i KEY {name} | {unpack}"),
        Sealing::AgePassphrase(_) => format!("age --decrypt {name} | {unpack}"),
    }
}

/// Copies of databases, and an archive in which they have half their size, as text in SQLite pages has.
fn bytes_needed(contents: &Contents) -> u64 {
    let all: u64 = contents.entries.iter().map(|entry| entry.size).sum();
    let copies = staging::bytes_of(contents);
    let archive = all.saturating_sub(copies) + copies / 2;
    // A fifth more, for what is written to the home meanwhile.
    (copies + archive) / 5 * 6
}

fn refuse_full(folder: &Folder, needed: u64) -> Result<()> {
    let free = free_bytes(folder.path())?;
    if free < needed {
        return Err(Error::NoSpace { folder: folder.path().to_owned(), needed, free });
    }
    Ok(())
}

fn free_bytes(folder: &Path) -> Result<u64> {
    let found = nix::sys::statvfs::statvfs(folder)
        .map_err(|code| Error::file("look at", folder, code.into()))?;
    Ok(found.blocks_available().saturating_mul(found.fragment_size()))
}

/// Says that the disk is full where that is why something could not be written.
fn name_full_disk(error: Error, folder: &Folder, needed: u64) -> Error {
    let Ok(free) = free_bytes(folder.path()) else { return error };
    let no_space = Error::NoSpace { folder: folder.path().to_owned(), needed, free };
    match &error {
        // SQLite has one word for a disk that is full and one that fails.
        Error::Store(hermes_store::Error::CopyUnwritten { .. }) if free < needed => no_space,
        _ if says_full(&error) => no_space,
        _ => error,
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
