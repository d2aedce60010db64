//! The keys that are kept, passphrase files and the recovery kit.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::slice;

use anyhow::{Context, Result};
use hermes_backup::Error;
use hermes_backup::name::Format;
use hermes_backup::seal::keyring::{self, Kit, NewKey, PublicKey};
use hermes_backup::seal::{Keys, Passphrase, Sealing};

use crate::support::{now, opened, passphrase, sealed, write};

/// A home with room for keys beside it.
struct Place {
    folder: tempfile::TempDir,
    keys: PathBuf,
}

impl Place {
    fn new() -> Result<Place> {
        let folder = tempfile::tempdir()?;
        let keys = folder.path().join(".hermes/hermesd/keys");
        Ok(Place { folder, keys })
    }

    fn make(&self, format: Format, name: &str) -> Result<PublicKey> {
        let private = self.folder.path().join(name);
        let new = NewKey { format, user: name, private: &private, passphrase: None };
        Ok(keyring::generate(&self.keys, &new, now())?)
    }
}

fn mode(path: &Path) -> Result<u32> {
    Ok(path.metadata()?.permissions().mode() & 0o777)
}

#[test]
fn keys_are_kept_as_files_that_only_their_owner_reads() -> Result<()> {
    let place = Place::new()?;
    let gpg = place.make(Format::Gpg, "mira")?;
    let age = place.make(Format::Age, "ben")?;
    assert_eq!(mode(&place.keys)?, 0o700);
    assert_eq!(mode(&place.keys.join(format!("{}.asc", gpg.id)))?, 0o600);
    assert_eq!(mode(&place.keys.join(format!("{}.age", age.id)))?, 0o600);
    assert_eq!(mode(&place.folder.path().join("mira"))?, 0o600);
    assert_eq!(keyring::list(&place.keys)?, vec![gpg.clone(), age.clone()]);
    for file in std::fs::read_dir(&place.keys)? {
        let text = std::fs::read_to_string(file?.path())?;
        assert!(!text.contains("PRIVATE") && !text.contains("SECRET"), "{text}");
    }
    assert_eq!(keyring::remove(&place.keys, &gpg.id)?, gpg);
    assert_eq!(keyring::list(&place.keys)?, vec![age]);
    assert!(keyring::list(&place.folder.path().join("nowhere"))?.is_empty());
    Ok(())
}

#[test]
fn a_key_is_found_by_its_fingerprint_or_the_end_of_it() -> Result<()> {
    let place = Place::new()?;
    let key = place.make(Format::Gpg, "mira")?;
    let end = &key.id[24..];
    let spaced = format!("{} {}", &key.id[..20], &key.id[20..]);
    for name in [key.id.clone(), end.to_owned(), format!("0x{}", end.to_lowercase()), spaced] {
        let sealing = keyring::sealing_to(&place.keys, slice::from_ref(&name), now())?;
        assert_eq!(sealing.encrypted_to(), vec![key.id.clone()], "{name}");
    }
    let too_short = &key.id[36..];
    for name in ["0123456789ABCDEF", too_short, "", "age1nothing"] {
        let error = keyring::sealing_to(&place.keys, &[name.to_owned()], now());
        let error = error.expect_err("refused").to_string();
        assert!(error.contains("has no such key"), "{error}");
    }
    Ok(())
}

#[test]
fn no_recipient_is_refused_and_so_is_a_mix_of_two_kinds() -> Result<()> {
    let place = Place::new()?;
    let gpg = place.make(Format::Gpg, "mira")?.id;
    let age = place.make(Format::Age, "ben")?.id;
    let none = keyring::sealing_to(&place.keys, &[], now());
    assert!(matches!(none, Err(Error::NotEncrypted)));
    let mixed = keyring::sealing_to(&place.keys, &[gpg, age], now());
    assert!(matches!(mixed, Err(Error::CannotEncrypt { .. })));
    for empty in [Sealing::Gpg(Vec::new()), Sealing::Age(Vec::new())] {
        let error = sealed(&empty, b"text").expect_err("refused");
        assert!(matches!(error.downcast_ref(), Some(Error::NotEncrypted)), "never in the open");
    }
    Ok(())
}

#[test]
fn private_keys_are_refused_with_the_command_that_gives_the_public_one() -> Result<()> {
    let place = Place::new()?;
    for (format, name, command) in [
        (Format::Gpg, "mira", "`gpg --armor --export "),
        (Format::Age, "ben", "`age-keygen -y FILE`"),
    ] {
        let key = place.make(format, name)?;
        let private = std::fs::read(place.folder.path().join(name))?;
        let other = tempfile::tempdir()?;
        let error = keyring::import(other.path(), &private, now()).expect_err("refused");
        assert!(error.to_string().contains("private key"), "{error}");
        let hint = error.hint().context("a hint")?;
        assert!(hint.contains(command), "{hint}");
        assert!(format == Format::Age || hint.contains(&key.id), "{hint}");
        assert_eq!(std::fs::read_dir(other.path())?.count(), 0);
    }
    Ok(())
}

#[test]
fn what_is_no_key_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for bytes in [
        &b""[..],
        b"hello",
        b"age1abc",
        b"\x99\x00",
        b"\xff\xff\xff",
        b"ssh-ed25519 AAAA",
        b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n-----END PGP PUBLIC KEY BLOCK-----\n",
    ] {
        let error = keyring::import(folder.path(), bytes, now()).expect_err("refused");
        assert!(matches!(error, Error::CannotEncrypt { .. }), "{bytes:?}: {error}");
    }
    Ok(())
}

#[test]
fn a_key_file_that_was_exchanged_or_damaged_is_refused() -> Result<()> {
    let place = Place::new()?;
    let key = place.make(Format::Gpg, "mira")?;
    let other = Place::new()?.make(Format::Gpg, "eve")?;
    for bytes in [other.bytes, key.bytes[..key.bytes.len() / 2].to_vec(), Vec::new()] {
        write(&place.keys, &format!("{}.asc", key.id), &bytes)?;
        let error = keyring::sealing_to(&place.keys, slice::from_ref(&key.id), now());
        let error = error.expect_err("refused");
        assert!(error.to_string().contains("key file"), "{error}");
    }
    Ok(())
}

#[test]
fn a_new_private_key_is_never_written_below_the_home_or_over_a_file() -> Result<()> {
    let place = Place::new()?;
    let home = place.folder.path().join(".hermes");
    let inside = home.join("hermesd");
    std::fs::create_dir_all(&inside)?;
    let link = place.folder.path().join("link");
    std::os::unix::fs::symlink(&inside, &link)?;
    let taken = write(place.folder.path(), "taken", b"mine")?;
    let missing = place.folder.path().join("no/such/folder/key");
    for private in [home.join("key"), inside.join("key"), link.join("key"), taken, missing] {
        for format in [Format::Gpg, Format::Age] {
            let new = NewKey { format, user: "mira", private: &private, passphrase: None };
            let error = keyring::generate(&place.keys, &new, now());
            assert!(error.is_err(), "{}", private.display());
        }
    }
    assert_eq!(std::fs::read(place.folder.path().join("taken"))?, b"mine");
    assert!(keyring::list(&place.keys)?.is_empty());
    Ok(())
}

#[test]
fn a_passphrase_file_gives_its_first_line() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for text in ["word with spaces ", "word with spaces \n", "word with spaces \r\nmore\n"] {
        let path = write(folder.path(), "word", text.as_bytes())?;
        let word = Passphrase::from_file(&path)?;
        assert_eq!(format!("{word:?}"), "Passphrase(hidden)");
        let (archive, _) = sealed(&Sealing::GpgPassphrase(word), b"text")?;
        let keys = Keys::read(&[], Some(passphrase("word with spaces ")))?;
        assert_eq!(opened(&archive, &keys)?, b"text");
    }
    Ok(())
}

#[test]
fn a_passphrase_file_that_is_empty_or_open_to_others_is_refused() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for text in ["", "\n", "\nword\n"] {
        let path = write(folder.path(), "word", text.as_bytes())?;
        let error = Passphrase::from_file(&path).expect_err("refused").to_string();
        assert!(error.contains("empty line"), "{error}");
    }
    let path = write(folder.path(), "word", b"word\n")?;
    for mode in [0o640, 0o604, 0o620, 0o644] {
        std::fs::set_permissions(&path, Permissions::from_mode(mode))?;
        let hint = Passphrase::from_file(&path).expect_err("refused").hint().context("a hint")?;
        assert_eq!(hint, format!("`chmod 600 {}`", path.display()));
    }
    assert!(Passphrase::from_file(&folder.path().join("none")).is_err());
    Ok(())
}

#[test]
fn files_that_hold_no_private_key_are_no_identity() -> Result<()> {
    let place = Place::new()?;
    let gpg = place.make(Format::Gpg, "mira")?;
    let age = place.make(Format::Age, "ben")?;
    let folder = place.folder.path();
    for bytes in [gpg.bytes, age.bytes, b"hello".to_vec(), Vec::new()] {
        let path = write(folder, "identity", &bytes)?;
        let error = Keys::read(&[path], None).expect_err("refused");
        assert!(matches!(error, Error::Setting { .. }), "{error}");
    }
    assert!(Keys::read(&[folder.join("none")], None).is_err());
    assert!(Keys::read(&[], None)?.is_empty());
    Ok(())
}

#[test]
fn a_kit_says_how_to_open_the_backups_and_holds_no_secret_unless_it_is_given() -> Result<()> {
    let place = Place::new()?;
    let gpg = place.make(Format::Gpg, "mira")?;
    let age = place.make(Format::Age, "ben")?;
    let backups = Path::new("/srv/.hermes-backups");
    let day = "2026-11-16T08:00:00Z".parse()?;
    let kit = |keys: &[PublicKey], private: Option<&[u8]>| {
        let (passphrase_file, places) = (None, &[]);
        let signed_by = Some("0123-4567");
        keyring::kit(&Kit { keys, private, passphrase_file, signed_by, backups, places, now: day })
    };
    let page = kit(&[gpg.clone(), age.clone()], None);
    for part in [
        "2026-11-16",
        "/srv/.hermes-backups",
        &gpg.id[..4],
        &age.id,
        "gpg --import KEYFILE",
        "gpg --decrypt FILE | tar --zstd -x",
        "gpg --decrypt FILE | tar -xz",
        "age --decrypt -i KEYFILE FILE | tar --zstd -x",
        "age --decrypt -i KEYFILE FILE | tar -xz",
        "THE PRIVATE KEY IS NOT ON THIS PAGE",
    ] {
        assert!(page.contains(part), "{part} is missing in\n{page}");
    }
    assert!(!page.contains("BEGIN PGP") && !page.contains("SECRET"), "{page}");
    for (key, name) in [(gpg, "mira"), (age, "ben")] {
        let private = std::fs::read(place.folder.path().join(name))?;
        let page = kit(&[key], Some(&private));
        assert!(page.contains(std::str::from_utf8(&private)?.trim()), "{page}");
    }
    let page = kit(&[], None);
    assert!(page.contains("They are opened with a passphrase"), "{page}");
    assert!(page.contains("age --decrypt FILE | tar --zstd -x"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "fits a page");
    Ok(())
}

#[test]
fn a_kit_of_a_passphrase_names_its_file_and_never_its_words() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("phrase");
    hermes_home::atomic::write_private(&file, b"correct horse battery\n")?;
    let page = keyring::kit(&Kit {
        signed_by: None,
        keys: &[],
        private: None,
        passphrase_file: Some(&file),
        backups: Path::new("/srv/.hermes-backups"),
        places: &["ssh://nas/srv".to_owned()],
        now: "2026-11-16T08:00:00Z".parse()?,
    });
    for part in [
        file.to_str().context("a path")?,
        "ssh://nas/srv",
        "gpg --decrypt FILE | tar --zstd -x",
        "age --decrypt FILE | tar --zstd -x",
        "hermes backup restore FILE --passphrase-file PHRASEFILE",
        "THE PASSPHRASE IS NOT ON THIS PAGE",
    ] {
        assert!(page.contains(part), "{part} is missing in\n{page}");
    }
    assert!(!page.contains("horse") && !page.contains("KEYFILE"), "{page}");
    Ok(())
}

#[test]
fn the_key_of_one_archive_does_not_open_another() -> Result<()> {
    let place = Place::new()?;
    for format in [Format::Gpg, Format::Age] {
        let key = place.make(format, if format == Format::Age { "ben" } else { "mira" })?;
        let sealing = keyring::sealing_to(&place.keys, &[key.id], now())?;
        let (one, keys) = sealed(&sealing, b"text")?;
        let (other, _) = sealed(&sealing, b"text")?;
        assert_eq!(opened(&one, &keys)?, b"text");
        assert!(opened(&other, &keys).is_err());
        assert_eq!(format!("{keys:?}").matches("hidden").count(), 1);
    }
    Ok(())
}
