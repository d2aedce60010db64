//! Writes one profile into an archive that is carried elsewhere.

use std::path::{Path, PathBuf};

use crate::build::{self, Built, Known};
use crate::contents::SECRET;
use crate::create;
use crate::manifest::{Manifest, Sidecar};
use crate::request::Request;
use crate::{Error, Result, Tell, held, restore};

/// What was written.
#[derive(Debug)]
pub struct Exported {
    /// The archive.
    pub path: PathBuf,
    /// What is known of it; beside it unless it is a single file.
    pub sidecar: Sidecar,
    /// What is in it.
    pub manifest: Manifest,
    /// Secrets that were left out.
    pub secrets_left_out: Vec<String>,
    /// What the user should know.
    pub remarks: Vec<String>,
}

/// Packs, encrypts and reads back, then gives the archive its name: `file`, or one of our own in the folder of the
/// request, with its sidecar.
///
/// The folder is no folder of backups: nothing is noted, locked or swept there.
pub fn export(request: &Request<'_>, file: Option<&Path>, tell: Tell<'_>) -> Result<Exported> {
    request.home.sibling(None).must_exist()?;
    must_be_outside(request)?;
    let _in_place = held::keep_in_place(request.home)?;
    restore::must_not_be_cut_off(request.home)?;
    let built = build::build(request, Known { previous: None, file }, tell)?;
    let mut sidecar = create::sidecar(request, &built);
    let Built { name, packed, partial, remarks, .. } = built;
    let path = partial.keep(file.is_none().then_some(&sidecar))?;
    let shown = path.file_name().unwrap_or_default().display().to_string();
    sidecar.open_with = create::open_with(&shown, name.compression, request.sealing);
    let secrets = packed.manifest.left_out.iter().filter(|left| left.why == SECRET);
    let secrets_left_out = secrets.map(|left| left.path.clone()).collect();
    Ok(Exported { path, sidecar, manifest: packed.manifest, secrets_left_out, remarks })
}

/// What is in the home would be in the next backup of it, and lost with it.
fn must_be_outside(request: &Request<'_>) -> Result<()> {
    let folder = request.folder.path();
    let real = folder.canonicalize().map_err(|error| Error::file("access", folder, error))?;
    let root = request.home.root();
    let root = root.canonicalize().map_err(|error| Error::file("access", root, error))?;
    if real.starts_with(root) {
        return Err(Error::Setting {
            what: folder.display().to_string(),
            why: "it is inside the home; write an export outside the home".to_owned(),
        });
    }
    Ok(())
}
