//! The newer form of OpenPGP (SEIPD version 2), which other programs make, is read, too.

use anyhow::Result;
use hermes_backup::Error;
use hermes_backup::seal::Keys;
use pgp::composed::MessageBuilder;
use pgp::crypto::aead::{AeadAlgorithm, ChunkSize};
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::types::{Password, StringToKey};
use rand::rngs::OsRng;

use crate::support::{noise, opened, opened_as, passphrase};

fn made(s2k: StringToKey, plain: &[u8]) -> Result<Vec<u8>> {
    let mut message = MessageBuilder::from_bytes("", plain.to_vec()).seipd_v2(
        OsRng,
        SymmetricKeyAlgorithm::AES256,
        AeadAlgorithm::Ocb,
        ChunkSize::C64KiB,
    );
    message.encrypt_with_password(OsRng, s2k, &Password::from("word"))?;
    Ok(message.to_vec(OsRng)?)
}

#[test]
fn the_newer_form_is_read_and_its_changes_are_refused() -> Result<()> {
    let plain = noise(200_000);
    let archive = made(StringToKey::new_iterated(OsRng, HashAlgorithm::Sha256, 96), &plain)?;
    let keys = Keys::read(&[], Some(passphrase("word")))?;
    assert!(opened(&archive, &keys)? == plain);
    let wrong = Keys::read(&[], Some(passphrase("wrong")))?;
    let error = opened(&archive, &wrong).expect_err("refused");
    assert!(matches!(error.downcast_ref(), Some(Error::WrongKey { .. })), "{error}");
    for place in (0..archive.len()).step_by(997) {
        let mut changed = archive.clone();
        changed[place] ^= 1;
        assert!(opened_as("a.gpg", &changed, &keys).is_err(), "byte {place}");
        assert!(opened_as("a.gpg", &archive[..place], &keys).is_err(), "cut to {place}");
    }
    Ok(())
}

/// What gpg 2.4.7 wrote with `--force-ocb --armor --symmetric`: a packet of its own (type 20).
const OF_GPG_2_4: &str = "\
-----BEGIN PGP MESSAGE-----

jE0FCQIDCie5yn4kPmC6/4/mBOvLUUXfjBD/XVCnEobMdPA7gMFPFmKaC5W/fIWR
XHh+5lxmVDjMUEhV93dGmGUv95itxxqs88+JdXjag9RVAQkCELSwrr8xsGYFqVsy
bAQWNzOZk8OnvqMXZa2U/r4m/0NH6Ztfm2eDYPpWHu3ljMAZptojFmW9hVkGBQBC
SDxLP+7cRdhDtkdiaJuMpqt2ILtCsw==
=xcC/
-----END PGP MESSAGE-----
";

#[test]
fn the_form_of_its_own_that_gpg_2_4_makes_is_read() -> Result<()> {
    let keys = Keys::read(&[], Some(passphrase("correct horse")))?;
    assert_eq!(opened_as("m.gpg", OF_GPG_2_4.as_bytes(), &keys)?, b"a message of gpg 2.4\n");
    let wrong = Keys::read(&[], Some(passphrase("another horse")))?;
    let error = opened_as("m.gpg", OF_GPG_2_4.as_bytes(), &wrong).expect_err("refused");
    assert!(matches!(error.downcast_ref(), Some(Error::WrongKey { .. })), "{error}");
    Ok(())
}

#[test]
fn an_archive_that_asks_for_more_memory_than_1_gib_is_refused() -> Result<()> {
    let mut archive = made(StringToKey::new_argon2(OsRng, 1, 1, 10), b"text")?;
    let keys = Keys::read(&[], Some(passphrase("word")))?;
    assert_eq!(opened(&archive, &keys)?, b"text");
    // 1 pass, 1 lane, 2^10 KiB: the last of these is the memory
    let place = archive.windows(3).position(|bytes| bytes == [1, 1, 10]).expect("the parameters");
    archive[place + 2] = 31;
    let error = opened(&archive, &keys).expect_err("refused");
    assert!(matches!(error.downcast_ref(), Some(Error::WrongKey { .. })), "{error}");
    Ok(())
}
