//! The public keys that backups are encrypted to, kept in the home; private keys never are.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::atomic;
use jiff::Timestamp;

pub use super::generate::{NewKey, generate};
pub use super::kit::{Kit, kit};

use super::certificate::Certificate;
use super::{Sealing, private};
use crate::name::Format;
use crate::{Error, Result};

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
    let key = read(bytes, Some(now))?;
    atomic::make_folder(folder)?;
    atomic::write_private(&file_of(folder, &key), &key.bytes)?;
    Ok(key)
}

/// Every key that is kept in `folder`, sorted by id.
pub fn list(folder: &Path) -> Result<Vec<PublicKey>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(Error::file("read", folder, source)),
    };
    let mut keys = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| Error::file("read", folder, source))?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if matches!(ending, Some("asc" | "age")) {
            keys.push(kept(&path)?);
        }
    }
    keys.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(keys)
}

/// Takes a key away.
pub fn remove(folder: &Path, id: &str) -> Result<PublicKey> {
    let key = find(&list(folder)?, id, folder)?;
    let path = file_of(folder, &key);
    fs::remove_file(&path).map_err(|source| Error::file("remove", &path, source))?;
    Ok(key)
}

/// The encryption to these recipients (fingerprints or their ends, key ids, `age1…`), each of which can encrypt now.
pub fn sealing_to(folder: &Path, recipients: &[String], now: Timestamp) -> Result<Sealing> {
    let kept = list(folder)?;
    let mut keys: Vec<PublicKey> = Vec::new();
    for recipient in recipients {
        let key = match age_recipient(recipient.trim()) {
            Some(key) => key,
            None => usable(&find(&kept, recipient, folder)?, now)?,
        };
        if !keys.iter().any(|one| one.id == key.id) {
            keys.push(key);
        }
    }
    match keys.first().map(|key| key.format) {
        None => Err(Error::NotEncrypted),
        Some(format) if keys.iter().any(|key| key.format != format) => Err(Error::CannotEncrypt {
            why: "one archive cannot be encrypted both to OpenPGP keys and to age recipients"
                .to_owned(),
            hint: None,
        }),
        Some(Format::Age) => Ok(Sealing::Age(keys)),
        Some(_) => Ok(Sealing::Gpg(keys)),
    }
}

/// A key of which only those parts are left that can encrypt now.
fn usable(key: &PublicKey, now: Timestamp) -> Result<PublicKey> {
    if key.format == Format::Age {
        return Ok(key.clone());
    }
    let certificate = Certificate::parse(&key.bytes)?.pruned(now)?;
    let expires = certificate.encrypting(Some(now))?.expires;
    Ok(PublicKey { expires, bytes: certificate.armoured()?, ..key.clone() })
}

/// Reads a public key of either form; with a time it must be able to encrypt then.
fn read(bytes: &[u8], now: Option<Timestamp>) -> Result<PublicKey> {
    if private::is_age(bytes) {
        return Err(Error::CannotEncrypt {
            why: "this is an age identity, a private key, which must not be stored on this machine"
                .to_owned(),
            hint: Some("import its public key, which `age-keygen -y FILE` prints".to_owned()),
        });
    }
    if bytes.trim_ascii_start().starts_with(b"-----BEGIN PGP") || bytes.first() >= Some(&0x80) {
        return read_certificate(bytes, now);
    }
    age_line(bytes).ok_or_else(|| Error::CannotEncrypt {
        why: "this is neither an OpenPGP public key nor an age recipient".to_owned(),
        hint: Some("create one with `hermes backup key generate`".to_owned()),
    })
}

fn read_certificate(bytes: &[u8], now: Option<Timestamp>) -> Result<PublicKey> {
    let certificate = Certificate::parse(bytes)?;
    let expires = match now {
        Some(_) => certificate.encrypting(now)?.expires,
        // one that is revoked by now is listed all the same
        None => certificate.encrypting(None).ok().and_then(|found| found.expires),
    };
    Ok(PublicKey {
        id: certificate.fingerprint(),
        format: Format::Gpg,
        user: certificate.user(),
        expires,
        bytes: certificate.armoured()?,
    })
}

/// The one recipient in a text, which may have comments as age-keygen writes them.
fn age_line(bytes: &[u8]) -> Option<PublicKey> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let key = age_recipient(lines.next()?)?;
    lines.next().is_none().then_some(key)
}

fn age_recipient(text: &str) -> Option<PublicKey> {
    let id = text.parse::<age::x25519::Recipient>().ok()?.to_string();
    let bytes = format!("{id}\n").into_bytes();
    Some(PublicKey { id, format: Format::Age, user: String::new(), expires: None, bytes })
}

/// Reads a key that is kept, and makes sure that the file is named after it.
fn kept(path: &Path) -> Result<PublicKey> {
    let bytes = fs::read(path).map_err(|source| Error::file("read", path, source))?;
    let damaged = |why: String| Error::CannotEncrypt {
        why: format!("key file {}: {why}", path.display()),
        hint: Some("import the public key again with `hermes backup key import`".to_owned()),
    };
    let key = read(&bytes, None).map_err(|error| damaged(error.to_string()))?;
    if path.file_stem().is_some_and(|name| name == key.id.as_str()) {
        Ok(key)
    } else {
        Err(damaged(format!("it contains key {}", key.id)))
    }
}

fn file_of(folder: &Path, key: &PublicKey) -> PathBuf {
    let ending = if key.format == Format::Age { "age" } else { "asc" };
    folder.join(format!("{}.{ending}", key.id))
}

/// The one key that is meant by a fingerprint, its end or a recipient.
fn find(keys: &[PublicKey], wanted: &str, folder: &Path) -> Result<PublicKey> {
    let plain = wanted.replace(' ', "").to_uppercase();
    let plain = plain.strip_prefix("0X").unwrap_or(&plain);
    let mut fitting = keys.iter().filter(|key| match key.format {
        Format::Age => key.id.to_uppercase() == plain,
        _ => plain.len() >= SHORTEST_ID && key.id.ends_with(plain),
    });
    let why = match (fitting.next(), fitting.next()) {
        (Some(key), None) => return Ok(key.clone()),
        (Some(_), Some(_)) => "several keys end with that".to_owned(),
        (None, _) => format!("{} has no such key", folder.display()),
    };
    Err(Error::Setting { what: format!("key {wanted}"), why })
}

/// The fewest digits of a fingerprint that name a key.
const SHORTEST_ID: usize = 8;
