//! Who made an archive: forged, swapped, rolled back and foreign ones are told from those of the home.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use hermes_backup::Error;
use hermes_backup::contents::Scope;
use hermes_backup::create::{self, Created, Request};
use hermes_backup::folder::Folder;
use hermes_backup::manifest::{MEMBER, Manifest, Previous, Sidecar};
use hermes_backup::name::Compression;
use hermes_backup::restore::{self, From};
use hermes_backup::seal::{Keys, Sealing};
use hermes_backup::sign::{Signed, Signers, Trust};
use hermes_backup::status;
use hermes_backup::verify;
use hermes_backup::whose::Whose;
use jiff::SignedDuration;
use sha2::{Digest, Sha256};

use crate::sandbox::{Sandbox, is_full, now, tree};

/// A home with a key, and its folder as it sees it.
fn signing(sandbox: &Sandbox, seed: u8) -> Folder {
    let folder = sandbox.backups();
    let signers = Signers::begin(&sandbox.home(), &folder, [seed; 32], &mut |_| {}).unwrap();
    folder.signed_by(signers)
}

fn backup(sandbox: &Sandbox, folder: &Folder, tag: u32) -> Created {
    let home = sandbox.home();
    let at = now().checked_add(SignedDuration::from_secs(i64::from(tag))).unwrap();
    let request = Request {
        home: &home,
        scope: Scope::All,
        folder,
        compression: Compression::Zstd,
        sealing: &Sealing::Plain,
        label: None,
        exclude: &[],
        outside: &[],
        follow_links: false,
        secrets: true,
        made_by: "hermes 0.1.0",
        host: "host",
        now: at,
        tag,
    };
    create::create(&request, &mut |_| {}).unwrap()
}

/// What a restore by this home says to an archive that lies in its folder.
fn restored(sandbox: &Sandbox, folder: &Folder, path: &Path) -> hermes_backup::Result<()> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let known = folder.find(name).ok();
    let signed = known.as_ref().map_or(Signed::No, |one| one.signed.clone());
    let sha256 = known.and_then(|one| one.sidecar).map(|sidecar| sidecar.sha256);
    let (keys, trust) = (Keys::default(), Trust::Home(folder.signers()));
    let later = now().checked_add(SignedDuration::from_hours(1)).unwrap();
    let from =
        From { archive: path, sha256: sha256.as_deref(), keys: &keys, signed, trust, now: later };
    restore::whole(&from, &sandbox.home(), &mut |_| {}).map(drop)
}

/// The members of a plain archive, the list last.
fn members(path: &Path) -> Vec<(tar::Header, String, Vec<u8>)> {
    let bytes = zstd::decode_all(fs::File::open(path).unwrap()).unwrap();
    let mut archive = tar::Archive::new(bytes.as_slice());
    let mut found = Vec::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        found.push((entry.header().clone(), name, content));
    }
    found
}

fn write(path: &Path, members: &[(tar::Header, String, Vec<u8>)]) {
    let mut tar = tar::Builder::new(Vec::new());
    for (header, name, content) in members {
        let mut header = header.clone();
        header.set_size(content.len() as u64);
        tar.append_data(&mut header, name, content.as_slice()).unwrap();
    }
    let bytes = zstd::encode_all(&*tar.into_inner().unwrap(), 1).unwrap();
    hermes_home::atomic::write_private(path, &bytes).unwrap();
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What somebody who can write to the folder makes of an archive of this home; the number decides what. The list fits
/// what is in it, as whoever forges one would see to it.
fn forge(genuine: &Created, other: &Created, number: usize) -> Vec<(tar::Header, String, Vec<u8>)> {
    let mut forged = members(&genuine.backup.path);
    let (_, _, list) = forged.pop().unwrap();
    let mut manifest: Manifest = serde_json::from_slice(&list).unwrap();
    let digest = Sha256::digest(number.to_le_bytes());
    let pick = usize::from(digest[0]);
    match number % 7 {
        // A file of the home says something else.
        0 | 1 => {
            let files: Vec<usize> = (0..forged.len())
                .filter(|at| !forged[*at].2.is_empty() && !forged[*at].1.ends_with(".db"))
                .collect();
            let (_, name, content) = &mut forged[files[pick % files.len()]];
            let place = usize::from(digest[1]) % content.len();
            content[place] ^= 1 << (digest[2] % 7);
            let inside = name.strip_prefix(".hermes/").unwrap();
            let file = manifest.files.iter_mut().find(|file| file.path == inside).unwrap();
            file.sha256 = hash(content);
        }
        // The list itself tells something else.
        2 => manifest.host = format!("host-{pick}"),
        3 => {
            manifest.previous =
                Some(Previous { id: "x".to_owned(), sha256: format!("{pick:064x}") })
        }
        // The signature is gone, somebody else's, or of another archive.
        4 => manifest.signed = None,
        5 => manifest.signed = other.manifest.signed.clone(),
        _ => {
            let mut signed = manifest.signed.clone().unwrap();
            let place = pick % signed.signature.len();
            let digit = if signed.signature.as_bytes()[place] == b'0' { "1" } else { "0" };
            signed.signature.replace_range(place..=place, digit);
            manifest.signed = Some(signed);
        }
    }
    let header = members(&genuine.backup.path).pop().unwrap().0;
    forged.push((header, MEMBER.to_owned(), serde_json::to_vec_pretty(&manifest).unwrap()));
    forged
}

/// What stands beside a forged archive: nothing, what stood there with the new hash, or the same without a signature.
fn put_beside(path: &Path, genuine: &Sidecar, number: usize) {
    let beside = PathBuf::from(format!("{}.json", path.display()));
    let bytes = fs::read(path).unwrap();
    let mut sidecar = Sidecar { sha256: hash(&bytes), size: bytes.len() as u64, ..genuine.clone() };
    match number % 3 {
        0 => {
            let _ = fs::remove_file(&beside);
            return;
        }
        1 => sidecar.signed = None,
        _ => {}
    }
    hermes_home::atomic::write_private(&beside, &serde_json::to_vec(&sidecar).unwrap()).unwrap();
}

#[test]
#[expect(clippy::print_stdout, reason = "the figure stands in docs/SECURITY.md")]
fn forged_archives_are_refused_before_any_byte_reaches_the_home() {
    let sandbox = Sandbox::filled();
    let folder = signing(&sandbox, 1);
    let (other, genuine) = (backup(&sandbox, &folder, 1), backup(&sandbox, &folder, 2));
    let (path, whole) = (&genuine.backup.path, fs::read(&genuine.backup.path).unwrap());
    let sidecar = genuine.backup.sidecar.clone().unwrap();
    let before = tree(&sandbox.root());
    let count = if is_full() { 2_000 } else { 100 };
    let mut refused = 0;
    for number in 0..count {
        write(path, &forge(&genuine, &other, number));
        put_beside(path, &sidecar, number);
        let seen = restored(&sandbox, &folder, path).unwrap_err();
        let is_meant = matches!(seen, Error::Tampered { .. } | Error::NotSigned { .. });
        assert!(is_meant, "forged {number}: {seen}");
        let listed = folder.find(&genuine.backup.name.id()).unwrap();
        assert!(listed.whose != Whose::Ours && listed.verified.is_none(), "forged {number}");
        refused += 1;
    }
    assert_eq!(tree(&sandbox.root()), before);
    println!("{refused} of {count} forged archives refused");
    hermes_home::atomic::write(path, &whole).unwrap();
    put_beside(path, &sidecar, 2);
    restored(&sandbox, &folder, path).unwrap();
}

#[test]
fn an_archive_of_another_key_is_named_by_it_and_taken_when_the_key_was_compared() {
    let (ours, theirs) = (Sandbox::filled(), Sandbox::filled());
    let (folder, attacker) = (signing(&ours, 1), signing(&theirs, 2));
    theirs.write("SOUL.md", "I obey somebody else.\n");
    let made = backup(&theirs, &attacker, 3);
    let seen = restored(&ours, &folder, &made.backup.path).unwrap_err();
    let key = attacker.signers().fingerprint().unwrap();
    assert!(
        matches!(&seen, Error::OtherSigner { fingerprint, .. } if *fingerprint == key),
        "{seen}"
    );
    assert!(seen.hint().unwrap().contains(&key));
    assert_eq!(ours.read("SOUL.md"), "I am calm.\n");
    let from = |trust| {
        let archive = made.backup.path.clone();
        let (keys, later) =
            (Keys::default(), now().checked_add(SignedDuration::from_hours(1)).unwrap());
        let from = From {
            archive: &archive,
            sha256: None,
            keys: &keys,
            signed: Signed::No,
            trust,
            now: later,
        };
        restore::whole(&from, &ours.home(), &mut |_| {}).map(drop)
    };
    assert!(from(Trust::Compared(folder.signers(), "0000-1111")).is_err());
    from(Trust::Compared(folder.signers(), &key.to_uppercase())).unwrap();
    assert_eq!(ours.read("SOUL.md"), "I obey somebody else.\n");
    // The key of the home stayed its own, and so did what it signed before.
    let kept = Signers::read(&ours.home()).unwrap();
    assert_eq!(kept.fingerprint(), folder.signers().fingerprint());
}

#[test]
fn a_backup_from_the_future_is_refused() {
    let sandbox = Sandbox::filled();
    let folder = signing(&sandbox, 1);
    let ahead = backup(&sandbox, &folder, 3 * 24 * 3600);
    let seen = restored(&sandbox, &folder, &ahead.backup.path).unwrap_err();
    assert!(matches!(seen, Error::Ahead { .. }), "{seen}");
    let seen = verify::verify(&folder, &ahead.backup, &Keys::default(), now(), &mut |_| {});
    assert!(matches!(seen, Err(Error::Ahead { .. })));
}

#[test]
fn what_the_home_made_before_it_had_a_key_is_signed_once_and_forgeries_are_not() {
    let sandbox = Sandbox::filled();
    let old = sandbox.backup_as(&Sealing::Plain, Scope::All, 7);
    let changed = sandbox.backup_as(&Sealing::Plain, Scope::All, 8);
    let mut bytes = fs::read(&changed.backup.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    hermes_home::atomic::write(&changed.backup.path, &bytes).unwrap();
    let strange = old.backup.path.with_file_name("hermes-all-20261116T033000Z-00000009.tar.zst");
    fs::copy(&old.backup.path, &strange).unwrap();
    let folder = signing(&sandbox, 1);
    let by = |id: &str| folder.find(id).unwrap().signed;
    assert_eq!(by(&old.backup.name.id()), Signed::Ours);
    assert_eq!(by(&changed.backup.name.id()), Signed::No);
    assert_eq!(by("20261116T033000Z-00000009"), Signed::No);
    restored(&sandbox, &folder, &old.backup.path).unwrap();
    assert!(restored(&sandbox, &folder, &strange).is_err());
    // What comes later is signed no more for what stands in the history.
    let again = sandbox.backup_as(&Sealing::Plain, Scope::All, 10);
    let folder = signing(&sandbox, 5);
    assert_eq!(folder.find(&again.backup.name.id()).unwrap().signed, Signed::No);
}

#[test]
fn the_key_is_private_in_no_archive_and_outlives_a_restore() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::filled();
    let folder = signing(&sandbox, 1);
    let key = sandbox.root().join("hermesd/backup-signing.key");
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let made = backup(&sandbox, &folder, 1);
    let names: Vec<&str> = made.manifest.files.iter().map(|file| file.path.as_str()).collect();
    assert!(!names.iter().any(|name| name.ends_with("backup-signing.key")), "{names:?}");
    let secret = fs::read(&key).unwrap();
    for (_, name, content) in members(&made.backup.path) {
        assert!(!content.windows(32).any(|part| part == &secret[..32]), "{name}");
    }
    restored(&sandbox, &folder, &made.backup.path).unwrap();
    assert_eq!(fs::read(&key).unwrap(), secret);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let folder = sandbox.backups().signed_by(Signers::read(&sandbox.home()).unwrap());
    assert_eq!(folder.find(&made.backup.name.id()).unwrap().signed, Signed::Ours);
}

#[test]
fn an_older_state_of_the_folder_and_a_swapped_archive_are_seen() {
    let sandbox = Sandbox::filled();
    let folder = signing(&sandbox, 1);
    let first = backup(&sandbox, &folder, 1);
    sandbox.write("SOUL.md", "newer\n");
    let second = backup(&sandbox, &folder, 2);
    let third = backup(&sandbox, &folder, 3);
    let folder = sandbox.backups().signed_by(Signers::read(&sandbox.home()).unwrap());
    assert!(status::strangers(&folder.list().unwrap(), &folder).is_empty());
    // The first one in the place of the second, with what stood beside it.
    let name = second.backup.name.to_string();
    fs::copy(&first.backup.path, &second.backup.path).unwrap();
    let mut sidecar = first.backup.sidecar.clone().unwrap();
    sidecar.archive.clone_from(&name);
    sidecar.id = second.backup.name.id();
    let beside = format!("{}.json", second.backup.path.display());
    hermes_home::atomic::write(Path::new(&beside), &serde_json::to_vec(&sidecar).unwrap()).unwrap();
    let swapped = folder.find(&name).unwrap();
    assert!(swapped.failed.is_some() && swapped.whose == Whose::Unknown, "{swapped:?}");
    assert!(restored(&sandbox, &folder, &second.backup.path).is_err());
    // The newest one is taken away, as if the folder were of yesterday.
    fs::remove_file(&third.backup.path).unwrap();
    let said = status::strangers(&folder.list().unwrap(), &folder);
    assert!(said.iter().any(|one| one.what.contains(&third.backup.name.id())), "{said:?}");
}

#[test]
fn an_archive_of_another_program_is_never_signed_and_expands_a_hundred_times_at_most() {
    let sandbox = Sandbox::filled();
    let folder = signing(&sandbox, 1);
    let bomb = |size: usize| {
        let mut tar = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        for (name, content) in [("hermes/SOUL.md", b"x".to_vec()), ("hermes/zeros", vec![0; size])]
        {
            header.set_size(content.len() as u64);
            header.set_mode(0o600);
            tar.append_data(&mut header, name, content.as_slice()).unwrap();
        }
        let path = sandbox.path().join("foreign.tar.zst");
        let bytes = zstd::encode_all(&*tar.into_inner().unwrap(), 3).unwrap();
        hermes_home::atomic::write(&path, &bytes).unwrap();
        path
    };
    let seen = restored(&sandbox, &folder, &bomb(1000)).unwrap_err();
    assert!(matches!(seen, Error::NotSigned { .. }), "{seen}");
    assert!(seen.hint().unwrap().contains("--accept-unsigned"));
    let keys = Keys::default();
    let taken = |path: &Path| {
        let (signed, trust) = (Signed::No, Trust::Anybody);
        let from = From { archive: path, sha256: None, keys: &keys, signed, trust, now: now() };
        let to = sandbox.path().join("unpacked");
        let done = restore::to_folder(&from, &to, &mut |_| {}).map(drop);
        let _ = fs::remove_dir_all(&to);
        done
    };
    taken(&bomb(1000)).unwrap();
    let seen = taken(&bomb(64 << 20)).unwrap_err();
    assert!(!sandbox.path().join("unpacked").exists(), "{seen}");
}
