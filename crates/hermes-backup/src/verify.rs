//! Is an archive still what it was?

use jiff::Timestamp;

use crate::archive;
use crate::folder::{Backup, Event, Folder, Happened};
use crate::name::Format;
use crate::restore::unpack;
use crate::seal::Keys;
use crate::sign::{self, Signed, Signers, Trust};
use crate::{Error, Progress, Result, Tell, hash};

/// What a check looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// Everything: the archive was decrypted and every member compared.
    Members {
        /// How many.
        files: u64,
        /// Who signed the list inside.
        signed: Signed,
    },
    /// The hash of the encrypted archive alone, for want of a key.
    HashOnly,
}

/// Checks an archive against its sidecar and, if the keys open it, every member against the manifest; writes
/// what came out into the history.
pub fn verify(
    folder: &Folder,
    backup: &Backup,
    keys: &Keys,
    now: Timestamp,
    tell: Tell<'_>,
) -> Result<Verified> {
    let looked = check(backup, keys, folder.signers(), now, tell);
    let (what, detail) = match &looked {
        Ok(Verified::Members { files, .. }) => (Happened::Verified, format!("{files} files")),
        Ok(Verified::HashOnly) => (Happened::HashVerified, String::new()),
        Err(error @ (Error::Tampered { .. } | Error::Ahead { .. } | Error::NotArchive { .. })) => {
            (Happened::VerifyFailed, error.to_string())
        }
        // A wrong key, a disk that cannot be read: nothing was learned about the archive.
        Err(_) => return looked,
    };
    let id = Some(backup.name.id());
    folder.note(&Event { at: now, what, id, place: None, detail })?;
    looked
}

/// The same for an archive that is in no folder of this home: nothing is written down.
pub fn check(
    backup: &Backup,
    keys: &Keys,
    signers: &Signers,
    now: Timestamp,
    tell: Tell<'_>,
) -> Result<Verified> {
    sign::must_be_past(&backup.path, backup.made(), now)?;
    let trust = Trust::Anybody;
    trust.must_take(&backup.path, std::slice::from_ref(&backup.signed))?;
    let is_readable = backup.name.format == Format::Plain || !keys.is_empty();
    match &backup.sidecar {
        Some(sidecar) => hash::must_be(&backup.path, &sidecar.sha256, tell)?,
        None if !is_readable => {
            return Err(Error::NoKey {
                what: backup.path.display().to_string(),
                to: "an unknown key (the .json file beside it is missing)".to_owned(),
            });
        }
        None => {}
    }
    if !is_readable {
        return Ok(Verified::HashOnly);
    }
    let (mut files, mut done) = (0, 0);
    let limits = unpack::limits(&backup.path)?;
    let manifest = archive::read(&backup.path, keys, limits, &mut |member| {
        files += u64::from(!member.folder);
        done += member.size;
        tell(Progress { doing: "comparing members", done, of: 0 });
        Ok(())
    })?;
    unpack::must_be_named(&backup.path, &manifest)?;
    let signed = signers.look(manifest.signed.as_ref(), &sign::inside(&manifest)?);
    trust.must_take(&backup.path, std::slice::from_ref(&signed))?;
    Ok(Verified::Members { files, signed })
}
