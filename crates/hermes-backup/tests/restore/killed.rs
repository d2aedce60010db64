//! A restore that is killed at any moment can be done again or undone.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::Duration;

use hermes_backup::restore::{self, From};
use hermes_backup::seal::Keys;
use hermes_backup::sign::{Signed, Trust};

use crate::sandbox::{Sandbox, is_full, now, tree};

const FOLDER: &str = "HERMES_TEST_RESTORE_IN";
/// Where the other process puts what it deletes.
const GONE: &str = "gone";
const ARCHIVE: &str = "HERMES_TEST_RESTORE_FROM";

fn variable(name: &str) -> Option<String> {
    std::env::vars().find(|(found, _)| found == name).map(|(_, value)| value)
}

/// Not a test by itself: what the other process of the next test does.
#[test]
fn restores_over_and_over_until_it_is_killed() {
    let (Some(folder), Some(archive)) = (variable(FOLDER), variable(ARCHIVE)) else {
        return;
    };
    let wanted = hermes_home::layout::Wanted { home: Some(folder.into()), profile: None };
    let home = hermes_home::Home::locate(&wanted, &hermes_home::env::Env::of([])).unwrap();
    let keys = Keys::default();
    let from = From {
        archive: archive.as_ref(),
        sha256: None,
        keys: &keys,
        signed: Signed::No,
        trust: Trust::Anybody,
        now: now(),
    };
    loop {
        restore::whole(&from, &home, &mut |_| {}).unwrap();
        let aside = restore::rollback(&home, now()).unwrap().aside.unwrap();
        // Under another name first: half of it must not be taken for something to put back.
        let gone = home.root().with_file_name(GONE);
        std::fs::rename(aside, &gone).unwrap();
        std::fs::remove_dir_all(gone).unwrap();
    }
}

fn kill_after(sandbox: &Sandbox, archive: &std::path::Path, delay: Duration) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::restores_over_and_over_until_it_is_killed"])
        .env(FOLDER, sandbox.root())
        .env(ARCHIVE, archive)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // The moment of the kill is what is tried: no event to wait for.
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    let _ = std::fs::remove_dir_all(sandbox.path().join(GONE));
}

/// The home without the note that is written just before it is moved aside, and taken away by the next restore.
fn home_of(sandbox: &Sandbox) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = tree(&sandbox.root());
    found.remove(".moved-aside.json");
    found
}

#[test]
fn a_killed_restore_is_undone_or_done_again() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let archived = {
        let other = Sandbox::empty();
        other.restore(&created.backup.path).unwrap();
        tree(&other.root())
    };
    sandbox.write("SOUL.md", "the present one\n");
    let present = tree(&sandbox.root());
    let count: u64 = if is_full() { 200 } else { 10 };
    for number in 0..count {
        kill_after(&sandbox, &created.backup.path, Duration::from_millis(20 + number * 37 % 300));
        if sandbox.root().exists() {
            let found = home_of(&sandbox);
            assert!(found == present || found == archived, "neither the old nor the new home");
        }
        if number % 2 == 0 {
            sandbox.restore(&created.backup.path).unwrap();
            assert!(home_of(&sandbox) == archived);
        }
        // Back until the present one is there again: each restore that was done is one step.
        for _ in 0..4 {
            if sandbox.root().exists() && home_of(&sandbox) == present {
                break;
            }
            let aside = restore::rollback(&sandbox.home(), now()).unwrap().aside;
            aside.into_iter().for_each(|aside| std::fs::remove_dir_all(aside).unwrap());
        }
        assert!(home_of(&sandbox) == present, "the present home is lost after kill {number}");
        let _ = restore::rollback(&sandbox.home(), now());
        if home_of(&sandbox) != present {
            restore::rollback(&sandbox.home(), now()).unwrap();
        }
        for left in sandbox.beside() {
            assert!(left.starts_with("hermes.before-restore-"), "{left} was left");
            std::fs::remove_dir_all(sandbox.path().join(left)).unwrap();
        }
    }
}
