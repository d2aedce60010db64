//! Archives in age form: to X25519 recipients or with a passphrase.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Write};

use age::armor::ArmoredReader;
use age::secrecy::{ExposeSecret, SecretString};
use age::{DecryptError, Decryptor, EncryptError, Encryptor, Identity, Recipient, scrypt, x25519};
use age_core::format::{FileKey, Stanza};
use zeroize::Zeroizing;

use super::keyring::PublicKey;
use super::private::{self, Secret};
use super::whole::Whole;
use super::{Keys, Passphrase, Source, cannot_encrypt, tampered};
use crate::{Error, Result};

/// 2^16 blocks of 1 KiB: 64 MiB of memory for making a key of a passphrase.
///
/// The age program takes 2^18, which is 256 MiB: more than a small server has to spare.
const WORK: u8 = 16;

/// The most memory that an archive may ask for: 1 GiB.
const MOST_WORK: u8 = 20;

/// Encrypts to recipients; returns the key of this file.
pub(super) fn seal_to(keys: &[PublicKey], plain: impl Read, out: impl Write) -> Result<Keys> {
    let mut recipients = Vec::new();
    for key in keys {
        let recipient: x25519::Recipient =
            key.id.parse().map_err(|why| cannot_encrypt(&format!("{}: {why}", key.id)))?;
        recipients.push(Noting { recipient, noted: RefCell::default() });
    }
    if recipients.is_empty() {
        return Err(Error::NotEncrypted);
    }
    let encryptor = Encryptor::with_recipients(recipients.iter().map(|one| one as &dyn Recipient))
        .map_err(|why| cannot_encrypt(&why))?;
    write(encryptor, plain, out)?;
    let noted = recipients.first().and_then(|one| one.noted.take());
    let key = noted.ok_or_else(|| cannot_encrypt(&"the file key could not be derived"))?;
    Ok(Keys::of_one_archive(Secret::FileKey(key)))
}

/// Encrypts with a passphrase; returns that passphrase.
pub(super) fn seal_with(word: &Passphrase, plain: impl Read, out: impl Write) -> Result<Keys> {
    write(with_passphrase(word)?, plain, out)?;
    Ok(Keys::of_passphrase(word))
}

/// The encryption with a passphrase, at a cost that is the same everywhere.
pub(super) fn with_passphrase(word: &Passphrase) -> Result<Encryptor> {
    let mut recipient = scrypt::Recipient::new(secret(word));
    recipient.set_work_factor(WORK);
    Encryptor::with_recipients(std::iter::once(&recipient as &dyn Recipient))
        .map_err(|why| cannot_encrypt(&why))
}

fn write(encryptor: Encryptor, plain: impl Read, out: impl Write) -> Result<()> {
    let written = || {
        let mut writer = encryptor.wrap_output(out)?;
        io::copy(&mut BufReader::with_capacity(super::BUFFER, plain), &mut writer)?;
        writer.finish()?.flush()
    };
    written().map_err(|why| cannot_encrypt(&why))
}

/// Opens an age file, armoured or not.
pub(super) fn open(source: Source, what: &str, keys: &Keys) -> Result<Box<dyn Read>> {
    let decryptor = Decryptor::new(ArmoredReader::new(source))
        .map_err(|_| tampered(what, "its age header cannot be read"))?;
    let opener = Opener::new(&decryptor, what, keys)?;
    match decryptor.decrypt(std::iter::once(&opener as &dyn Identity)) {
        Ok(reader) => Ok(Box::new(Whole::new(reader))),
        Err(why) => Err(opener.refusal(&why, what, keys)),
    }
}

fn secret(word: &Passphrase) -> SecretString {
    SecretString::from(word.text().to_owned())
}

fn of_passphrase(word: &Passphrase) -> scrypt::Identity {
    let mut identity = scrypt::Identity::new(secret(word));
    identity.set_max_work_factor(MOST_WORK);
    identity
}

/// A recipient that notes the key of the file while it wraps it.
///
/// So the archive can be read back without a further recipient in its header.
struct Noting {
    recipient: x25519::Recipient,
    noted: RefCell<Option<Zeroizing<[u8; 16]>>>,
}

impl Recipient for Noting {
    fn wrap_file_key(
        &self,
        key: &FileKey,
    ) -> std::result::Result<(Vec<Stanza>, HashSet<String>), EncryptError> {
        self.noted.replace(Some(Zeroizing::new(*key.expose_secret())));
        self.recipient.wrap_file_key(key)
    }
}

/// Everything that may open an archive, tried in turn; remembers for whom the archive is.
struct Opener {
    identities: Vec<Box<dyn Identity>>,
    seen: RefCell<Vec<String>>,
}

impl Opener {
    fn new<R>(archive: &Decryptor<R>, what: &str, keys: &Keys) -> Result<Opener> {
        let mut identities: Vec<Box<dyn Identity>> = Vec::new();
        for one in &keys.secret {
            match one {
                Secret::FileKey(key) => identities.push(Box::new(Known(key.clone()))),
                Secret::Age(bytes) if !archive.is_scrypt() => {
                    identities.extend(read_identities(bytes, what, keys.passphrase.as_ref())?);
                }
                _ => {}
            }
        }
        if let Some(word) = keys.passphrase.as_ref().filter(|_| archive.is_scrypt()) {
            identities.push(Box::new(of_passphrase(word)));
        }
        Ok(Opener { identities, seen: RefCell::default() })
    }

    /// Says why an archive was not opened.
    fn refusal(&self, why: &DecryptError, what: &str, keys: &Keys) -> Error {
        let what = what.to_owned();
        let seen = self.seen.borrow();
        let to = if seen.is_empty() { "nobody".to_owned() } else { seen.join(", ") };
        match why {
            DecryptError::NoMatchingKeys if self.identities.is_empty() => Error::NoKey { what, to },
            DecryptError::NoMatchingKeys => Error::WrongKey {
                what,
                why: format!("it is encrypted to {to}; none of the given identities matches"),
            },
            DecryptError::DecryptionFailed | DecryptError::KeyDecryptionFailed
                if keys.passphrase.is_some() =>
            {
                Error::WrongKey { what, why: "the passphrase is wrong".to_owned() }
            }
            DecryptError::ExcessiveWork { required, .. } => Error::WrongKey {
                what,
                why: format!("its passphrase requires 2^{required} KiB of memory"),
            },
            _ => tampered(&what, why),
        }
    }
}

impl Identity for Opener {
    fn unwrap_stanza(&self, _: &Stanza) -> Option<std::result::Result<FileKey, DecryptError>> {
        None
    }

    fn unwrap_stanzas(
        &self,
        stanzas: &[Stanza],
    ) -> Option<std::result::Result<FileKey, DecryptError>> {
        self.seen.replace(in_words(stanzas));
        self.identities.iter().find_map(|identity| identity.unwrap_stanzas(stanzas))
    }
}

/// For whom an archive is encrypted; age does not name its recipients.
fn in_words(stanzas: &[Stanza]) -> Vec<String> {
    let mut words: Vec<String> = stanzas
        .iter()
        .filter(|stanza| !stanza.tag.ends_with("-grease"))
        .map(|stanza| match stanza.tag.as_str() {
            "scrypt" => "a passphrase".to_owned(),
            tag => format!("an age recipient ({tag})"),
        })
        .collect();
    words.sort();
    words.dedup();
    words
}

/// The key of one file.
struct Known(Zeroizing<[u8; 16]>);

impl Identity for Known {
    fn unwrap_stanza(&self, _: &Stanza) -> Option<std::result::Result<FileKey, DecryptError>> {
        Some(Ok(FileKey::new(Box::new(*self.0))))
    }
}

/// The identities in a file, which may be protected by a passphrase itself.
fn read_identities(
    bytes: &[u8],
    what: &str,
    word: Option<&Passphrase>,
) -> Result<Vec<Box<dyn Identity>>> {
    let wrong = |why: &str| Error::WrongKey { what: what.to_owned(), why: why.to_owned() };
    let mut text = Zeroizing::new(bytes.to_vec());
    if private::is_sealed_age(bytes) {
        let word = word.ok_or_else(|| {
            wrong("the identity file is protected by a passphrase, which was not given")
        })?;
        text = unsealed(bytes, word).map_err(|_| {
            wrong(
                "the identity file is protected by a passphrase, and the one that was given is \
                 wrong",
            )
        })?;
    }
    let mut identities: Vec<Box<dyn Identity>> = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let line = std::str::from_utf8(line).unwrap_or_default().trim();
        if let Ok(identity) = line.parse::<x25519::Identity>() {
            identities.push(Box::new(identity));
        }
    }
    if identities.is_empty() {
        Err(wrong("the identity file contains no X25519 key"))
    } else {
        Ok(identities)
    }
}

fn unsealed(
    bytes: &[u8],
    word: &Passphrase,
) -> std::result::Result<Zeroizing<Vec<u8>>, DecryptError> {
    let mut text = Zeroizing::new(Vec::new());
    Decryptor::new(ArmoredReader::new(bytes))?
        .decrypt(std::iter::once(&of_passphrase(word) as &dyn Identity))?
        .read_to_end(&mut text)?;
    Ok(text)
}
