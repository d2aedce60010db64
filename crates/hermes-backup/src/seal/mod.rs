//! Encrypting an archive, to public keys or to a passphrase, so that stock gpg and age open it.

mod agefile;
mod certificate;
mod generate;
pub mod keyring;
mod kit;
mod openpgp;
mod private;
mod session;
mod whole;

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::name::Format;
use crate::{Error, Result};
use private::Secret;

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
        let refused = |why: &str, hint: Option<String>| Error::CannotEncrypt {
            why: format!("passphrase file {} {why}", path.display()),
            hint,
        };
        let file = File::open(path).map_err(|source| Error::file("read", path, source))?;
        let found = file.metadata().map_err(|source| Error::file("read", path, source))?;
        if found.is_file() && found.permissions().mode() & 0o077 != 0 {
            let hint = format!("`chmod 600 {}`", kit::quoted(&path.to_string_lossy()));
            return Err(refused("is readable by other users", Some(hint)));
        }
        let mut line = Zeroizing::new(String::new());
        BufReader::new(file.take(LONGEST_PASSPHRASE))
            .read_line(&mut line)
            .map_err(|source| Error::file("read", path, source))?;
        let text = line.trim_end_matches(['\n', '\r']);
        if text.is_empty() {
            return Err(refused("begins with an empty line", None));
        }
        Ok(Passphrase::new(text.to_owned()))
    }

    fn text(&self) -> &str {
        &self.0
    }
}

/// More than anybody types, less than a disk given by mistake.
const LONGEST_PASSPHRASE: u64 = 64 * 1024;

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
    /// Private keys, and the keys of single archives.
    secret: Vec<Secret>,
    /// The passphrase of the archive, or of a private key that is protected by one.
    passphrase: Option<Passphrase>,
}

impl Keys {
    /// Reads private keys from files, with the passphrase that protects them or the archive.
    pub fn read(identities: &[PathBuf], passphrase: Option<Passphrase>) -> Result<Keys> {
        let secret = identities.iter().map(|path| private::read(path)).collect::<Result<_>>()?;
        Ok(Keys { secret, passphrase })
    }

    /// Whether nothing is there to open an archive with.
    pub fn is_empty(&self) -> bool {
        self.secret.is_empty() && self.passphrase.is_none()
    }

    fn of_one_archive(secret: Secret) -> Keys {
        Keys { secret: vec![secret], passphrase: None }
    }

    fn of_passphrase(passphrase: &Passphrase) -> Keys {
        Keys { secret: Vec::new(), passphrase: Some(passphrase.clone()) }
    }
}

/// Encrypts a stream; returns what opens exactly this archive, for reading it back.
pub fn seal(sealing: &Sealing, plain: impl Read + Send, out: impl Write) -> Result<Keys> {
    let mut out = io::BufWriter::with_capacity(BUFFER, out);
    let keys = match sealing {
        Sealing::Plain => {
            io::copy(&mut BufReader::with_capacity(BUFFER, plain), &mut out)
                .map_err(|why| cannot_encrypt(&why))?;
            Keys::default()
        }
        Sealing::Gpg(recipients) => openpgp::seal_to(recipients, plain, &mut out)?,
        Sealing::GpgPassphrase(word) => openpgp::seal_with(word, plain, &mut out)?,
        Sealing::Age(recipients) => agefile::seal_to(recipients, plain, &mut out)?,
        Sealing::AgePassphrase(word) => agefile::seal_with(word, plain, &mut out)?,
    };
    out.flush().map_err(|why| cannot_encrypt(&why))?;
    Ok(keys)
}

/// Opens an encrypted archive, whose kind is told by its first bytes; a plain one is handed through.
///
/// The reader fails at the end if the archive was changed or cut short: what it gave before that must not be
/// used until it ended well.
pub fn open(path: &Path, keys: &Keys) -> Result<Box<dyn Read>> {
    let what = path.display().to_string();
    let mut file = File::open(path).map_err(|source| Error::file("read", path, source))?;
    let mut head = Vec::with_capacity(BUFFER);
    (&mut file)
        .take(BUFFER as u64)
        .read_to_end(&mut head)
        .map_err(|source| Error::file("read", path, source))?;
    let kind = Kind::of(&head);
    let begin = head.clone();
    let source: Source = BufReader::with_capacity(BUFFER, Cursor::new(head).chain(file));
    match kind {
        Kind::Pgp { armoured } => openpgp::open(source, armoured, &begin, &what, keys),
        Kind::Age => agefile::open(source, &what, keys),
        Kind::Plain if named_as_encrypted(path) => Err(Error::Tampered {
            what,
            why: "its name says that it is encrypted, but its content is not".to_owned(),
        }),
        Kind::Plain => Ok(Box::new(source)),
    }
}

/// An archive that is being read, its first bytes included.
type Source = BufReader<Chain<Cursor<Vec<u8>>, File>>;

/// How much is read and written at a time.
const BUFFER: usize = 64 * 1024;

/// What the first bytes of a file say.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Pgp { armoured: bool },
    Age,
    Plain,
}

impl Kind {
    fn of(head: &[u8]) -> Kind {
        let text = head.trim_ascii_start();
        if text.starts_with(b"-----BEGIN PGP MESSAGE-----") {
            Kind::Pgp { armoured: true }
        } else if head.starts_with(b"age-encryption.org/")
            || text.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----")
        {
            Kind::Age
        } else if head.first().is_some_and(|first| begins_encrypted_message(*first)) {
            Kind::Pgp { armoured: false }
        } else {
            Kind::Plain
        }
    }
}

/// Whether the first byte of a file is the header of an OpenPGP packet that stands before or around
/// encrypted data; no compression, zip or tar begins with such a byte.
fn begins_encrypted_message(first: u8) -> bool {
    let tag = match first {
        0xC0..=0xFF => first & 0x3F,
        0x80..=0xBF => (first & 0x3C) >> 2,
        _ => return false,
    };
    // session keys (1, 3), encrypted data (9, 18, 20), marker (10), padding (21)
    matches!(tag, 1 | 3 | 9 | 10 | 18 | 20 | 21)
}

fn named_as_encrypted(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ["gpg", "pgp", "asc", "age"].iter().any(|e| ending == *e))
}

fn cannot_encrypt(why: &dyn fmt::Display) -> Error {
    Error::CannotEncrypt { why: why.to_string(), hint: None }
}

fn tampered(what: &str, why: impl fmt::Display) -> Error {
    Error::Tampered {
        what: what.to_owned(),
        why: format!("it is not a backup, or it was changed or truncated: {why}"),
    }
}
