//! Changed archives are refused before any byte reaches the home.

use std::fs;
use std::path::Path;

use hermes_backup::Error;
use hermes_backup::contents::Scope;
use hermes_backup::name::Format;
use hermes_backup::restore::{self, From};
use hermes_backup::seal::{Keys, Sealing, keyring};
use hermes_backup::sign::{Signed, Trust};
use sha2::{Digest, Sha256};

use crate::sandbox::{Sandbox, is_full, now, tree};

/// Keys of one kind: how to encrypt, and what opens it.
fn keys(sandbox: &Sandbox, format: Format) -> (Sealing, Keys) {
    let private = sandbox.path().join(format!("{format:?}.key"));
    let new = keyring::NewKey {
        format,
        user: "Mira <m@example.org>",
        private: &private,
        passphrase: None,
    };
    let folder = sandbox.path().join("other/hermesd/keys");
    let public = keyring::generate(&folder, &new, now()).unwrap();
    let sealing = keyring::sealing_to(&folder, &[public.id], now()).unwrap();
    (sealing, Keys::read(&[private], None).unwrap())
}

/// Changes that whoever holds an archive could make; the number decides which.
fn change(bytes: &[u8], number: usize) -> Vec<u8> {
    let digest = Sha256::digest(number.to_le_bytes());
    let place = digest[..8].iter().fold(0usize, |sum, byte| (sum << 8) | usize::from(*byte));
    let place = place % bytes.len();
    let mut changed = bytes.to_vec();
    match number % 8 {
        0 => changed.truncate(place),
        1 => {
            changed.remove(place);
        }
        2 => changed.insert(place, digest[9]),
        3 => changed.extend(&digest[..=place % 20]),
        _ => changed[place] ^= 1 << (digest[10] % 8),
    }
    changed
}

/// Without what stands beside it the archive alone must tell; a few bits around the key of a message mean nothing,
/// so that what comes out is the same to the last byte.
fn refused_or_the_same(sandbox: &Sandbox, from: &From<'_>, number: usize) {
    let folder = sandbox.path().join("unpacked");
    if restore::to_folder(from, &folder, &mut |_| {}).is_err() {
        assert!(!folder.exists(), "change {number} left something");
        return;
    }
    let contents = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        let is_file = |path: &String| path != "state.db" && path != "profiles/coder/state.db";
        let files = tree(folder).into_iter().filter(|(path, _)| is_file(path));
        files.map(|(path, (_, content))| (path, content)).collect()
    };
    assert_eq!(contents(&folder), contents(&sandbox.root()), "change {number} went in");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn changed_archives_are_refused_before_any_byte_reaches_the_home() {
    let sandbox = Sandbox::filled();
    let sealed: Vec<_> = [Format::Gpg, Format::Age]
        .into_iter()
        .map(|format| {
            let (sealing, keys) = keys(&sandbox, format);
            (sandbox.backup_as(&sealing, Scope::All, format as u32), keys)
        })
        .collect();
    let before = tree(&sandbox.root());
    let beside = sandbox.beside();
    let count = if is_full() { 1000 } else { 100 };
    for (created, keys) in &sealed {
        let path = &created.backup.path;
        let sidecar = created.backup.sidecar.as_ref().unwrap();
        let whole = fs::read(path).unwrap();
        for number in 0..count {
            let changed = change(&whole, number);
            if changed == whole {
                continue;
            }
            hermes_home::atomic::write(path, &changed).unwrap();
            let sha256 = Some(sidecar.sha256.as_str());
            let from = From {
                archive: path,
                sha256,
                keys,
                signed: Signed::No,
                trust: Trust::Anybody,
                now: now(),
            };
            let refused = restore::whole(&from, &sandbox.home(), &mut |_| {}).unwrap_err();
            assert!(matches!(refused, Error::Tampered { .. }), "change {number}: {refused}");
            if number % 4 == 0 {
                refused_or_the_same(
                    &sandbox,
                    &From { sha256: None, signed: Signed::No, ..from },
                    number,
                );
            }
        }
        hermes_home::atomic::write(path, &whole).unwrap();
    }
    assert_eq!(tree(&sandbox.root()), before);
    assert_eq!(sandbox.beside(), beside, "something was left behind");
    for (created, keys) in &sealed {
        sandbox.restore_with(&created.backup.path, keys).unwrap();
    }
}

#[test]
fn an_old_archive_under_the_name_of_a_new_one_is_refused() {
    let sandbox = Sandbox::filled();
    let old = sandbox.backup_as(&Sealing::Plain, Scope::All, 1);
    sandbox.write("SOUL.md", "newer\n");
    let new = sandbox.backup_as(&Sealing::Plain, Scope::All, 2);
    fs::copy(&old.backup.path, &new.backup.path).unwrap();
    let refused = sandbox.restore(&new.backup.path).unwrap_err();
    assert!(matches!(refused, Error::Tampered { .. }), "{refused}");
    assert!(refused.to_string().contains("its file name is wrong"), "{refused}");
    let renamed = sandbox.path().join("mine.tar.zst");
    fs::copy(&old.backup.path, &renamed).unwrap();
    sandbox.restore(&renamed).unwrap();
}

#[test]
fn an_archive_without_its_list_is_refused_under_a_name_of_ours() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(4);
    header.set_mode(0o600);
    tar.append_data(&mut header, ".hermes/SOUL.md", &b"evil"[..]).unwrap();
    let bytes = zstd::encode_all(&*tar.into_inner().unwrap(), 1).unwrap();
    hermes_home::atomic::write(&created.backup.path, &bytes).unwrap();
    let refused = sandbox.restore(&created.backup.path).unwrap_err();
    assert!(refused.to_string().contains("list of members is missing"), "{refused}");
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
}
