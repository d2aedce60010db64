//! New pairs of keys: the public one stays, the private one goes where the user said.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use age::armor::{ArmoredWriter, Format as Armour};
use age::secrecy::ExposeSecret;
use jiff::Timestamp;
use pgp::composed::{
    ArmorOptions, EncryptionCaps, KeyType, SecretKeyParamsBuilder, SignedSecretKey,
    SubkeyParamsBuilder,
};
use pgp::crypto::ecc_curve::ECCCurve;
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use zeroize::Zeroizing;

use super::keyring::{PublicKey, import};
use super::{Passphrase, agefile, cannot_encrypt};
use crate::name::Format;
use crate::{Error, Result};

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
    check_place(folder, new.private)?;
    let (private, public) = match new.format {
        Format::Gpg => pgp_pair(new, now)?,
        Format::Age => age_pair(new, now)?,
        Format::Plain => {
            return Err(Error::Setting {
                what: "plain".to_owned(),
                why: "plain text has no key".to_owned(),
            });
        }
    };
    write_private(new.private, &private)?;
    import(folder, &public, now).inspect_err(|_| {
        // a private key whose public half is nowhere would only mislead
        let _ = fs::remove_file(new.private);
    })
}

/// A private key and its public half, as they are written.
type Pair = (Zeroizing<Vec<u8>>, Vec<u8>);

/// Refuses a place below the home: everything there goes into the backups, and the key must not.
fn check_place(folder: &Path, private: &Path) -> Result<()> {
    let refused = |why: &str| Error::Setting {
        what: format!("{} for the private key", private.display()),
        why: why.to_owned(),
    };
    if private.symlink_metadata().is_ok() {
        return Err(refused("it already exists"));
    }
    let parent = match private.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let real = parent.canonicalize().map_err(|source| Error::file("read", parent, source))?;
    let home = folder.ancestors().nth(2).unwrap_or(folder);
    if real.starts_with(real_path(home)) {
        return Err(refused(
            "it is inside the home that is backed up; write it to a disk that you take away",
        ));
    }
    Ok(())
}

/// The path with links followed as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    match existing {
        Some((part, real)) => path.strip_prefix(part).map_or(real.clone(), |rest| real.join(rest)),
        None => path.to_owned(),
    }
}

fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|source| Error::file("write to", path, source))
}

/// Ed25519 for signing, Curve25519 for encryption, as stock gpg makes and reads them.
fn pgp_pair(new: &NewKey<'_>, now: Timestamp) -> Result<Pair> {
    let key = pgp_key(new, now)?;
    let text = |bytes: pgp::errors::Result<Vec<u8>>| bytes.map_err(|why| cannot_encrypt(&why));
    let private = Zeroizing::new(text(key.to_armored_bytes(ArmorOptions::default()))?);
    let public = text(key.to_public_key().to_armored_bytes(ArmorOptions::default()))?;
    Ok((private, public))
}

fn pgp_key(new: &NewKey<'_>, now: Timestamp) -> Result<SignedSecretKey> {
    let seconds = u32::try_from(now.as_second()).unwrap_or_default();
    let created = pgp::types::Timestamp::from_secs(seconds);
    let passphrase = new.passphrase.map(|word| word.text().to_owned());
    let subkey = SubkeyParamsBuilder::default()
        .key_type(KeyType::ECDH(ECCCurve::Curve25519Legacy))
        .can_encrypt(EncryptionCaps::All)
        .created_at(created)
        .passphrase(passphrase.clone())
        .build()
        .map_err(|why| cannot_encrypt(&why))?;
    SecretKeyParamsBuilder::default()
        .key_type(KeyType::Ed25519Legacy)
        .can_certify(true)
        .can_sign(true)
        .created_at(created)
        .primary_user_id(new.user.to_owned())
        .preferred_symmetric_algorithms(vec![SymmetricKeyAlgorithm::AES256].into())
        .preferred_hash_algorithms(vec![HashAlgorithm::Sha512, HashAlgorithm::Sha256].into())
        .passphrase(passphrase)
        .subkey(subkey)
        .build()
        .map_err(|why| cannot_encrypt(&why))?
        .generate(rand::rngs::OsRng)
        .map_err(|why| cannot_encrypt(&why))
}

/// The form of age-keygen; protected by a passphrase it is what `age --passphrase --armor` makes of that.
fn age_pair(new: &NewKey<'_>, now: Timestamp) -> Result<Pair> {
    let identity = age::x25519::Identity::generate();
    let public = identity.to_public().to_string();
    let private = Zeroizing::new(
        format!(
            "# created: {}\n# public key: {public}\n{}\n",
            now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            identity.to_string().expose_secret()
        )
        .into_bytes(),
    );
    let private = match new.passphrase {
        Some(word) => sealed(&private, word)?,
        None => private,
    };
    Ok((private, public.into_bytes()))
}

fn sealed(private: &[u8], word: &Passphrase) -> Result<Zeroizing<Vec<u8>>> {
    let encryptor = agefile::with_passphrase(word)?;
    let write = || -> std::io::Result<Vec<u8>> {
        let armour = ArmoredWriter::wrap_output(Vec::new(), Armour::AsciiArmor)?;
        let mut writer = encryptor.wrap_output(armour)?;
        writer.write_all(private)?;
        writer.finish()?.finish()
    };
    write().map(Zeroizing::new).map_err(|why| cannot_encrypt(&why))
}
