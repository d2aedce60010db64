//! Finding the session key of an OpenPGP archive: by private keys, a passphrase, or as it was kept in memory.

use std::io::BufRead;

use pgp::composed::{
    Edata, Esk, PlainSessionKey, SignedSecretKey, decrypt_session_key_with_password,
};
use pgp::packet::{
    ProtectedDataConfig, PublicKeyEncryptedSessionKey, SymEncryptedProtectedDataConfig,
    SymKeyEncryptedSessionKey,
};
use pgp::types::{DecryptionKey, EskType, KeyDetails, Password, PkeskVersion, StringToKey};

use super::private::{self, Secret};
use super::{Keys, tampered};
use crate::{Error, Result};

/// Finds what the data is encrypted with.
pub(super) fn session_key(
    esk: &[Esk],
    edata: &mut Edata<'_>,
    what: &str,
    keys: &Keys,
) -> Result<PlainSessionKey> {
    let owned = private_keys(keys);
    if !could_open(esk, keys, &owned) {
        return Err(Error::NoKey { what: what.to_owned(), to: recipients(esk) });
    }
    let unlocked = unlocked(esk, &owned, keys);
    if let Some(key) = unlocked.into_iter().next() {
        return if fits(edata, &key) {
            Ok(key)
        } else {
            Err(tampered(what, "its first bytes do not match"))
        };
    }
    let guesses = from_memory(keys).chain(from_passphrase(esk, keys));
    for key in guesses {
        if fits(edata, &key) {
            return Ok(key);
        }
    }
    Err(Error::WrongKey { what: what.to_owned(), why: why_not(esk, keys, &owned) })
}

fn private_keys(keys: &Keys) -> Vec<SignedSecretKey> {
    keys.secret
        .iter()
        .filter_map(|secret| match secret {
            Secret::Pgp(bytes) => private::pgp_keys(bytes).ok(),
            _ => None,
        })
        .flatten()
        .collect()
}

/// Whether what was given is of a kind that can open this archive at all.
fn could_open(esk: &[Esk], keys: &Keys, owned: &[SignedSecretKey]) -> bool {
    let wants_key = esk.iter().any(|packet| matches!(packet, Esk::PublicKeyEncryptedSessionKey(_)));
    let wants_word = esk.iter().any(|packet| matches!(packet, Esk::SymKeyEncryptedSessionKey(_)));
    from_memory(keys).next().is_some()
        || wants_key && !owned.is_empty()
        || wants_word && keys.passphrase.is_some()
}

/// For whom an archive is encrypted, in words.
fn recipients(esk: &[Esk]) -> String {
    let mut names: Vec<String> = esk
        .iter()
        .map(|packet| match packet {
            Esk::SymKeyEncryptedSessionKey(_) => "a passphrase".to_owned(),
            Esk::PublicKeyEncryptedSessionKey(packet) => {
                match (packet.id(), packet.fingerprint()) {
                    (Ok(id), _) if !id.is_wildcard() => {
                        format!("key {id}").to_uppercase().replacen("KEY", "key", 1)
                    }
                    (_, Ok(Some(fingerprint))) => format!("key {fingerprint:X}"),
                    _ => "an unnamed key".to_owned(),
                }
            }
        })
        .collect();
    names.dedup();
    if names.is_empty() { "no named key".to_owned() } else { names.join(", ") }
}

/// The session keys that the private keys bring out; a check sum inside says that they are right.
fn unlocked(esk: &[Esk], owned: &[SignedSecretKey], keys: &Keys) -> Vec<PlainSessionKey> {
    let word = password(keys);
    let mut found = Vec::new();
    for packet in esk {
        let Esk::PublicKeyEncryptedSessionKey(packet) = packet else { continue };
        for key in owned {
            if packet.match_identity(key.primary_key.public_key()) {
                found.extend(unlock(packet, &key.primary_key, &word));
            }
            for subkey in &key.secret_subkeys {
                if packet.match_identity(subkey.key.public_key()) {
                    found.extend(unlock(packet, &subkey.key, &word));
                }
            }
        }
    }
    found
}

fn unlock(
    packet: &PublicKeyEncryptedSessionKey,
    key: &dyn DecryptionKey,
    word: &Password,
) -> Option<PlainSessionKey> {
    // some algorithms share a form, so that another one's number would go unseen
    if packet.algorithm().ok()? != key.algorithm() {
        return None;
    }
    let kind = match packet.version() {
        PkeskVersion::V3 => EskType::V3_4,
        PkeskVersion::V6 => EskType::V6,
        PkeskVersion::Other(_) => return None,
    };
    key.decrypt(word, packet.values().ok()?, kind).ok()?.ok()
}

fn password(keys: &Keys) -> Password {
    keys.passphrase.as_ref().map_or_else(Password::empty, |word| Password::from(word.text()))
}

fn from_memory(keys: &Keys) -> impl Iterator<Item = PlainSessionKey> {
    keys.secret.iter().filter_map(|secret| match secret {
        Secret::Session(key) => Some(key.clone()),
        _ => None,
    })
}

fn from_passphrase(esk: &[Esk], keys: &Keys) -> impl Iterator<Item = PlainSessionKey> {
    let word = keys.passphrase.as_ref().map(|word| Password::from(word.text()));
    esk.iter().filter_map(move |packet| match (packet, &word) {
        (Esk::SymKeyEncryptedSessionKey(packet), Some(word)) if is_affordable(packet) => {
            decrypt_session_key_with_password(packet, word).ok()
        }
        _ => None,
    })
}

/// Whether making the key of the passphrase takes no more than 1 GiB of memory: the archive says how much.
fn is_affordable(packet: &SymKeyEncryptedSessionKey) -> bool {
    packet.is_supported()
        && match packet.s2k() {
            Some(StringToKey::Argon2 { t, m_enc, .. }) => *m_enc <= 20 && *t <= 16,
            Some(_) => true,
            None => false,
        }
}

/// Whether a key can be the right one: two bytes at the beginning are there twice.
fn fits(edata: &mut Edata<'_>, key: &PlainSessionKey) -> bool {
    let Edata::SymEncryptedProtectedData { reader } = edata else { return true };
    let v1 = ProtectedDataConfig::Seipd(SymEncryptedProtectedDataConfig::V1);
    if *reader.config() != v1 {
        return true;
    }
    let PlainSessionKey::V3_4 { sym_alg, key } = key else { return false };
    let size = sym_alg.block_size();
    let Ok(encrypted) = reader.get_mut().fill_buf() else { return true };
    if size < 2 || encrypted.len() < size + 2 {
        return size >= 2;
    }
    let mut text = encrypted[..size + 2].to_vec();
    sym_alg.decrypt_with_iv_regular(key.as_ref(), &vec![0; size], &mut text).is_ok()
        && text[size - 2..size] == text[size..]
}

/// Why nothing that was given opens the archive.
fn why_not(esk: &[Esk], keys: &Keys, owned: &[SignedSecretKey]) -> String {
    let to = recipients(esk);
    if let Some(locked) = locked(esk, owned) {
        let word = if keys.passphrase.is_some() {
            "the passphrase that was given does not unlock it"
        } else {
            "no passphrase was given for it"
        };
        return format!("private key {locked} is protected, and {word}");
    }
    let given: Vec<String> = owned.iter().map(|key| format!("{:X}", key.fingerprint())).collect();
    match (given.is_empty(), keys.passphrase.is_some()) {
        (true, true) => "the passphrase is wrong".to_owned(),
        (true, false) => "the key in memory belongs to another archive".to_owned(),
        (false, _) => format!("it is encrypted to {to}; the given key is {}", given.join(", ")),
    }
}

/// The protected private key that this archive is encrypted to.
fn locked(esk: &[Esk], owned: &[SignedSecretKey]) -> Option<String> {
    let is_locked = |key: &SignedSecretKey| {
        let primary = &key.primary_key;
        primary.secret_params().is_encrypted() && is_wanted(esk, primary.public_key())
            || key.secret_subkeys.iter().any(|subkey| {
                subkey.key.secret_params().is_encrypted() && is_wanted(esk, subkey.key.public_key())
            })
    };
    owned.iter().find(|key| is_locked(key)).map(|key| format!("{:X}", key.fingerprint()))
}

fn is_wanted(esk: &[Esk], key: &impl KeyDetails) -> bool {
    esk.iter().any(|packet| match packet {
        Esk::PublicKeyEncryptedSessionKey(packet) => packet.match_identity(key),
        Esk::SymKeyEncryptedSessionKey(_) => false,
    })
}
