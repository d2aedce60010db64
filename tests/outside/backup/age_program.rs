//! What we encrypt the stock age program opens, and the reverse.

use std::path::Path;
use std::process::Command;
use std::slice;

use anyhow::{Context, Result, bail};
use hermes_backup::Error;
use hermes_backup::name::Format;
use hermes_backup::seal::keyring::{self, NewKey};
use hermes_backup::seal::{Keys, Sealing};

use crate::gpg_program::fed;
use crate::sealing::{noise, now, opened, passphrase, sealed, write};

fn text() -> Vec<u8> {
    noise(300_001)
}

fn run(program: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>> {
    let mut command = Command::new(program);
    command.args(arguments);
    let output = fed(command, input)?;
    if !output.status.success() {
        bail!("{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// An identity of age-keygen: its file and its public key.
fn identity(folder: &Path, name: &str) -> Result<(String, String)> {
    let file = folder.join(name).to_str().context("a path")?.to_owned();
    run("age-keygen", &["-o", &file], b"")?;
    let public = String::from_utf8(run("age-keygen", &["-y", &file], b"")?)?;
    Ok((file, public.trim().to_owned()))
}

#[test]
fn an_age_identity_works_both_ways() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (file, public) = identity(folder.path(), "key")?;
    let text = text();
    let kept = folder.path().join("keys");
    let key = keyring::import(&kept, format!("{public}\n").as_bytes(), now())?;
    let (archive, in_memory) = sealed(&keyring::sealing_to(&kept, &[key.id], now())?, &text)?;
    assert!(run("age", &["--decrypt", "-i", &file], &archive)? == text);
    let header = String::from_utf8_lossy(&archive[..400]);
    assert_eq!(header.matches("-> X25519").count(), 1, "no further recipient is in the header");
    let keys = Keys::read(&[file.into()], None)?;
    assert!(opened(&archive, &keys)? == text);
    assert!(opened(&archive, &in_memory)? == text);
    for form in [&["-r", &public][..], &["--armor", "-r", &public]] {
        assert!(opened(&run("age", form, &text)?, &keys)? == text, "{form:?}");
    }
    Ok(())
}

#[test]
fn each_of_two_age_recipients_opens_it_alone_and_a_third_does_not() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (one, first) = identity(folder.path(), "one")?;
    let (other, second) = identity(folder.path(), "other")?;
    let (third, _) = identity(folder.path(), "third")?;
    let sealing = keyring::sealing_to(folder.path(), &[first, second], now())?;
    let (archive, _) = sealed(&sealing, b"for both")?;
    for file in [one, other] {
        assert_eq!(run("age", &["--decrypt", "-i", &file], &archive)?, b"for both");
        assert_eq!(opened(&archive, &Keys::read(&[file.into()], None)?)?, b"for both");
    }
    let error = opened(&archive, &Keys::read(&[third.into()], None)?).expect_err("refused");
    assert!(matches!(error.downcast_ref(), Some(Error::WrongKey { .. })), "{error}");
    let error = opened(&archive, &Keys::default()).expect_err("refused");
    let to = "an age recipient (X25519)";
    assert!(matches!(error.downcast_ref(), Some(Error::NoKey { to: t, .. }) if t == to), "{error}");
    Ok(())
}

#[test]
fn an_identity_that_we_make_works_in_age_both_ways() -> Result<()> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join("home/hermesd/keys");
    let private = place.path().join("key.txt");
    let new = NewKey { format: Format::Age, user: "Mira", private: &private, passphrase: None };
    let made = keyring::generate(&folder, &new, now())?;
    let file = private.to_str().context("a path")?;
    assert_eq!(run("age-keygen", &["-y", file], b"")?, format!("{}\n", made.id).as_bytes());
    let (archive, _) =
        sealed(&keyring::sealing_to(&folder, slice::from_ref(&made.id), now())?, b"text")?;
    assert_eq!(run("age", &["--decrypt", "-i", file], &archive)?, b"text");
    let theirs = run("age", &["-r", &made.id], b"text")?;
    assert_eq!(opened(&theirs, &Keys::read(slice::from_ref(&private), None)?)?, b"text");
    Ok(())
}

/// Runs a command line on a terminal of its own, on which these lines are typed.
fn typed(line: &str, words: &[&str]) -> Result<()> {
    let mut command = Command::new("script");
    command.args(["-qec", line, "/dev/null"]);
    let typed: String = words.iter().map(|word| format!("{word}\n")).collect();
    let output = fed(command, typed.as_bytes())?;
    if !output.status.success() {
        bail!("{line}: {}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}

#[test]
fn a_passphrase_works_in_age_both_ways() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let at = |name: &str| folder.path().join(name).display().to_string();
    let word = "horse battery staple";
    let text = text();
    let (archive, keys) = sealed(&Sealing::AgePassphrase(passphrase(word)), &text)?;
    write(folder.path(), "ours.age", &archive)?;
    typed(&format!("age --decrypt -o {} {}", at("opened"), at("ours.age")), &[word])?;
    assert!(std::fs::read(at("opened"))? == text, "age reads ours");
    assert!(opened(&archive, &keys)? == text);
    write(folder.path(), "plain", &text)?;
    typed(&format!("age --passphrase -o {} {}", at("theirs"), at("plain")), &[word, word])?;
    let theirs = std::fs::read(at("theirs"))?;
    assert!(opened(&theirs, &keys)? == text, "we read age's");
    let wrong = Keys::read(&[], Some(passphrase("wrong")))?;
    let error = opened(&theirs, &wrong).expect_err("refused");
    assert!(matches!(error.downcast_ref(), Some(Error::WrongKey { .. })), "{error}");
    let error = opened(&theirs, &Keys::default()).expect_err("refused");
    let none =
        matches!(error.downcast_ref(), Some(Error::NoKey { to, .. }) if to == "a passphrase");
    assert!(none, "{error}");
    Ok(())
}

#[test]
fn a_protected_identity_that_we_make_works_in_age_and_needs_its_passphrase() -> Result<()> {
    let place = tempfile::tempdir()?;
    let folder = place.path().join("home/hermesd/keys");
    let private = place.path().join("key.age");
    let word = passphrase("over the hills");
    let new = NewKey { format: Format::Age, user: "", private: &private, passphrase: Some(&word) };
    let made = keyring::generate(&folder, &new, now())?;
    let (archive, _) = sealed(&keyring::sealing_to(&folder, &[made.id], now())?, b"text")?;
    let file = write(place.path(), "archive.age", &archive)?;
    let out = place.path().join("opened");
    let line = format!("age -d -i {} -o {} {}", private.display(), out.display(), file.display());
    typed(&line, &["over the hills"])?;
    assert_eq!(std::fs::read(&out)?, b"text");
    let read = |word| Keys::read(slice::from_ref(&private), word);
    assert_eq!(opened(&archive, &read(Some(word))?)?, b"text");
    for word in [None, Some(passphrase("x"))] {
        let error = opened(&archive, &read(word)?).expect_err("refused");
        assert!(matches!(error.downcast_ref(), Some(Error::WrongKey { .. })), "{error}");
    }
    Ok(())
}
