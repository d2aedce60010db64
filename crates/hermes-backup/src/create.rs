//! Makes one backup while everything runs.

use std::path::PathBuf;

use hermes_home::lock::Held;
use jiff::Timestamp;

use crate::build::{self, Built, Known};
use crate::error::quoted;
use crate::folder::{Backup, Event, Happened};
use crate::manifest::{self, Kind, Manifest, Previous, Sidecar};
use crate::name::Compression;
use crate::seal::Sealing;
use crate::sign::{self, Signed};
use crate::{Result, Tell, held, restore};

pub use crate::request::{Request, plan};

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

/// Makes the backup: copies databases, packs, encrypts, reads all of it back, then gives it its name.
///
/// A damaged database does not make it fail: its bytes are saved, and the name of the archive says so. When it
/// fails, nothing new is left in the folder but a line in its history.
pub fn create(request: &Request<'_>, tell: Tell<'_>) -> Result<Created> {
    request.home.sibling(None).must_exist()?;
    request.folder.make(request.home.root())?;
    let who = format!("{}, process {}, {}", request.made_by, std::process::id(), request.now);
    let held = request.folder.lock(&who)?;
    let _in_place = held::keep_in_place(request.home)?;
    restore::must_not_be_cut_off(request.home)?;
    let created = make(request, &held, tell);
    if let Err(error) = &created {
        let event = event(request.now, Happened::CreateFailed, None, error.to_string());
        // Where even this cannot be written, the error itself says more.
        let _ = request.folder.note(&event);
    }
    created
}

fn make(request: &Request<'_>, held: &Held, tell: Tell<'_>) -> Result<Created> {
    let folder = request.folder;
    let swept = folder.sweep(held)?;
    let known = Known { previous: previous(request)?, file: None };
    let built = build::build(request, known, tell)?;
    let mut sidecar = sidecar(request, &built);
    sidecar.signed = folder.signers().sign(&sign::beside(&sidecar));
    let last = Previous { id: sidecar.id.clone(), sha256: sidecar.sha256.clone() };
    let Built { name, packed, partial, verified, mut remarks, checking } = built;
    partial.keep(Some(&sidecar))?;
    if let Err(error) = folder.signers().note_last(Some(last), folder.path()) {
        remarks.push(error.to_string());
    }
    let happened = if name.damaged { Happened::CreatedDamaged } else { Happened::Created };
    let label = request.label.clone().unwrap_or_default();
    if let Err(error) = folder.note(&event(verified, happened, Some(name.id()), label)) {
        remarks.push(error.to_string());
    }
    let backup = folder.find(&name.to_string())?;
    Ok(Created { backup, manifest: packed.manifest, swept, remarks, checking })
}

/// The newest archive of the same part of the home.
fn previous(request: &Request<'_>) -> Result<Option<Previous>> {
    let what = request.scope.as_str();
    let is_ours = |backup: &Backup| match request.folder.signers().is_any() {
        true => backup.signed == Signed::Ours,
        false => true,
    };
    let mut all = request.folder.list()?.into_iter();
    let before = all.find(|backup| backup.name.what == what && is_ours(backup));
    let sidecar = before.and_then(|backup| backup.sidecar);
    Ok(sidecar.map(|sidecar| Previous { id: sidecar.id, sha256: sidecar.sha256 }))
}

fn event(at: Timestamp, what: Happened, id: Option<String>, detail: String) -> Event {
    Event { at, what, id, place: None, detail }
}

/// What stands beside an archive.
pub(crate) fn sidecar(request: &Request<'_>, built: &Built) -> Sidecar {
    let Built { name, packed, verified, .. } = built;
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
        verified: Some(*verified),
        links_left_out: packed.manifest.links_left_out().count() as u64,
        previous: packed.manifest.previous.clone(),
        signed: None,
        open_with: open_with(&name.to_string(), name.compression, request.sealing),
    }
}

/// The command that unpacks an archive without this program: into a new folder, never over a home.
pub(crate) fn open_with(name: &str, compression: Compression, sealing: &Sealing) -> String {
    let flag = match compression {
        Compression::Zstd => "--zstd -x",
        Compression::Gzip => "-xz",
    };
    let unpack = format!("tar {flag} -C restored");
    let name = quoted(name);
    let open = match sealing {
        Sealing::Plain => format!("{unpack} -f {name}"),
        Sealing::Gpg(_) | Sealing::GpgPassphrase(_) => format!("gpg --decrypt {name} | {unpack}"),
        Sealing::Age(_) => format!("age --decrypt -i KEY {name} | {unpack}"),
        Sealing::AgePassphrase(_) => format!("age --decrypt {name} | {unpack}"),
    };
    format!("mkdir -p restored && {open}")
}
