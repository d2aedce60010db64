//! Archives that were changed or cut short are refused, wherever it was.

use std::io::Read;

use anyhow::Result;
use hermes_backup::name::Format;
use hermes_backup::seal::keyring::{self, NewKey};
use hermes_backup::seal::{self, Keys, Sealing};

use crate::support::{Case, full, noise, now, passphrase, sealed, write};

/// A pair of keys made for a test.
fn pair(format: Format) -> Result<(Sealing, Keys)> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join("home/hermesd/keys");
    let private = place.path().join("private");
    let new = NewKey { format, user: "mira", private: &private, passphrase: None };
    let key = keyring::generate(&folder, &new, now())?;
    Ok((keyring::sealing_to(&folder, &[key.id], now())?, Keys::read(&[private], None)?))
}

#[test]
fn archives_for_an_openpgp_key_that_were_changed_are_refused() -> Result<()> {
    let (sealing, keys) = pair(Format::Gpg)?;
    let case = Case::new("a.gpg", &sealing, keys)?;
    for bit in 0..200 * 8 {
        case.flip(bit)?;
    }
    case.many(if full() { 2_000 } else { 200 })
}

#[test]
fn archives_for_an_age_recipient_that_were_changed_are_refused() -> Result<()> {
    let (sealing, keys) = pair(Format::Age)?;
    let case = Case::new("a.age", &sealing, keys)?;
    for bit in 0..300 * 8 {
        case.flip(bit)?;
    }
    case.many(if full() { 2_000 } else { 200 })
}

#[test]
fn archives_with_a_passphrase_that_were_changed_are_refused() -> Result<()> {
    let word = passphrase("word");
    let keys = Keys::read(&[], Some(word.clone()))?;
    let count = if full() { 60 } else { 8 };
    Case::new("a.gpg", &Sealing::GpgPassphrase(word.clone()), keys.clone())?.many(count)?;
    Case::new("a.age", &Sealing::AgePassphrase(word), keys)?.many(count)
}

#[test]
fn a_reader_that_failed_stays_failed_and_says_why() -> Result<()> {
    for format in [Format::Gpg, Format::Age] {
        let (sealing, keys) = pair(format)?;
        let (mut archive, _) = sealed(&sealing, &noise(200_000))?;
        let middle = archive.len() / 2;
        archive[middle] ^= 1;
        let folder = tempfile::tempdir()?;
        let mut reader = seal::open(&write(folder.path(), "archive", &archive)?, &keys)?;
        let error = reader.read_to_end(&mut Vec::new()).expect_err("refused");
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
        assert!(error.to_string().contains("decryption failed"), "{error}");
        for _ in 0..3 {
            assert!(reader.read(&mut [0; 10]).is_err());
        }
    }
    Ok(())
}
