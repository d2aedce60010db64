//! A drill proves a backup, and its receipt stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use hermes_backup::contents::Scope;
use hermes_backup::drill::{self, Receipt};
use hermes_backup::folder::{Backup, Happened};
use hermes_backup::seal::{Keys, Passphrase, Sealing};
use hermes_backup::verify::{Verified, verify};
use hermes_backup::{Error, Result};

use crate::sandbox::{Sandbox, is_full, now};

fn drill_on(host: &str, sandbox: &Sandbox, backup: &Backup) -> (Receipt, PathBuf) {
    let (folder, keys) = (sandbox.backups(), Keys::default());
    let (home, temporary) = (sandbox.home(), sandbox.path());
    let request = drill::Request {
        folder: &folder,
        backup,
        keys: &keys,
        host,
        now: now(),
        home: Some(&home),
        temporary,
    };
    drill::drill(&request, &mut |_| {}).unwrap()
}

fn drilled(sandbox: &Sandbox, backup: &Backup) -> Receipt {
    let folder = sandbox.backups();
    let (receipt, path) = drill_on("host", sandbox, backup);
    let kept: Receipt = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(kept, receipt);
    assert_eq!(fs::read_to_string(path.with_extension("txt")).unwrap(), receipt.text());
    let left = fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().contains("staging")), "{left:?}");
    receipt
}

fn verified(sandbox: &Sandbox, backup: &Backup, keys: &Keys) -> Result<Verified> {
    verify(&sandbox.backups(), backup, keys, now(), &mut |_| {})
}

#[test]
fn a_drill_of_a_good_backup_passes_with_three_searches() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let receipt = drilled(&sandbox, &created.backup);
    assert!(receipt.passed, "{}", receipt.text());
    let names: Vec<&str> = receipt.checks.iter().map(|check| check.name.as_str()).collect();
    for name in ["archive", "members", "state.db", "SOUL.md", "search 1", "search 3"] {
        assert!(names.contains(&name), "{name} is not among {names:?}");
    }
    assert_eq!(sandbox.backups().history().unwrap().last().unwrap().what, Happened::Drilled);
    assert_eq!(drill::receipts(&sandbox.backups()).unwrap(), [receipt]);
}

#[test]
fn receipts_say_what_the_list_says_for_several_stores() {
    let count = if is_full() { 50 } else { 4 };
    for number in 0..count {
        let sandbox = Sandbox::filled();
        for session in 0..number {
            let texts = [format!("word{session} harbour{number}"), "so on".to_owned()];
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            sandbox.talk("state.db", &format!("s{session}"), &texts);
        }
        let created = sandbox.backup_as(&Sealing::Plain, Scope::All, number);
        let receipt = drilled(&sandbox, &created.backup);
        assert!(receipt.passed, "{}", receipt.text());
        for listed in &created.manifest.databases {
            let check = receipt.checks.iter().find(|check| check.name == listed.path).unwrap();
            let rows: u64 = listed.rows.values().sum();
            assert!(check.seen.contains(&format!("{rows} rows")), "{}", check.seen);
        }
        let members = receipt.checks.iter().find(|check| check.name == "members").unwrap();
        let files = created.backup.sidecar.as_ref().unwrap().files;
        assert!(members.seen.starts_with(&format!("{files} files")), "{}", members.seen);
    }
}

#[test]
fn a_drill_of_a_changed_archive_fails_and_the_history_says_so() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let mut bytes = fs::read(&created.backup.path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    hermes_home::atomic::write(&created.backup.path, &bytes).unwrap();
    let receipt = drilled(&sandbox, &created.backup);
    assert!(!receipt.passed);
    assert!(receipt.text().contains("FAIL"), "{}", receipt.text());
    let bare = Backup { sidecar: None, ..created.backup.clone() };
    assert!(!drilled(&sandbox, &bare).passed, "without a sidecar the archive itself tells");
    assert_eq!(sandbox.backups().history().unwrap().last().unwrap().what, Happened::DrillFailed);
    let refused = verified(&sandbox, &created.backup, &Keys::default()).unwrap_err();
    assert!(matches!(refused, Error::Tampered { .. }), "{refused}");
    assert_eq!(sandbox.backups().history().unwrap().last().unwrap().what, Happened::VerifyFailed);
}

#[test]
fn without_a_key_only_the_hash_is_compared() {
    let sandbox = Sandbox::filled();
    let word = Passphrase::new("a long word".to_owned());
    let created = sandbox.backup_as(&Sealing::GpgPassphrase(word.clone()), Scope::All, 1);
    let seen = verified(&sandbox, &created.backup, &Keys::default()).unwrap();
    assert_eq!(seen, Verified::HashOnly);
    let bare = Backup { sidecar: None, ..created.backup.clone() };
    let refused = verified(&sandbox, &bare, &Keys::default()).unwrap_err();
    assert!(matches!(refused, Error::NoKey { .. }), "{refused}");
    let keys = Keys::read(&[], Some(word)).unwrap();
    let files = created.backup.sidecar.as_ref().unwrap().files;
    assert_eq!(
        verified(&sandbox, &created.backup, &keys).unwrap(),
        Verified::Members { files, signed: hermes_backup::sign::Signed::No }
    );
    let history: Vec<Happened> =
        sandbox.backups().history().unwrap().iter().map(|event| event.what).collect();
    assert!(history.ends_with(&[Happened::HashVerified, Happened::Verified]), "{history:?}");
}

#[test]
fn a_receipt_of_another_machine_is_taken_in_if_it_is_about_this_archive() {
    let (here, there) = (Sandbox::filled(), Sandbox::empty());
    let created = here.backup();
    fs::create_dir_all(there.backups().path()).unwrap();
    for ending in ["", ".json"] {
        let name = format!("{}{ending}", created.backup.name);
        let to = there.backups().path().join(&name);
        fs::copy(here.backups().path().join(&name), to).unwrap();
    }
    let backup = there.backups().find("latest").unwrap();
    let (receipt, path) = drill_on("there", &there, &backup);
    let import = |file: &std::path::Path| drill::import_receipt(&here.backups(), file, now());
    assert_eq!(import(&path).unwrap(), receipt);
    import(&path).unwrap();
    assert_eq!(drill::receipts(&here.backups()).unwrap(), std::slice::from_ref(&receipt));
    assert_eq!(here.backups().history().unwrap().last().unwrap().what, Happened::Drilled);
    let hours = |count| now() + jiff::SignedDuration::from_hours(count);
    let made = backup.name.made - jiff::SignedDuration::from_secs(1);
    for (forged, why) in [
        (Receipt { sha256: "00".repeat(32), ..receipt.clone() }, "another archive"),
        (Receipt { at: hours(25), ..receipt.clone() }, "in the future"),
        (Receipt { at: made, ..receipt.clone() }, "older than the backup"),
    ] {
        let file = here.path().join("forged.json");
        hermes_home::atomic::write(&file, &serde_json::to_vec(&forged).unwrap()).unwrap();
        let refused = import(&file).unwrap_err();
        assert!(matches!(refused, Error::Tampered { .. }), "{refused}");
        assert!(refused.to_string().contains(why), "{refused}");
    }
    let file = here.path().join("ahead.json");
    let ahead = Receipt { at: hours(23), ..receipt };
    hermes_home::atomic::write(&file, &serde_json::to_vec(&ahead).unwrap()).unwrap();
    import(&file).unwrap();
}

/// What a drill had in sight while it ran: every folder it worked in.
fn worked_in(sandbox: &Sandbox, backup: &Backup, has_home: bool) -> Vec<PathBuf> {
    let (folder, keys, home) = (sandbox.backups(), Keys::default(), sandbox.home());
    let temporary = sandbox.path().join("tmp");
    hermes_home::atomic::make_folder(&temporary).unwrap();
    let request = drill::Request {
        folder: &folder,
        backup,
        keys: &keys,
        host: "host",
        now: now(),
        home: has_home.then_some(&home),
        temporary: &temporary,
    };
    let mut seen = Vec::new();
    let places = [home.own(), folder.path().to_owned(), temporary.clone()];
    drill::drill(&request, &mut |_| {
        for place in &places {
            for entry in fs::read_dir(place).into_iter().flatten().flatten() {
                let name = entry.file_name().into_string().unwrap();
                if name.starts_with(".staging-") || name.starts_with("hermes-drills-") {
                    assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o700);
                    seen.push(place.clone());
                }
            }
        }
    })
    .unwrap();
    seen.dedup();
    seen
}

#[test]
fn a_drill_unpacks_in_the_home_and_never_in_a_folder_that_others_see() {
    let sandbox = Sandbox::filled();
    let backup = sandbox.backup().backup;
    let (home, folder) = (sandbox.home(), sandbox.backups());
    assert_eq!(worked_in(&sandbox, &backup, true), [home.own()]);
    assert_eq!(worked_in(&sandbox, &backup, false), [folder.path()], "it is private");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(worked_in(&sandbox, &backup, false), [sandbox.path().join("tmp")]);
}

#[test]
fn a_drill_tells_of_links_whose_folders_are_not_in_the_backup() {
    let sandbox = Sandbox::filled();
    let elsewhere = sandbox.path().join("dotfiles");
    hermes_home::atomic::make_folder(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, sandbox.root().join("skills/mine")).unwrap();
    let created = sandbox.backup();
    assert_eq!(created.backup.sidecar.as_ref().unwrap().links_left_out, 1);
    let receipt = drilled(&sandbox, &created.backup);
    let check = receipt.checks.iter().find(|check| check.name == "links").unwrap();
    assert!(check.seen.contains("skills/mine"), "{}", check.seen);
}
