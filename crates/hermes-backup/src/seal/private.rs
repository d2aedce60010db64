//! Private keys and the keys of single archives, as they are held in memory.

use std::fmt;
use std::io::Read;
use std::path::Path;

use pgp::composed::{PlainSessionKey, PublicOrSecret, SignedSecretKey};
use zeroize::Zeroizing;

use crate::{Error, Result};

/// One file of private keys, or the key of one archive alone.
#[derive(Clone)]
pub(super) enum Secret {
    /// OpenPGP private keys, as they were read.
    Pgp(Zeroizing<Vec<u8>>),
    /// age identities, or a file of them that a passphrase protects, as they were read.
    Age(Zeroizing<Vec<u8>>),
    /// What one OpenPGP archive is encrypted with.
    Session(PlainSessionKey),
    /// What one age archive is encrypted with.
    FileKey(Zeroizing<[u8; 16]>),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

/// Reads a file of private keys, and says so if it is none.
pub(super) fn read(path: &Path) -> Result<Secret> {
    let mut bytes = Zeroizing::new(Vec::new());
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST).read_to_end(&mut bytes))
        .map_err(|source| Error::file("read", path, source))?;
    let refused = |why: &str| Error::Setting {
        what: format!("private key {}", path.display()),
        why: why.to_owned(),
    };
    if is_age(&bytes) {
        return Ok(Secret::Age(bytes));
    }
    if bytes.trim_ascii_start().starts_with(b"age1") {
        return Err(refused("it is a public key; the private one is needed"));
    }
    match pgp_keys(&bytes) {
        Ok(keys) if !keys.is_empty() => Ok(Secret::Pgp(bytes)),
        Ok(_) => Err(refused("it is a public key; the private one is needed")),
        Err(_) => Err(refused("it is neither an OpenPGP private key nor an age identity")),
    }
}

/// Far more than any file of keys.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Whether these are age identities, in the open or protected by a passphrase.
pub(super) fn is_age(bytes: &[u8]) -> bool {
    is_sealed_age(bytes)
        || bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"AGE-SECRET-KEY-1"))
}

/// Whether these are age identities that a passphrase protects.
pub(super) fn is_sealed_age(bytes: &[u8]) -> bool {
    super::Kind::of(bytes) == super::Kind::Age
}

/// The OpenPGP private keys in a file, armoured or not; an error where no key at all is in it.
pub(super) fn pgp_keys(bytes: &[u8]) -> pgp::errors::Result<Vec<SignedSecretKey>> {
    let (found, _) = PublicOrSecret::from_reader_many(bytes)?;
    let mut keys = Vec::new();
    let mut any = false;
    for key in found {
        let key = key?;
        any = true;
        if let PublicOrSecret::Secret(key) = key {
            keys.push(key);
        }
    }
    if any { Ok(keys) } else { Err("it contains no key".to_owned().into()) }
}
