//! Faults of the disk at every call of SQLite in a backup and in a restore: whole or not at all, and answers are true.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should stop")]

#[path = "../restore/sandbox.rs"]
#[allow(dead_code, reason = "the tests of restoring use the rest")]
mod sandbox;
#[path = "../../../hermes-store/tests/faults/vfs.rs"]
#[allow(dead_code, reason = "the tests of the store use the rest")]
mod vfs;

use std::collections::BTreeMap;
use std::path::Path;

use hermes_backup::contents::Scope;
use hermes_backup::create::{self, Request};
use hermes_backup::name::Compression;
use hermes_backup::seal::Sealing;

use sandbox::{Sandbox, is_full, now, tree};
use vfs::{Fault, Watched};

/// Which calls go wrong.
fn places(calls: u64) -> Vec<u64> {
    let step = if is_full() { 1 } else { calls.div_ceil(12).max(1) };
    (1..=calls).step_by(usize::try_from(step).unwrap()).collect()
}

fn create(sandbox: &Sandbox, tag: u32) -> hermes_backup::Result<create::Created> {
    let (home, folder) = (sandbox.home(), sandbox.backups());
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
        tag,
    };
    create::create(&request, &mut |_| {})
}

/// Files by their path; a restore makes some of them private.
type Files = BTreeMap<String, Vec<u8>>;

/// What a home says: its files, and what was said in its databases.
fn home_of(sandbox: &Sandbox) -> (Files, Vec<Vec<String>>) {
    let mut files = tree(&sandbox.root());
    files.retain(|path, _| !path.contains(".db") && path != ".moved-aside.json");
    let said = ["state.db", "profiles/coder/state.db"].map(|database| sandbox.said(database));
    (files.into_iter().map(|(path, (_, content))| (path, content)).collect(), said.to_vec())
}

fn archives(sandbox: &Sandbox) -> Vec<String> {
    let folder = sandbox.path().join("hermes-backups");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".tar.zst")).collect()
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
fn a_backup_that_meets_an_error_is_whole_or_not_there() {
    let disk = Watched::alone();
    let sandbox = Sandbox::filled();
    disk.watch(sandbox.path(), None);
    create(&sandbox, 1).unwrap();
    let (calls, _) = disk.pass();
    let before = home_of(&sandbox);
    let (mut tried, mut refused) = (0, 0);
    for fault in Fault::ALL {
        for call in places(calls) {
            let (tag, what) = (tried + 2, format!("{fault:?} at call {call} of {calls}"));
            let earlier = archives(&sandbox);
            disk.watch(sandbox.path(), Some((call, fault)));
            let answer = create(&sandbox, tag);
            disk.pass();
            tried += 1;
            assert_eq!(home_of(&sandbox), before, "{what}: the home was changed");
            match answer {
                Ok(created) => is_of(&created, &before, &what),
                Err(_) => {
                    refused += 1;
                    assert_eq!(archives(&sandbox), earlier, "{what}: an archive is left");
                }
            }
        }
    }
    create(&sandbox, 9_999).unwrap();
    eprintln!("{tried} faults in {calls} calls, {refused} answered as an error");
    assert!(refused > 0);
}

/// What was answered as a backup brings back the home, unless it says itself that it is damaged.
fn is_of(created: &create::Created, home: &(Files, Vec<Vec<String>>), what: &str) {
    if created.backup.name.damaged {
        assert!(!created.remarks.is_empty(), "{what}: damaged, and nothing is said");
        return;
    }
    let other = Sandbox::empty();
    other.restore(&created.backup.path).unwrap();
    assert_eq!(home_of(&other), *home, "{what}: the backup is of something else");
}

#[test]
#[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
fn a_restore_that_meets_an_error_leaves_the_old_home_or_the_new_one() {
    let disk = Watched::alone();
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    let archived = home_of(&sandbox);
    sandbox.write("SOUL.md", "the present one\n");
    sandbox.talk("state.db", "later", &["said after the backup"]);
    let present = home_of(&sandbox);
    let aside = sandbox.path().join("kept");
    copy(&sandbox.root(), &aside);
    disk.watch(sandbox.path(), None);
    sandbox.restore(&archive).unwrap();
    let (calls, _) = disk.pass();
    let (mut tried, mut refused) = (0, 0);
    for fault in Fault::ALL {
        for call in places(calls) {
            bring_back(&sandbox, &aside);
            disk.watch(sandbox.path(), Some((call, fault)));
            let answer = sandbox.restore(&archive);
            disk.pass();
            tried += 1;
            let (what, found) = (format!("{fault:?} at call {call} of {calls}"), home_of(&sandbox));
            if answer.is_ok() {
                assert_eq!(found, archived, "{what}: answered as restored");
            } else {
                refused += 1;
                assert_eq!(found, present, "{what}: answered as not restored");
                sandbox.restore(&archive).unwrap_or_else(|why| panic!("{what}, again: {why}"));
                assert_eq!(home_of(&sandbox), archived, "{what}, again");
            }
        }
    }
    eprintln!("{tried} faults in {calls} calls, {refused} answered as an error");
    assert!(refused > 0);
}

fn copy(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

fn bring_back(sandbox: &Sandbox, kept: &Path) {
    for left in sandbox.beside().iter().filter(|name| *name != "kept") {
        std::fs::remove_dir_all(sandbox.path().join(left)).unwrap();
    }
    std::fs::remove_dir_all(sandbox.root()).unwrap();
    copy(kept, &sandbox.root());
}
