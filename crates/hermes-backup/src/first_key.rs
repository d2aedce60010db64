//! The first key that a home signs its backups with: those that it made before are signed too, once.

use hermes_home::{Home, atomic};

use crate::folder::{Folder, Happened, sidecar_path};
use crate::manifest::Previous;
use crate::sign::{self, Signers};
use crate::{Error, Result, Tell, hash};

impl Signers {
    /// The keys of a home, with a new one if it has none; then the archives in a folder that its own history tells of
    /// and that are what their sidecars say are signed, once.
    pub fn begin(
        home: &Home,
        folder: &Folder,
        random: [u8; 32],
        tell: Tell<'_>,
    ) -> Result<Signers> {
        let mut signers = Signers::read(home)?;
        if signers.fingerprint().is_some() {
            return Ok(signers);
        }
        let is_first = !signers.is_any();
        signers.make_own(home, random)?;
        if is_first {
            let newest = sign_earlier(&signers, folder, tell)?;
            signers.set_last(newest, folder.path());
        }
        signers.write()?;
        Ok(signers)
    }
}

/// Signs the archives that a home made before it had a key; returns the newest.
fn sign_earlier(signers: &Signers, folder: &Folder, tell: Tell<'_>) -> Result<Option<Previous>> {
    let history = folder.history()?;
    let is_made = |id: &str| {
        let made = [Happened::Created, Happened::CreatedDamaged];
        history.iter().any(|one| made.contains(&one.what) && one.id.as_deref() == Some(id))
    };
    let mut newest = None;
    for backup in folder.list()? {
        let Some(mut sidecar) = backup.sidecar.filter(|one| one.signed.is_none()) else {
            continue;
        };
        if !is_made(&sidecar.id) || hash::must_be(&backup.path, &sidecar.sha256, tell).is_err() {
            continue;
        }
        if newest.is_none() {
            newest = Some(Previous { id: sidecar.id.clone(), sha256: sidecar.sha256.clone() });
        }
        sidecar.signed = signers.sign(&sign::beside(&sidecar));
        let path = sidecar_path(&backup.path);
        let text = serde_json::to_vec_pretty(&sidecar)
            .map_err(|error| Error::file("write to", &path, error.into()))?;
        atomic::write_private(&path, &text)?;
    }
    Ok(newest)
}
