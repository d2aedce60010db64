//! The public keys that backups are encrypted to, kept in the home; private keys never are.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::Result;
use crate::name::Format;
use crate::seal::{Passphrase, Sealing};

/// A public key that backups can be encrypted to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PublicKey {
    /// The fingerprint in upper case, or the age recipient.
    pub id: String,
    /// OpenPGP or age.
    pub format: Format,
    /// Whose it is, as the key says; empty for age.
    pub user: String,
    /// When it stops being usable.
    pub expires: Option<Timestamp>,
    /// The key itself as it is kept.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

/// Takes in a public key (armoured or binary OpenPGP, or an age recipient) and keeps it in `folder`.
///
/// Refuses private keys, and keys that cannot encrypt, with the command that makes one that can.
pub fn import(folder: &Path, bytes: &[u8], now: Timestamp) -> Result<PublicKey> {
    let _ = (folder, bytes, now);
    unimplemented!()
}

/// Every key that is kept in `folder`, sorted by id.
pub fn list(folder: &Path) -> Result<Vec<PublicKey>> {
    let _ = folder;
    unimplemented!()
}

/// Takes a key away.
pub fn remove(folder: &Path, id: &str) -> Result<PublicKey> {
    let _ = (folder, id);
    unimplemented!()
}

/// What a new pair of keys is made for.
#[derive(Debug, Clone)]
pub struct NewKey<'a> {
    /// OpenPGP or age.
    pub format: Format,
    /// Whose it is: `Mira <mira@example.org>`.
    pub user: &'a str,
    /// Where the private key is written (0600); never below the home, never over a file.
    pub private: &'a Path,
    /// What protects the private key.
    pub passphrase: Option<&'a Passphrase>,
}

/// Makes a pair of keys: the private one goes where the user said, the public one into `folder`.
pub fn generate(folder: &Path, new: &NewKey<'_>, now: Timestamp) -> Result<PublicKey> {
    let _ = (folder, new, now);
    unimplemented!()
}

/// Everything a person needs on paper to open the backups one day: which keys, where they are, which commands.
pub fn kit(keys: &[PublicKey], private: Option<&[u8]>, backups: &Path, now: Timestamp) -> String {
    let _ = (keys, private, backups, now);
    unimplemented!()
}

/// The encryption to these recipients (fingerprints or their ends, key ids, `age1…`), each of which can encrypt now.
pub fn sealing_to(folder: &Path, recipients: &[String], now: Timestamp) -> Result<Sealing> {
    let _ = (folder, recipients, now, PathBuf::new());
    unimplemented!()
}
