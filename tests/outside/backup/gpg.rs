//! What we encrypt stock gpg opens, and the reverse; keys that cannot encrypt are refused.

use std::slice;

use anyhow::{Context, Result};
use hermes_backup::Error;
use hermes_backup::name::Format;
use hermes_backup::seal::keyring::{self, NewKey};
use hermes_backup::seal::{Keys, Sealing};

use crate::gpg_program::{Gpg, commands};
use crate::sealing::{Case, full, noise, now, opened, passphrase, sealed, write};

const USER: &str = "Mira <mira@example.org>";

/// The text of several partial chunks, and odd.
fn text() -> Vec<u8> {
    noise(2_500_001)
}

fn sealing_of(gpg: &Gpg, user: &str) -> Result<Sealing> {
    let folder = tempfile::tempdir()?;
    let key = keyring::import(folder.path(), &gpg.public(user)?, now())?;
    Ok(keyring::sealing_to(folder.path(), &[key.id], now())?)
}

fn private_keys(gpg: &Gpg, user: &str) -> Result<Keys> {
    let folder = tempfile::tempdir()?;
    let file = write(folder.path(), "private.asc", &gpg.private(user)?)?;
    Ok(Keys::read(&[file], None)?)
}

/// Both ways for one key: ours to gpg, gpg's binary and armoured output to ours.
fn both_ways(gpg: &Gpg, user: &str) -> Result<()> {
    let text = text();
    let (archive, in_memory) = sealed(&sealing_of(gpg, user)?, &text)?;
    assert!(gpg.run(&["--decrypt"], &archive)? == text, "gpg reads ours");
    assert!(opened(&archive, &in_memory)? == text, "the session key reads ours");
    let keys = private_keys(gpg, user)?;
    assert!(opened(&archive, &keys)? == text, "the private key reads ours");
    for form in [&["--encrypt"][..], &["--armor", "--encrypt"], &["-z", "0", "--encrypt"]] {
        let archive = gpg.run(&[form, &["--recipient", user]].concat(), &text)?;
        assert!(opened(&archive, &keys)? == text, "we read gpg {form:?}");
    }
    let signed = gpg.run(&["--sign", "--encrypt", "--recipient", user], &text)?;
    assert!(opened(&signed, &keys)? == text, "we read what is signed, too");
    Ok(())
}

#[test]
fn an_elliptic_key_of_gpg_works_both_ways() -> Result<()> {
    let gpg = Gpg::new()?;
    gpg.new_key(USER, &["future-default", "default", "never"])?;
    both_ways(&gpg, USER)
}

#[test]
fn a_sign_only_rsa_key_is_refused_and_the_hinted_command_makes_it_work_both_ways() -> Result<()> {
    let gpg = Gpg::new()?;
    gpg.new_key(USER, &["rsa4096", "sign", "0"])?;
    refused_then_mended(&gpg, "it can sign, but has no subkey for encryption")?;
    both_ways(&gpg, USER)
}

#[test]
fn an_rsa_key_of_the_default_usage_is_refused_and_the_hinted_command_makes_it_work() -> Result<()> {
    let gpg = Gpg::new()?;
    gpg.new_key(USER, &["rsa4096", "default", "never"])?;
    refused_then_mended(&gpg, "it can sign, but has no subkey for encryption")
}

/// Imports the key in vain, does what the hint says, and imports what its last command prints.
fn refused_then_mended(gpg: &Gpg, why: &str) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let error = keyring::import(folder.path(), &gpg.public(USER)?, now()).expect_err("refused");
    assert!(error.to_string().contains(why), "{error}");
    assert!(error.to_string().contains(&gpg.fingerprint(USER)?), "{error}");
    assert!(keyring::list(folder.path())?.is_empty());
    let mut printed = Vec::new();
    for command in commands(&error.hint().context("a hint")?) {
        printed = gpg.shell(&command)?;
    }
    let key = keyring::import(folder.path(), &printed, now())?;
    let (archive, _) = sealed(&keyring::sealing_to(folder.path(), &[key.id], now())?, b"text")?;
    assert_eq!(gpg.run(&["--decrypt"], &archive)?, b"text");
    Ok(())
}

#[test]
fn an_expired_key_is_refused_at_import_and_at_sealing_and_the_hint_prolongs_it() -> Result<()> {
    let gpg = Gpg::new()?;
    let old = ["--faked-system-time", "20200101T000000"];
    let make =
        ["--passphrase", "", "--quick-generate-key", USER, "future-default", "default", "1y"];
    gpg.run(&[&old[..], &make].concat(), b"")?;
    let folder = tempfile::tempdir()?;
    let then = "2020-06-01T00:00:00Z".parse()?;
    let key = keyring::import(folder.path(), &gpg.public(USER)?, then)?;
    assert_eq!(key.expires, Some("2020-12-31T00:00:00Z".parse()?));
    assert_eq!(keyring::list(folder.path())?.len(), 1);
    assert!(keyring::sealing_to(folder.path(), slice::from_ref(&key.id), then).is_ok());
    let error = keyring::sealing_to(folder.path(), &[key.id], now()).expect_err("refused");
    assert!(error.to_string().contains("expired on 2020-12-31"), "{error}");
    refused_then_mended(&gpg, "expired on 2020-12-31")
}

#[test]
fn a_key_whose_encryption_subkey_alone_expired_is_refused() -> Result<()> {
    let gpg = Gpg::new()?;
    let key = gpg.new_key(USER, &["ed25519", "sign", "never"])?;
    let old = (now() - jiff::SignedDuration::from_hours(48)).strftime("%Y%m%dT%H%M%S").to_string();
    let add = ["--passphrase", "", "--quick-add-key", &key, "cv25519", "encr", "1d"];
    // the subkey is older than the key here, which gpg and we take all the same
    gpg.run(
        &[&["--faked-system-time", &old][..], &["--ignore-time-conflict"], &add].concat(),
        b"",
    )?;
    let folder = tempfile::tempdir()?;
    let error = keyring::import(folder.path(), &gpg.public(USER)?, now()).expect_err("refused");
    assert!(error.to_string().contains("its encryption subkey expired on"), "{error}");
    Ok(())
}

#[test]
fn a_revoked_key_is_refused_and_so_is_one_whose_encryption_subkey_is_revoked() -> Result<()> {
    let gpg = Gpg::new()?;
    let key = gpg.new_key(USER, &["future-default", "default", "never"])?;
    let folder = tempfile::tempdir()?;
    let good = keyring::import(folder.path(), &gpg.public(USER)?, now())?;
    let edit = ["--yes", "--command-fd", "0", "--edit-key", &key];
    gpg.run(&edit, b"key 1\nrevkey\ny\n0\n\ny\nsave\n")?;
    let error = keyring::import(folder.path(), &gpg.public(USER)?, now()).expect_err("refused");
    assert!(error.to_string().contains("its encryption subkey was revoked"), "{error}");
    gpg.run(&edit, b"revkey\ny\n0\n\ny\nsave\n")?;
    let revoked = gpg.public(USER)?;
    let error = keyring::import(folder.path(), &revoked, now()).expect_err("refused");
    assert!(error.to_string().contains("was revoked"), "{error}");
    let hint = error.hint().context("a hint")?;
    assert!(
        hint.contains("--quick-generate-key 'Mira <mira@example.org>' future-default"),
        "{hint}"
    );
    write(folder.path(), &format!("{}.asc", good.id), &revoked)?;
    let error = keyring::sealing_to(folder.path(), &[good.id], now()).expect_err("refused");
    assert!(error.to_string().contains("was revoked"), "{error}");
    assert_eq!(keyring::list(folder.path())?.len(), 1, "it is listed all the same");
    Ok(())
}

#[test]
fn a_second_subkey_takes_over_from_a_revoked_one() -> Result<()> {
    let gpg = Gpg::new()?;
    let key = gpg.new_key(USER, &["future-default", "default", "never"])?;
    gpg.run(&["--passphrase", "", "--quick-add-key", &key, "cv25519", "encr", "never"], b"")?;
    let edit = ["--yes", "--command-fd", "0", "--edit-key", &key];
    gpg.run(&edit, b"key 1\nrevkey\ny\n0\n\ny\nsave\n")?;
    let (archive, _) = sealed(&sealing_of(&gpg, USER)?, b"text")?;
    let listed = gpg.run(&["--list-packets"], &archive)?;
    assert_eq!(String::from_utf8_lossy(&listed).matches(":pubkey enc packet:").count(), 1);
    assert_eq!(gpg.run(&["--decrypt"], &archive)?, b"text");
    Ok(())
}

#[test]
fn a_passphrase_works_both_ways() -> Result<()> {
    let gpg = Gpg::new()?;
    let text = text();
    let word = "korrekt Pferd 🐎 Batterie";
    let file = write(gpg.home.path(), "word", word.as_bytes())?;
    let file = file.to_str().context("a path")?;
    let (archive, keys) = sealed(&Sealing::GpgPassphrase(passphrase(word)), &text)?;
    assert!(gpg.run(&["--passphrase-file", file, "--decrypt"], &archive)? == text);
    assert!(opened(&archive, &keys)? == text);
    for form in [&["--symmetric"][..], &["--armor", "--cipher-algo", "AES256", "--symmetric"]] {
        let archive = gpg.run(&[&["--passphrase-file", file], form].concat(), &text)?;
        assert!(opened(&archive, &keys)? == text, "we read gpg {form:?}");
        for wrong in ["korrekt", "", "x", "yz"] {
            let keys = Keys::read(&[], Some(passphrase(wrong)))?;
            let error = opened(&archive, &keys).expect_err("refused");
            let error = error.downcast_ref::<Error>().context("ours")?;
            assert!(matches!(error, Error::WrongKey { .. }), "{error}");
        }
    }
    Ok(())
}

#[test]
fn each_of_two_recipients_opens_it_alone() -> Result<()> {
    let (one, other) = (Gpg::new()?, Gpg::new()?);
    one.new_key(USER, &["future-default", "default", "never"])?;
    other.new_key("Ben <ben@example.org>", &["future-default", "default", "never"])?;
    let folder = tempfile::tempdir()?;
    let first = keyring::import(folder.path(), &one.public(USER)?, now())?;
    let second = keyring::import(folder.path(), &other.public("Ben")?, now())?;
    let sealing = keyring::sealing_to(folder.path(), &[first.id, second.id], now())?;
    let (archive, _) = sealed(&sealing, b"for both")?;
    assert_eq!(one.run(&["--decrypt"], &archive)?, b"for both");
    assert_eq!(other.run(&["--decrypt"], &archive)?, b"for both");
    assert_eq!(opened(&archive, &private_keys(&one, USER)?)?, b"for both");
    assert_eq!(opened(&archive, &private_keys(&other, "Ben")?)?, b"for both");
    Ok(())
}

#[test]
fn a_key_that_we_make_works_in_gpg_both_ways() -> Result<()> {
    for word in [None, Some(passphrase("over the hills"))] {
        let gpg = Gpg::new()?;
        let place = tempfile::tempdir()?;
        let folder = place.path().join("home/hermesd/keys");
        let private = place.path().join("private.asc");
        let new = NewKey {
            format: Format::Gpg,
            user: USER,
            private: &private,
            passphrase: word.as_ref(),
        };
        let made = keyring::generate(&folder, &new, now())?;
        assert_eq!((made.user.as_str(), made.expires), (USER, None));
        let passphrase = ["--passphrase", "over the hills"];
        let file = private.to_str().context("a path")?;
        gpg.run(&[&passphrase[..], &["--import", file]].concat(), b"")?;
        assert_eq!(gpg.fingerprint(USER)?, made.id);
        let (archive, _) = sealed(&keyring::sealing_to(&folder, &[made.id], now())?, b"text")?;
        assert_eq!(gpg.run(&[&passphrase[..], &["--decrypt"]].concat(), &archive)?, b"text");
        let theirs = gpg.run(&["--encrypt", "--recipient", USER], b"text")?;
        let keys = Keys::read(&[private], word)?;
        assert_eq!(opened(&theirs, &keys)?, b"text");
        assert_eq!(opened(&archive, &keys)?, b"text");
    }
    Ok(())
}

#[test]
fn a_protected_key_of_gpg_needs_its_passphrase() -> Result<()> {
    let gpg = Gpg::new()?;
    let make = ["--quick-generate-key", USER, "future-default", "default", "never"];
    gpg.run(&[&["--passphrase", "right"][..], &make].concat(), b"")?;
    let (archive, _) = sealed(&sealing_of(&gpg, USER)?, b"text")?;
    let private =
        gpg.run(&["--passphrase", "right", "--armor", "--export-secret-keys", USER], b"")?;
    let folder = tempfile::tempdir()?;
    let file = write(folder.path(), "private.asc", &private)?;
    let read = |word: Option<&str>| Keys::read(slice::from_ref(&file), word.map(passphrase));
    assert_eq!(opened(&archive, &read(Some("right"))?)?, b"text");
    let error = opened(&archive, &read(Some("wrong"))?).expect_err("refused").to_string();
    assert!(error.contains("the passphrase that was given does not unlock it"), "{error}");
    let error = opened(&archive, &read(None)?).expect_err("refused").to_string();
    assert!(error.contains("no passphrase was given for it"), "{error}");
    Ok(())
}

#[test]
fn without_the_right_key_the_error_says_for_whom_it_is() -> Result<()> {
    let gpg = Gpg::new()?;
    gpg.new_key(USER, &["future-default", "default", "never"])?;
    gpg.new_key("Ben <ben@example.org>", &["future-default", "default", "never"])?;
    let (archive, _) = sealed(&sealing_of(&gpg, USER)?, b"text")?;
    let listed = String::from_utf8(gpg.run(&["--with-colons", "--list-keys", USER], b"")?)?;
    let subkey = listed.lines().find(|line| line.starts_with("sub:")).context("a subkey")?;
    let id = subkey.split(':').nth(4).context("an id")?;
    for keys in [Keys::default(), Keys::read(&[], Some(passphrase("x")))?] {
        let error = opened(&archive, &keys).expect_err("refused");
        let error = error.downcast_ref::<Error>().context("ours")?;
        assert!(matches!(error, Error::NoKey { to, .. } if *to == format!("key {id}")), "{error}");
    }
    let error = opened(&archive, &private_keys(&gpg, "Ben")?).expect_err("refused");
    let error = error.downcast_ref::<Error>().context("ours")?;
    assert!(matches!(error, Error::WrongKey { why, .. } if why.contains(id)), "{error}");
    let (archive, _) = sealed(&Sealing::GpgPassphrase(passphrase("x")), b"text")?;
    for keys in [Keys::default(), private_keys(&gpg, "Ben")?] {
        let error = opened(&archive, &keys).expect_err("refused");
        let error = error.downcast_ref::<Error>().context("ours")?;
        assert!(matches!(error, Error::NoKey { to, .. } if to == "a passphrase"), "{error}");
    }
    Ok(())
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
