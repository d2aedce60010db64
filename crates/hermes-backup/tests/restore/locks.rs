//! A backup and a restore of one home keep out of each other's way.

use std::fs;

use hermes_backup::contents::Scope;
use hermes_backup::create::{self, Request};
use hermes_backup::folder::Folder;
use hermes_backup::name::Compression;
use hermes_backup::restore::{self, From};
use hermes_backup::seal::{Keys, Sealing};
use hermes_backup::sign::{Signed, Trust};
use hermes_backup::{Error, Result};

use crate::sandbox::{Sandbox, now};

/// A backup into a folder of its own, whose lock tells a restore nothing.
fn backup_elsewhere(sandbox: &Sandbox, tell: hermes_backup::Tell<'_>) -> Result<create::Created> {
    let (home, folder) = (sandbox.home(), Folder::at(&sandbox.path().join("elsewhere")));
    let request = Request {
        home: &home,
        scope: Scope::All,
        folder: &folder,
        compression: Compression::Zstd,
        sealing: &Sealing::Plain,
        label: None,
        exclude: &[],
        outside: &[],
        follow_links: false,
        secrets: true,
        made_by: "hermes 0.1.0",
        host: "host",
        now: now(),
        tag: 9,
    };
    create::create(&request, tell)
}

#[test]
fn while_a_backup_is_made_nothing_is_restored_over_the_home() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    let mut refused = Vec::new();
    backup_elsewhere(&sandbox, &mut |_| {
        if refused.is_empty() {
            refused.push(sandbox.restore(&archive).unwrap_err());
        }
    })
    .unwrap();
    assert!(matches!(refused[0], Error::Busy { .. }), "{}", refused[0]);
    assert!(refused[0].to_string().contains("a backup or a restore"), "{}", refused[0]);
    sandbox.restore(&archive).unwrap();
}

#[test]
fn while_a_home_is_restored_no_backup_is_made_of_it() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    let keys = Keys::default();
    let from = From {
        archive: &archive,
        sha256: None,
        keys: &keys,
        signed: Signed::No,
        trust: Trust::Anybody,
        now: now(),
    };
    let mut refused = Vec::new();
    restore::whole(&from, &sandbox.home(), &mut |_| {
        if refused.is_empty() {
            refused.push(backup_elsewhere(&sandbox, &mut |_| {}).unwrap_err());
        }
    })
    .unwrap();
    assert!(matches!(refused[0], Error::Busy { .. }), "{}", refused[0]);
    assert!(refused[0].to_string().contains("restore"), "{}", refused[0]);
    backup_elsewhere(&sandbox, &mut |_| {}).unwrap();
}

#[test]
fn half_of_two_homes_is_no_backup() {
    let sandbox = Sandbox::filled();
    sandbox.backup();
    let root = sandbox.root().canonicalize().unwrap();
    let beside = |ending: &str| format!("{}{ending}", root.display());
    let aside = beside(".before-restore-20261116T033000Z");
    fs::create_dir(&aside).unwrap();
    fs::rename(root.join("SOUL.md"), format!("{aside}/SOUL.md")).unwrap();
    let unpacked = beside(".restoring-20261116T033000Z-1");
    let journal = serde_json::json!({
        "format": 1, "unpacked": unpacked, "aside": aside,
        "moves": [{ "new": format!("{unpacked}/SOUL.md"), "place": root.join("SOUL.md"),
                    "aside": format!("{aside}/SOUL.md") }],
    });
    let path = beside(".restore.json");
    hermes_home::atomic::write(path.as_ref(), journal.to_string().as_bytes()).unwrap();
    let refused = backup_elsewhere(&sandbox, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Error::CutOff { .. }), "{refused}");
    assert!(refused.hint().unwrap().contains("--rollback"));
    restore::rollback(&sandbox.home(), now()).unwrap();
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
    backup_elsewhere(&sandbox, &mut |_| {}).unwrap();
}

#[test]
fn what_a_living_restore_unpacks_is_not_swept_by_another() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    let keys = Keys::default();
    let from = From {
        archive: &archive,
        sha256: None,
        keys: &keys,
        signed: Signed::No,
        trust: Trust::Anybody,
        now: now(),
    };
    let part = [restore::Part::Path("SOUL.md".to_owned())];
    // Left by a process that is dead, though its number is that of one that lives.
    let left = format!("hermes.restoring-20200101T000000Z-{}", std::process::id());
    fs::create_dir(sandbox.path().join(&left)).unwrap();
    let mut inner = 0;
    restore::parts(&from, &part, &sandbox.home(), false, &mut |_| {
        if inner == 0 {
            inner += 1;
            restore::parts(&from, &part, &sandbox.home(), false, &mut |_| {}).unwrap();
        }
    })
    .unwrap();
    assert_eq!(inner, 1);
    assert_eq!(sandbox.beside(), Vec::<String>::new());
}
