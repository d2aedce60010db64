//! Archives that other programs made come back: of the real Hermes Agent, of tar with zstd, through gpg.

use std::process::Command;

use hermes_backup::seal::Keys;

use crate::places::run;
use crate::sandbox::Sandbox;

/// The real package makes the zip; `./test` says where its Python is.
#[test]
fn the_zip_that_the_real_hermes_agent_made_comes_back() {
    let named = std::env::vars().find(|(name, _)| name == "HERMES_TEST_PEER");
    let (_, python) = named.expect("HERMES_TEST_PEER is not set: run `./test`, which installs it");
    let (old, new) = (Sandbox::filled(), Sandbox::empty());
    let archive = old.path().join("peer.zip");
    run(Command::new(python)
        .args(["-m", "hermes_cli.main", "backup", "--output"])
        .arg(&archive)
        .env("HERMES_HOME", old.root())
        .env("HOME", old.path()));
    new.restore(&archive).unwrap();
    assert_eq!(new.said("state.db").len(), 2);
    assert_eq!(new.read("memories/MEMORY.md"), old.read("memories/MEMORY.md"));
    assert_eq!(new.said("profiles/coder/state.db").len(), 1);
}

#[test]
fn a_tar_through_zstd_comes_back() {
    let (old, new) = (Sandbox::filled(), Sandbox::empty());
    let archive = old.path().join("a.tar.zst");
    run(Command::new("tar")
        .args(["--zstd", "-cf"])
        .arg(&archive)
        .arg("-C")
        .arg(old.root())
        .arg("."));
    new.restore(&archive).unwrap();
    assert_eq!(new.read("memories/MEMORY.md"), old.read("memories/MEMORY.md"));
    assert_eq!(new.said("state.db").len(), 2);
}

#[test]
fn a_tar_through_gpg_comes_back() {
    let old = Sandbox::filled();
    let gnupg = tempfile::Builder::new().prefix("g").tempdir_in("/tmp").unwrap();
    let plain = old.path().join("p.tar.gz");
    run(Command::new("tar").arg("-czf").arg(&plain).arg("-C").arg(old.root()).arg("."));
    let sealed = old.path().join("home.tar.gz.gpg");
    let word = old.path().join("word");
    hermes_home::atomic::write(&word, b"a word\n").unwrap();
    let home = gnupg.path();
    run(Command::new("gpg")
        .args(["--batch", "--no-tty", "--disable-dirmngr", "--no-auto-key-locate", "--homedir"])
        .arg(home)
        .args(["--pinentry-mode", "loopback", "--passphrase-file"])
        .arg(&word)
        .args(["--s2k-count", "65536", "--symmetric", "-o"])
        .arg(&sealed)
        .arg(&plain));
    run(Command::new("gpgconf").arg("--homedir").arg(home).args(["--kill", "all"]));
    let word = hermes_backup::seal::Passphrase::from_file(&word).unwrap();
    let new = Sandbox::empty();
    let keys = Keys::read(&[], Some(word)).unwrap();
    new.restore_with(&sealed, &keys).unwrap();
    assert_eq!(new.said("state.db").len(), 2);
}
