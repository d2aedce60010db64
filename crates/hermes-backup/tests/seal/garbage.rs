//! No input makes opening stop the program; plain archives are handed through.

use anyhow::Result;
use hermes_backup::name::Format;
use hermes_backup::seal::Keys;
use hermes_backup::seal::keyring::{self, NewKey};
use proptest::prelude::*;

use crate::support::{noise, now, opened, opened_as, sealed};

/// Beginnings that lead deep into the readers.
const BEGINNINGS: &[&[u8]] = &[
    b"",
    b"\x84\x5e\x03",
    b"\x85\x02\x0c\x03",
    b"\x8c\x0d\x04\x09\x03\x08",
    b"\xc3\x0d\x04\x09\x03\x08",
    b"\xc1\x5e\x03",
    b"\xc1\xff\xff\xff\xff\xff",
    b"\xd2\xff\x01",
    b"\xd2\xe9\x01",
    b"\xd2\xff\x00\x10\x00\x00\x02\x09\x02\x06",
    b"\xd4\xff\x00\x10\x00\x00\x01\x09\x02\x10",
    b"\xc9\x20",
    b"\xca\x03PGP\xd2\x20\x01",
    b"age-encryption.org/v1\n",
    b"age-encryption.org/v1\n-> X25519 ",
    b"age-encryption.org/v1\n-> scrypt AAAAAAAAAAAAAAAAAAAAAA 63\n",
    b"-----BEGIN AGE ENCRYPTED FILE-----\n",
    b"-----BEGIN PGP MESSAGE-----\n\n",
];

fn keys() -> Result<(Keys, Vec<u8>)> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join("home/hermesd/keys");
    let mut files = Vec::new();
    let mut archive = Vec::new();
    for format in [Format::Age, Format::Gpg] {
        let private = place.path().join(format!("{format:?}"));
        let new = NewKey { format, user: "mira", private: &private, passphrase: None };
        let key = keyring::generate(&folder, &new, now())?;
        archive = sealed(&keyring::sealing_to(&folder, &[key.id], now())?, &noise(3_000))?.0;
        files.push(private);
    }
    Ok((Keys::read(&files, None)?, archive))
}

#[test]
fn random_bytes_never_stop_the_program() -> Result<()> {
    let (keys, archive) = keys()?;
    let strategy = (
        0..BEGINNINGS.len(),
        prop::collection::vec(any::<u8>(), 0..600),
        prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    );
    let config = ProptestConfig { cases: 256, failure_persistence: None, ..Default::default() };
    proptest::test_runner::TestRunner::new(config).run(&strategy, |(begin, bytes, changes)| {
        let _ = opened(&[BEGINNINGS[begin], &bytes].concat(), &keys);
        let mut changed = archive.clone();
        for (place, byte) in changes {
            *place.get_mut(&mut changed) = byte;
        }
        let _ = opened(&changed, &keys);
        let _ = keyring::import(std::path::Path::new("/nonexistent"), &bytes, now());
        Ok(())
    })?;
    Ok(())
}

#[test]
fn plain_archives_are_handed_through_unless_their_name_says_they_are_encrypted() -> Result<()> {
    let zip = b"PK\x03\x04rest".to_vec();
    for plain in [b"\x28\xb5\x2f\xfdrest".to_vec(), b"\x1f\x8brest".to_vec(), zip, vec![b'.'; 600]]
    {
        assert_eq!(opened(&plain, &Keys::default())?, plain);
        for name in ["a.tar.zst.gpg", "a.tar.gz.age"] {
            let error = opened_as(name, &plain, &Keys::default()).expect_err("refused");
            assert!(error.to_string().contains("its name says that it is encrypted"), "{error}");
        }
    }
    assert_eq!(opened(b"", &Keys::default())?, b"");
    Ok(())
}
