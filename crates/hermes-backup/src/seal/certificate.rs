//! OpenPGP certificates: which of their keys can encrypt, until when, and why none can.

use std::io::Read;

use jiff::Timestamp;
use pgp::composed::{ArmorOptions, PublicOrSecret, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::packet::{
    PublicKey, PublicKeyEncryptedSessionKey, PublicSubkey, Signature, SignatureType, SubpacketData,
};
use pgp::types::{EncryptionKey, KeyDetails, Tag};

use super::kit::quoted;
use super::openpgp::Builder;
use crate::{Error, Result};

/// One OpenPGP certificate: a primary key, its users and its subkeys.
pub(super) struct Certificate(SignedPublicKey);

/// The keys of a certificate that can encrypt, and when the last of them stops.
pub(super) struct Encrypting<'a> {
    pub(super) parts: Vec<Part<'a>>,
    pub(super) expires: Option<Timestamp>,
}

/// One key that can encrypt.
pub(super) enum Part<'a> {
    Primary(&'a PublicKey),
    Subkey(&'a PublicSubkey),
}

impl Part<'_> {
    /// Makes this key one of those that can open the message.
    pub(super) fn add_to<R: Read>(&self, message: &mut Builder<R>) -> pgp::errors::Result<()> {
        match self {
            Part::Primary(key) => message.encrypt_to_key(rand::rngs::OsRng, key).map(|_| ()),
            Part::Subkey(key) => message.encrypt_to_key(rand::rngs::OsRng, key).map(|_| ()),
        }
    }
}

impl Certificate {
    /// Reads one certificate, armoured or not; private keys are refused.
    pub(super) fn parse(bytes: &[u8]) -> Result<Certificate> {
        let unreadable = |why: &str| refused(format!("the public key cannot be read: {why}"), None);
        let (found, _) =
            PublicOrSecret::from_reader_many(bytes).map_err(|why| unreadable(&why.to_string()))?;
        let mut certificates = Vec::new();
        for key in found {
            match key.map_err(|why| unreadable(&why.to_string()))? {
                PublicOrSecret::Public(key) => certificates.push(key),
                PublicOrSecret::Secret(key) => return Err(is_private(&key.fingerprint())),
            }
        }
        match certificates.len() {
            0 => Err(unreadable("it contains no key")),
            1 => Ok(Certificate(certificates.remove(0))),
            several => Err(refused(
                format!("the file contains {several} keys; import them one at a time"),
                Some(format!("`gpg --armor --export {:X}`", certificates[0].fingerprint())),
            )),
        }
    }

    /// The fingerprint in upper case.
    pub(super) fn fingerprint(&self) -> String {
        format!("{:X}", self.0.fingerprint())
    }

    /// Whose it is, as the key says.
    pub(super) fn user(&self) -> String {
        let users = &self.0.details.users;
        let user = users.iter().find(|user| user.is_primary()).or(users.first());
        user.map(|user| printable(user.id.id())).unwrap_or_default()
    }

    /// The certificate as text.
    pub(super) fn armoured(&self) -> Result<Vec<u8>> {
        self.0
            .to_armored_bytes(ArmorOptions::default())
            .map_err(|why| refused(format!("the public key cannot be written: {why}"), None))
    }

    /// The same certificate without the subkeys that cannot encrypt at this time.
    pub(super) fn pruned(&self, now: Timestamp) -> Result<Certificate> {
        let usable = self.encrypting(Some(now))?;
        let kept: Vec<_> = usable
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Subkey(key) => Some(key.fingerprint()),
                Part::Primary(_) => None,
            })
            .collect();
        let mut certificate = self.0.clone();
        certificate.public_subkeys.retain(|subkey| kept.contains(&subkey.key.fingerprint()));
        Ok(Certificate(certificate))
    }

    /// Which of its keys can encrypt at this time; without a time, expiry is not looked at.
    pub(super) fn encrypting(&self, now: Option<Timestamp>) -> Result<Encrypting<'_>> {
        if self.0.details.revocation_signatures.iter().any(|one| self.certifies_itself(one)) {
            return Err(self.unusable("was revoked", Mend::NewKey));
        }
        let Some(own) = self.own_signature() else {
            return Err(self.unusable("has no valid self-signature", Mend::NewKey));
        };
        let until = end_of(&self.0.primary_key, own);
        if let Some(end) = until.filter(|end| is_over(*end, now)) {
            return Err(self.unusable(&format!("expired on {}", day(end)), Mend::Prolong));
        }
        let mut parts = Vec::new();
        let mut ends = Vec::new();
        // a primary key that says nothing of its uses is taken for certifying alone
        if may_encrypt(own, &self.0.primary_key) && says_uses(own) {
            parts.push(Part::Primary(&self.0.primary_key));
            ends.push(until);
        }
        let mut states = Vec::new();
        for subkey in &self.0.public_subkeys {
            match self.state_of(subkey, now) {
                State::Encrypts(end) => {
                    parts.push(Part::Subkey(&subkey.key));
                    ends.push(end);
                }
                other => states.push(other),
            }
        }
        if parts.is_empty() {
            return Err(self.none_encrypts(&states));
        }
        let last = if ends.contains(&None) { None } else { ends.into_iter().flatten().max() };
        Ok(Encrypting { parts, expires: [until, last].into_iter().flatten().min() })
    }

    fn state_of(&self, subkey: &SignedPublicSubKey, now: Option<Timestamp>) -> State {
        let valid = |kind: SignatureType| {
            subkey.signatures.iter().filter(move |one| {
                one.typ() == Some(kind)
                    && one.verify_subkey_binding(&self.0.primary_key, &subkey.key).is_ok()
            })
        };
        if valid(SignatureType::SubkeyRevocation).next().is_some() {
            return State::Revoked;
        }
        let Some(binding) = newest(valid(SignatureType::SubkeyBinding)) else {
            return State::Other;
        };
        if !may_encrypt(binding, &subkey.key) {
            return State::Other;
        }
        match end_of(&subkey.key, binding) {
            Some(end) if is_over(end, now) => State::Expired(end),
            end => State::Encrypts(end),
        }
    }

    /// The newest signature that the key made over itself and its users.
    fn own_signature(&self) -> Option<&Signature> {
        let details = &self.0.details;
        let direct = details.direct_signatures.iter().filter(|one| self.certifies_itself(one));
        let users = details.users.iter().flat_map(|user| {
            user.signatures.iter().filter(|one| {
                one.typ() != Some(SignatureType::CertRevocation)
                    && one.verify_certification(&self.0.primary_key, Tag::UserId, &user.id).is_ok()
            })
        });
        newest(direct.chain(users))
    }

    fn certifies_itself(&self, signature: &Signature) -> bool {
        signature.verify_key(&self.0.primary_key).is_ok()
    }

    fn none_encrypts(&self, subkeys: &[State]) -> Error {
        let expired = subkeys.iter().filter_map(|one| match one {
            State::Expired(end) => Some(*end),
            _ => None,
        });
        if let Some(end) = expired.max() {
            let why = format!("cannot encrypt: its encryption subkey expired on {}", day(end));
            return self.unusable(&why, Mend::Prolong);
        }
        if subkeys.iter().any(|one| matches!(one, State::Revoked)) {
            return self
                .unusable("cannot encrypt: its encryption subkey was revoked", Mend::AddSubkey);
        }
        self.unusable(
            "cannot encrypt: it can sign, but has no subkey for encryption",
            Mend::AddSubkey,
        )
    }

    fn unusable(&self, why: &str, mend: Mend) -> Error {
        let key = self.fingerprint();
        let user = self.user();
        let export = format!("then import what `gpg --armor --export {key}` prints");
        let hint = match mend {
            Mend::AddSubkey => format!(
                "add a subkey for encryption with `gpg --quick-add-key {key} rsa4096 encr never`, {export}"
            ),
            Mend::Prolong => format!(
                "extend it with `gpg --quick-set-expire {key} 2y` and `gpg --quick-set-expire \
                 {key} 2y '*'`, {export}"
            ),
            Mend::NewKey => format!(
                "create a new one with `gpg --quick-generate-key {} future-default default never`",
                quoted(&user)
            ),
        };
        refused(format!("key {key} ({user}) {why}"), Some(hint))
    }
}

/// What helps a key that cannot encrypt.
#[derive(Clone, Copy)]
enum Mend {
    AddSubkey,
    Prolong,
    NewKey,
}

/// What a subkey is good for.
enum State {
    Encrypts(Option<Timestamp>),
    Expired(Timestamp),
    Revoked,
    Other,
}

fn newest<'a>(signatures: impl Iterator<Item = &'a Signature>) -> Option<&'a Signature> {
    signatures.max_by_key(|one| one.created())
}

/// Whether a key is meant for encryption and this program can encrypt to it: tried out.
fn may_encrypt(binding: &Signature, key: &impl EncryptionKey) -> bool {
    let flags = binding.key_flags();
    let meant = flags.encrypt_comms() || flags.encrypt_storage() || !says_uses(binding);
    if !meant || !key.algorithm().can_encrypt() {
        return false;
    }
    let algorithm = SymmetricKeyAlgorithm::AES256;
    let session = algorithm.new_session_key(rand::rngs::OsRng);
    PublicKeyEncryptedSessionKey::from_session_key_v3(rand::rngs::OsRng, &session, algorithm, key)
        .is_ok()
}

fn says_uses(signature: &Signature) -> bool {
    signature.config().is_some_and(|config| {
        config.hashed_subpackets().any(|one| matches!(one.data, SubpacketData::KeyFlags(_)))
    })
}

/// When a key stops, as the newest signature over it says.
fn end_of(key: &impl KeyDetails, signature: &Signature) -> Option<Timestamp> {
    let life =
        signature.key_expiration_time().map(|life| life.as_secs()).filter(|life| *life > 0)?;
    Timestamp::from_second(i64::from(key.created_at().as_secs()) + i64::from(life)).ok()
}

fn is_over(end: Timestamp, now: Option<Timestamp>) -> bool {
    now.is_some_and(|now| end <= now)
}

fn day(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d").to_string()
}

/// A user id as it may be shown: no control characters.
fn printable(id: &[u8]) -> String {
    String::from_utf8_lossy(id).chars().filter(|one| !one.is_control()).collect()
}

fn is_private(fingerprint: &pgp::types::Fingerprint) -> Error {
    refused(
        format!("key {fingerprint:X} is a private key, which must not be stored on this machine"),
        Some(format!("import the public key: `gpg --armor --export {fingerprint:X}`")),
    )
}

fn refused(why: String, hint: Option<String>) -> Error {
    Error::CannotEncrypt { why, hint }
}
