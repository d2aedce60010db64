//! Restores into a scratch folder and checks that everything opens.

mod checks;
mod receipts;

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use hermes_home::Home;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::folder::{Backup, Folder};
use crate::held::Scratch;
use crate::restore::unpack;
use crate::seal::Keys;
use crate::{Error, Result, Tell, hash};

pub use receipts::{import_receipt, receipts};

/// What a drill found; kept as JSON and as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The form of this list.
    pub format: u32,
    /// The backup.
    pub id: String,
    /// The SHA-256 of the archive.
    pub sha256: String,
    /// When.
    pub at: Timestamp,
    /// On which host.
    pub host: String,
    /// Whether all checks went well.
    pub passed: bool,
    /// Each check.
    pub checks: Vec<Check>,
}

/// One check of a drill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// Whether it went well.
    pub passed: bool,
    /// What was seen.
    pub seen: String,
}

/// What is to be drilled.
#[derive(Debug)]
pub struct Request<'a> {
    /// The folder of backups.
    pub folder: &'a Folder,
    /// One of them.
    pub backup: &'a Backup,
    /// What may open it.
    pub keys: &'a Keys,
    /// The name of this host.
    pub host: &'a str,
    /// Now.
    pub now: Timestamp,
    /// The home of this machine, if it has one: what is unpacked is as private as it is.
    pub home: Option<&'a Home>,
    /// The folder for what is temporary.
    pub temporary: &'a Path,
}

impl Receipt {
    /// The receipt as a person reads it.
    pub fn text(&self) -> String {
        receipts::text(self)
    }
}

/// The newest form of a receipt.
const FORMAT: u32 = 1;

/// Restores the backup into a scratch folder, checks hashes, databases, full-text indexes, counts, the persona and
/// three searches, writes a receipt and takes the scratch folder away.
///
/// A failed check is in the receipt, not an error; the path is that of the receipt as JSON, with the text beside it.
/// Holds the lock of the folder, so that nobody deletes the archive meanwhile.
pub fn drill(request: &Request<'_>, tell: Tell<'_>) -> Result<(Receipt, PathBuf)> {
    let Request { folder, backup, host, now, .. } = *request;
    let held = folder.lock(&format!("drill, process {}, {now}", std::process::id()))?;
    // What a killed drill left is a home in plain text.
    folder.sweep(&held)?;
    let scratch = scratch(request)?;
    let sha256 = hash::of_file_told(&backup.path, tell)?;
    let unpacked = scratch.path().join("home");
    unpack::make_folder(&unpacked)?;
    let drilled = checks::Drilled { request, sha256: &sha256, scratch: &unpacked };
    let checks = checks::every(&drilled, tell)?;
    let passed = checks.iter().all(|check| check.passed);
    let id = backup.name.id();
    let receipt =
        Receipt { format: FORMAT, id, sha256, at: now, host: host.to_owned(), passed, checks };
    let path = receipts::keep(folder, &receipt)?;
    receipts::note(folder, &receipt)?;
    scratch.close()?;
    Ok((receipt, path))
}

/// Where the backup is unpacked in plain text: in the home, whose words they are; without one beside the archive,
/// if that is a private folder on a disk of this machine; else in a private folder for what is temporary.
fn scratch(request: &Request<'_>) -> Result<Scratch> {
    if let Some(home) = request.home.filter(|home| home.root().is_dir()) {
        return Scratch::in_home(home);
    }
    let beside = request.folder.path();
    if is_private(beside) && is_local(beside) {
        return Scratch::within(beside);
    }
    let own = request.temporary.join(format!("hermes-drills-{}", nix::unistd::geteuid()));
    make_private(&own)?;
    Scratch::within(&own)
}

/// Makes a folder for this user alone, where others can make folders too.
fn make_private(folder: &Path) -> Result<()> {
    let failed = |error| Error::file("make", folder, error);
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made.map_err(failed)?,
    }
    if is_private(folder) {
        return Ok(());
    }
    Err(failed(io::Error::other("another user owns it or can read it")))
}

fn is_private(folder: &Path) -> bool {
    let own = nix::unistd::geteuid().as_raw();
    folder
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == own && found.mode() & 0o077 == 0)
}

/// Whether a folder is on a disk of this machine, as far as the system tells.
fn is_local(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::statfs;
        // Those the library has no name for: CIFS, SMB 2, Ceph, 9p.
        const OTHERS: [u64; 4] = [0xff53_4d42, 0xfe53_4d42, 0x00c3_6400, 0x0102_1997];
        let Ok(found) = statfs::statfs(folder) else { return false };
        let kind = found.filesystem_type();
        let far = [statfs::NFS_SUPER_MAGIC, statfs::SMB_SUPER_MAGIC, statfs::FUSE_SUPER_MAGIC];
        !far.contains(&kind) && !OTHERS.contains(&(kind.0 as u64 & 0xffff_ffff))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        false
    }
}
