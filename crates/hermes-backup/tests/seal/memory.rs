//! The memory that a long stream takes is that of a short one.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use hermes_backup::name::Format;
use hermes_backup::seal::keyring::{self, NewKey};
use hermes_backup::seal::{self, Keys, Sealing};
use pgp::composed::{ArmorOptions, MessageBuilder};
use pgp::crypto::sym::SymmetricKeyAlgorithm;
use pgp::types::{Password, StringToKey};
use rand::rngs::OsRng;

use crate::support::{Noise, full, now, passphrase};

/// What the child is told: how to encrypt, and how many bytes.
const ORDER: &str = "SEAL_TEST_ORDER";

#[test]
fn a_long_stream_takes_no_more_memory_than_a_short_one() -> Result<()> {
    let megabytes = if full() { 1024 } else { 64 };
    for mode in ["gpg", "age", "gpg-passphrase", "gpg-armoured", "age-passphrase", "plain"] {
        let (short, long) = (peak(mode, 4)?, peak(mode, megabytes)?);
        show(mode, short, megabytes, long);
        assert!(long < short + 4 * 1024, "{mode}: {short} KiB, then {long} KiB");
        // a passphrase of age alone takes 64 MiB
        let most = if mode == "age-passphrase" { 96 } else { 32 };
        assert!(long < most * 1024, "{mode}: {long} KiB");
    }
    Ok(())
}

#[expect(clippy::print_stderr, reason = "the figure is what a person runs this for")]
fn show(mode: &str, short: u64, megabytes: u64, long: u64) {
    eprintln!("{mode}: peak {short} KiB for 4 MB, {long} KiB for {megabytes} MB");
}

/// The most memory that a process of its own had, in KiB.
fn peak(mode: &str, megabytes: u64) -> Result<u64> {
    let output = Command::new(std::env::current_exe()?)
        .args(["--ignored", "--exact", "memory::as_ordered", "--nocapture"])
        .env(ORDER, format!("{mode} {megabytes}"))
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let line = printed.lines().find_map(|line| line.split("peak=").nth(1));
    let text = line
        .with_context(|| format!("{mode}: {printed}{}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(text.trim().parse()?)
}

#[test]
#[ignore = "run by the test above in a process of its own"]
#[expect(clippy::print_stdout, reason = "the answer to the process that asked")]
fn as_ordered() -> Result<()> {
    let Some((_, order)) = std::env::vars().find(|(name, _)| name == ORDER) else { return Ok(()) };
    let (mode, megabytes) = order.split_once(' ').context("an order")?;
    through(mode, megabytes.parse::<u64>()? * 1024 * 1024)?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("a peak")?;
    println!("\npeak={}", line.trim().trim_end_matches(" kB"));
    Ok(())
}

/// Encrypts a stream into a file and reads it back.
fn through(mode: &str, length: u64) -> Result<()> {
    let place = tempfile::tempdir()?;
    let path = place.path().join("archive");
    let keys = if mode == "gpg-armoured" {
        armoured(length, &path)?
    } else {
        seal::seal(&sealing(place.path(), mode)?, Noise::new(length), File::create(&path)?)?
    };
    let mut reader = seal::open(&path, &keys)?;
    let mut expected = Noise::new(length);
    let (mut one, mut other) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        let read = reader.read(&mut one)?;
        if read == 0 {
            break;
        }
        expected.read_exact(&mut other[..read])?;
        ensure!(one[..read] == other[..read], "the content differs");
    }
    ensure!(expected.read(&mut other)? == 0, "it ends too early");
    Ok(())
}

/// An armoured archive, as others make them.
fn armoured(length: u64, path: &Path) -> Result<Keys> {
    let mut message = MessageBuilder::from_reader("", Noise::new(length))
        .seipd_v1(OsRng, SymmetricKeyAlgorithm::AES256);
    message.encrypt_with_password(StringToKey::new_default(OsRng), &Password::from("word"))?;
    message.to_armored_writer(OsRng, ArmorOptions::default(), File::create(path)?)?;
    Ok(Keys::read(&[], Some(passphrase("word")))?)
}

fn sealing(place: &Path, mode: &str) -> Result<Sealing> {
    let format = match mode {
        "plain" => return Ok(Sealing::Plain),
        "gpg-passphrase" => return Ok(Sealing::GpgPassphrase(passphrase("word"))),
        "age-passphrase" => return Ok(Sealing::AgePassphrase(passphrase("word"))),
        "age" => Format::Age,
        _ => Format::Gpg,
    };
    let folder = place.join("home/hermesd/keys");
    let private = place.join("private");
    let key = keyring::generate(
        &folder,
        &NewKey { format, user: "mira", private: &private, passphrase: None },
        now(),
    )?;
    Ok(keyring::sealing_to(&folder, &[key.id], now())?)
}
