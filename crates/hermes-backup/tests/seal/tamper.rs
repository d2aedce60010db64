//! Archives that were changed or cut short are refused, wherever it was.

use std::io::Read;

use anyhow::{Result, bail};
use hermes_backup::name::Format;
use hermes_backup::seal::keyring::{self, NewKey};
use hermes_backup::seal::{self, Keys, Sealing};

use crate::support::{Gpg, full, next, noise, now, opened_as, passphrase, sealed, write};

/// A pair of keys made for a test.
fn pair(format: Format) -> Result<(Sealing, Keys)> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join("home/hermesd/keys");
    let private = place.path().join("private");
    let new = NewKey { format, user: "mira", private: &private, passphrase: None };
    let key = keyring::generate(&folder, &new, now())?;
    Ok((keyring::sealing_to(&folder, &[key.id], now())?, Keys::read(&[private], None)?))
}

/// An archive and everything that is done to it.
struct Case {
    name: &'static str,
    archive: Vec<u8>,
    plain: Vec<u8>,
    keys: Keys,
}

impl Case {
    fn new(name: &'static str, sealing: &Sealing, keys: Keys) -> Result<Case> {
        let plain = noise(20_000);
        let (archive, _) = sealed(sealing, &plain)?;
        let case = Case { name, archive, plain, keys };
        assert!(opened_as(name, &case.archive, &case.keys)? == case.plain);
        Ok(case)
    }

    /// Fails if a changed archive is taken for good.
    fn refuses(&self, changed: &[u8], how: &str) -> Result<()> {
        if changed == self.archive {
            return Ok(());
        }
        match opened_as(self.name, changed, &self.keys) {
            Err(_) => Ok(()),
            Ok(content) => bail!("{how}: accepted, {} bytes", content.len()),
        }
    }

    fn flip(&self, bit: usize) -> Result<()> {
        let mut changed = self.archive.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        self.refuses(&changed, &format!("{} bit {} of byte {}", self.name, bit % 8, bit / 8))
    }

    fn cut(&self, length: usize) -> Result<()> {
        self.refuses(&self.archive[..length], &format!("{} cut to {length}", self.name))
    }

    /// That many flips and cuts at places that look random, half of the flips in the first bytes.
    fn many(&self, count: usize) -> Result<()> {
        let mut state = 0x1234_5678_9ABC_DEF1;
        let mut below = |limit: usize| usize::try_from(next(&mut state) >> 1).unwrap_or(0) % limit;
        for turn in 0..count {
            match turn % 4 {
                0 => self.cut(below(self.archive.len()))?,
                1 | 2 => self.flip(below(self.archive.len() * 8))?,
                _ => self.flip(below(self.archive.len().min(600) * 8))?,
            }
        }
        for length in [self.archive.len() - 1, self.archive.len() - 20, 0, 1, 2] {
            self.cut(length)?;
        }
        for more in [&b"\0"[..], b"\xd3\x00", b"trailing", &self.archive.clone()] {
            self.refuses(&[&self.archive, more].concat(), &format!("{} and more", self.name))?;
        }
        Ok(())
    }
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
fn archives_for_an_rsa_key_that_were_changed_are_refused() -> Result<()> {
    let gpg = Gpg::new()?;
    let key = gpg.new_key("mira", &["rsa2048", "default", "never"])?;
    gpg.run(&["--passphrase", "", "--quick-add-key", &key, "rsa2048", "encr", "never"], b"")?;
    let folder = tempfile::tempdir()?;
    keyring::import(folder.path(), &gpg.public("mira")?, now())?;
    let file = write(folder.path(), "private", &gpg.private("mira")?)?;
    let sealing = keyring::sealing_to(folder.path(), &[key], now())?;
    let case = Case::new("a.gpg", &sealing, Keys::read(&[file], None)?)?;
    for bit in 0..20 * 8 {
        case.flip(bit)?;
    }
    case.many(if full() { 2_000 } else { 60 })
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
        assert!(error.to_string().contains("changed or cut short"), "{error}");
        for _ in 0..3 {
            assert!(reader.read(&mut [0; 10]).is_err());
        }
    }
    Ok(())
}
