//! Encrypting an archive, to public keys or to a passphrase, so that stock gpg and age open it.

pub mod keyring;

use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::Result;
use crate::name::Format;

/// A passphrase; never shown, wiped when it goes.
#[derive(Clone)]
pub struct Passphrase(Zeroizing<String>);

impl Passphrase {
    /// Takes a passphrase as it was read.
    pub fn new(text: String) -> Passphrase {
        Passphrase(Zeroizing::new(text))
    }

    /// Reads the first line of a file that only its owner may read.
    pub fn from_file(path: &Path) -> Result<Passphrase> {
        let _ = path;
        unimplemented!()
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(hidden)")
    }
}

/// How an archive is encrypted.
#[derive(Debug, Clone)]
pub enum Sealing {
    /// Not at all: only when the user said so.
    Plain,
    /// To OpenPGP public keys (checked: each can encrypt now), one certificate each.
    Gpg(Vec<keyring::PublicKey>),
    /// OpenPGP, AES-256 with a passphrase.
    GpgPassphrase(Passphrase),
    /// To age recipients.
    Age(Vec<keyring::PublicKey>),
    /// age with a passphrase.
    AgePassphrase(Passphrase),
}

impl Sealing {
    /// The ending of the archive.
    pub fn format(&self) -> Format {
        match self {
            Sealing::Plain => Format::Plain,
            Sealing::Gpg(_) | Sealing::GpgPassphrase(_) => Format::Gpg,
            Sealing::Age(_) | Sealing::AgePassphrase(_) => Format::Age,
        }
    }

    /// For whom: fingerprints, recipients, `passphrase`; empty for plain text.
    pub fn encrypted_to(&self) -> Vec<String> {
        match self {
            Sealing::Plain => Vec::new(),
            Sealing::Gpg(keys) | Sealing::Age(keys) => {
                keys.iter().map(|key| key.id.clone()).collect()
            }
            Sealing::GpgPassphrase(_) | Sealing::AgePassphrase(_) => vec!["passphrase".to_owned()],
        }
    }
}

/// What may open an archive. Kept in memory alone; wiped when it goes.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// Private keys: OpenPGP (armoured or binary) or age identities.
    pub(crate) secret: Vec<Secret>,
    /// The passphrase of the archive, or of a private key that is protected by one.
    pub(crate) passphrase: Option<Passphrase>,
}

/// One private key, or the key of one archive alone.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) Zeroizing<Vec<u8>>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Keys {
    /// Reads private keys from files, with the passphrase that protects them or the archive.
    pub fn read(identities: &[PathBuf], passphrase: Option<Passphrase>) -> Result<Keys> {
        let _ = (identities, passphrase);
        unimplemented!()
    }

    /// Whether nothing is there to open an archive with.
    pub fn is_empty(&self) -> bool {
        self.secret.is_empty() && self.passphrase.is_none()
    }
}

/// Encrypts a stream; returns what opens exactly this archive, for reading it back.
pub fn seal(sealing: &Sealing, plain: impl Read + Send, out: impl Write) -> Result<Keys> {
    let _ = (sealing, plain, out);
    unimplemented!()
}

/// Opens an encrypted archive, whose kind is told by its first bytes; a plain one is handed through.
///
/// The reader fails at the end if the archive was changed or cut short: what it gave before that must not be
/// used until it ended well.
pub fn open(path: &Path, keys: &Keys) -> Result<Box<dyn Read>> {
    let _ = (path, keys);
    unimplemented!()
}
