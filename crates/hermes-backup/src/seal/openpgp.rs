//! Archives in OpenPGP form: AES-256 with a check of the whole (SEIPD version 1), which every gpg opens.

use std::io::{BufReader, Read, Write};

use pgp::armor::DearmorOptions;
use pgp::composed::{
    DecryptionOptions, EncryptionSeipdV1, Esk, Message, MessageBuilder, PlainSessionKey, TheRing,
};
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::ser::Serialize;
use pgp::types::{Password, PkeskBytes, Seipdv1ReadMode, StringToKey};

use super::certificate::Certificate;
use super::keyring::PublicKey;
use super::private::Secret;
use super::session::session_key;
use super::whole::Whole;
use super::{Keys, Passphrase, Source, cannot_encrypt, tampered};
use crate::{Error, Result};

/// How much of the archive one packet part holds: a power of two.
const CHUNK: u32 = 1024 * 1024;

/// 65,011,712 bytes are hashed to make a key of a passphrase: the most this form knows.
const HASHED_BYTES: u8 = 255;

/// Encrypts to certificates; returns the session key.
pub(super) fn seal_to(keys: &[PublicKey], plain: impl Read, out: impl Write) -> Result<Keys> {
    let mut builder = begin(plain)?;
    let mut recipients = 0;
    for key in keys {
        let certificate = Certificate::parse(&key.bytes)?;
        for part in certificate.encrypting(None)?.parts {
            part.add_to(&mut builder).map_err(|why| cannot_encrypt(&why))?;
            recipients += 1;
        }
    }
    if recipients == 0 {
        return Err(Error::NotEncrypted);
    }
    let key = PlainSessionKey::V3_4 {
        sym_alg: SymmetricKeyAlgorithm::AES256,
        key: builder.session_key().clone(),
    };
    builder.to_writer(rand::rngs::OsRng, out).map_err(|why| cannot_encrypt(&why))?;
    Ok(Keys::of_one_archive(Secret::Session(key)))
}

/// Encrypts with a passphrase; returns that passphrase.
pub(super) fn seal_with(word: &Passphrase, plain: impl Read, out: impl Write) -> Result<Keys> {
    let mut builder = begin(plain)?;
    let s2k = StringToKey::new_iterated(rand::rngs::OsRng, HashAlgorithm::Sha256, HASHED_BYTES);
    builder
        .encrypt_with_password(s2k, &Password::from(word.text()))
        .map_err(|why| cannot_encrypt(&why))?;
    builder.to_writer(rand::rngs::OsRng, out).map_err(|why| cannot_encrypt(&why))?;
    Ok(Keys::of_passphrase(word))
}

/// A message that is being built from a stream.
pub(super) type Builder<R> = MessageBuilder<'static, R, EncryptionSeipdV1>;

fn begin<R: Read>(plain: R) -> Result<Builder<R>> {
    let mut builder = MessageBuilder::from_reader("", plain)
        .seipd_v1(rand::rngs::OsRng, SymmetricKeyAlgorithm::AES256);
    builder.partial_chunk_size(CHUNK).map_err(|why| cannot_encrypt(&why))?;
    Ok(builder)
}

/// Opens a message whose first bytes are `begin`.
pub(super) fn open(
    source: Source,
    armoured: bool,
    begin: &[u8],
    what: &str,
    keys: &Keys,
) -> Result<Box<dyn Read>> {
    let options = DearmorOptions::new().set_limit(usize::MAX);
    let mut message = if armoured {
        Message::from_armor_with_options(source, options).map(|(message, _)| message)
    } else {
        Message::from_bytes(source)
    }
    .map_err(|_| tampered(what, "it contains no readable OpenPGP message"))?;
    let Message::Encrypted { esk, edata, .. } = &mut message else {
        return Err(tampered(what, "it contains no encrypted data"));
    };
    if !armoured && !as_written(esk, begin) {
        return Err(tampered(what, "its list of keys was changed"));
    }
    let key = session_key(esk, edata, what, keys)?;
    let ring = TheRing {
        session_keys: vec![key],
        decrypt_options: options_of_reading(),
        ..TheRing::default()
    };
    let (message, _) = message
        .decrypt_the_ring(ring, true)
        .map_err(|_| tampered(what, "it cannot be decrypted"))?;
    Ok(Box::new(Whole::new(BufReader::with_capacity(super::BUFFER, content(message, what)?))))
}

/// Constant memory; the check of the whole comes last, which [`Whole`] passes on.
fn options_of_reading() -> DecryptionOptions {
    DecryptionOptions::new().enable_gnupg_aead().set_seipdv1_read_mode(Seipdv1ReadMode::Streaming)
}

/// The file inside: gpg puts compression and signatures around it.
fn content<'a>(mut message: Message<'a>, what: &str) -> Result<Message<'a>> {
    for _ in 0..DEEPEST {
        if message.literal_data_header().is_some() {
            return Ok(message);
        }
        message = message
            .decompress()
            .map_err(|_| tampered(what, "its content cannot be decompressed"))?;
    }
    Err(tampered(what, "it contains no file"))
}

/// More layers than any program makes.
const DEEPEST: usize = 4;

/// Whether the packets that carry the session key are byte for byte what we would write for them.
///
/// They stand outside the check of the whole; some of their bits (lengths in bits, the highest bit of a point
/// on Curve25519) change nothing in what they say, so a change there would go unseen.
fn as_written(esk: &[Esk], begin: &[u8]) -> bool {
    let mut written = Vec::new();
    for packet in esk {
        if packet.to_writer(&mut written).is_err() || has_odd_point(packet) {
            return false;
        }
    }
    let shared = written.len().min(begin.len());
    written[..shared] == begin[..shared]
}

fn has_odd_point(packet: &Esk) -> bool {
    let Esk::PublicKeyEncryptedSessionKey(packet) = packet else { return false };
    match packet.values() {
        Ok(PkeskBytes::Ecdh { public_point, .. }) => {
            let point = public_point.as_ref();
            point.len() == 33 && (point[0] != 0x40 || point[32] & 0x80 != 0)
        }
        Ok(PkeskBytes::X25519 { ephemeral, .. }) => ephemeral[31] & 0x80 != 0,
        _ => false,
    }
}
