//! A whole home comes back, and what was there before is kept.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};

use hermes_backup::Error;
use hermes_backup::contents::Scope;
use hermes_backup::restore::{self, From};
use hermes_backup::seal::{Keys, Passphrase, Sealing};
use hermes_backup::sign::{Signed, Trust};
use hermes_home::lock;

use crate::sandbox::{Sandbox, now, said_in, tree};

#[test]
fn a_home_comes_back_as_it_was_and_the_present_one_is_moved_aside() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    sandbox.write("SOUL.md", "I am angry.\n");
    sandbox.talk("state.db", "second", &["said later"]);
    fs::remove_dir_all(sandbox.root().join("skills")).unwrap();
    let restored = sandbox.restore(&created.backup.path).unwrap();
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
    assert_eq!(sandbox.said("state.db").len(), 2);
    assert_eq!(sandbox.said("profiles/coder/state.db"), ["borrow checker lifetimes"]);
    assert!(sandbox.root().join("skills/devops/deploy/SKILL.md").exists());
    assert_eq!(restored.at, sandbox.root().canonicalize().unwrap());
    let aside = restored.aside.unwrap();
    assert_eq!(fs::read_to_string(aside.join("SOUL.md")).unwrap(), "I am angry.\n");
    assert_eq!(said_in(&aside.join("state.db")).len(), 3);
    assert_eq!(sandbox.beside(), ["hermes.before-restore-20261116T033000Z"]);
}

#[test]
fn a_fresh_machine_gets_a_home() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let before = tree(&sandbox.root());
    fs::remove_dir_all(sandbox.root()).unwrap();
    let restored = sandbox.restore(&created.backup.path).unwrap();
    assert_eq!(restored.aside, None);
    assert!(sandbox.beside().is_empty(), "{:?}", sandbox.beside());
    let after = tree(&sandbox.root());
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
}

#[test]
fn modes_come_back_and_secrets_are_closed() {
    let sandbox = Sandbox::filled();
    sandbox.mode("memories", 0o755);
    let created = sandbox.backup();
    fs::set_permissions(sandbox.root(), fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.restore(&created.backup.path).unwrap();
    let mode =
        |path: &str| fs::metadata(sandbox.root().join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(""), 0o700);
    assert_eq!(mode("SOUL.md"), 0o644);
    assert_eq!(mode(".env"), 0o600);
    assert_eq!(mode("memories"), 0o755);
    assert_eq!(mode("state.db"), 0o600);
    assert_eq!(mode("profiles/coder/state.db"), 0o600);
    assert_eq!(mode("skills/devops/deploy/run.sh"), 0o755);
    let modified = |path: &str| fs::metadata(sandbox.root().join(path)).unwrap().mtime();
    let listed = created.manifest.files.iter().find(|file| file.path == "SOUL.md").unwrap();
    assert_eq!(modified("SOUL.md"), listed.modified);
}

#[test]
fn rolling_back_brings_the_earlier_home_back_and_rolling_back_again_the_restored_one() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    sandbox.write("SOUL.md", "later\n");
    let before = tree(&sandbox.root());
    sandbox.restore(&created.backup.path).unwrap();
    let restored = tree(&sandbox.root());
    let back = restore::rollback(&sandbox.home(), now()).unwrap();
    assert_eq!(tree(&sandbox.root()), before);
    let mut aside = tree(&back.aside.unwrap());
    assert!(aside.remove(".moved-aside.json").is_some(), "it says what it is");
    assert_eq!(aside, restored);
    restore::rollback(&sandbox.home(), now()).unwrap();
    assert_eq!(tree(&sandbox.root()), restored);
    assert_eq!(sandbox.beside().len(), 1, "{:?}", sandbox.beside());
}

#[test]
fn rolling_back_without_a_restore_says_so() {
    let sandbox = Sandbox::filled();
    let refused = restore::rollback(&sandbox.home(), now()).unwrap_err();
    assert!(matches!(refused, Error::NothingAside { .. }), "{refused}");
}

#[test]
fn rolling_back_to_a_folder_that_is_no_home_is_refused() {
    let sandbox = Sandbox::filled();
    let before = tree(&sandbox.root());
    let aside = sandbox.path().join("hermes.before-restore-20261116T033000Z");
    fs::create_dir(&aside).unwrap();
    let note = aside.join(".moved-aside.json");
    let texts = [None, Some("{"), Some("{\"what\":\"default\"}"), Some("{\"what\":\"coder\"}")];
    for text in texts {
        text.iter().for_each(|text| hermes_home::atomic::write(&note, text.as_bytes()).unwrap());
        let refused = restore::rollback(&sandbox.home(), now()).unwrap_err();
        assert!(matches!(refused, Error::Setting { .. }), "{refused}");
        assert!(refused.to_string().contains("before-restore"), "{refused}");
        assert_eq!(tree(&sandbox.root()), before);
    }
    fs::remove_file(&note).unwrap();
    hermes_home::atomic::write(&aside.join("SOUL.md"), b"earlier\n").unwrap();
    restore::rollback(&sandbox.home(), now()).unwrap();
    assert_eq!(sandbox.read("SOUL.md"), "earlier\n");
}

#[test]
fn two_restores_in_one_second_keep_both_earlier_homes() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    sandbox.write("SOUL.md", "one\n");
    let first = sandbox.restore(&created.backup.path).unwrap().aside.unwrap();
    sandbox.write("SOUL.md", "two\n");
    let second = sandbox.restore(&created.backup.path).unwrap().aside.unwrap();
    assert_ne!(first, second);
    assert_eq!(fs::read_to_string(first.join("SOUL.md")).unwrap(), "one\n");
    assert_eq!(fs::read_to_string(second.join("SOUL.md")).unwrap(), "two\n");
    let back = restore::rollback(&sandbox.home(), now()).unwrap();
    assert_eq!(sandbox.read("SOUL.md"), "two\n", "the last one is put back first");
    assert!(back.aside.is_some());
}

#[test]
fn a_log_of_the_old_database_is_never_played_into_the_new_one() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let leftover = sandbox.root().join("state.db-wal");
    let store = hermes_store::sessions::SessionStore::open(
        &sandbox.root().join("state.db"),
        hermes_store::sqlite::Access::Write,
        hermes_store::sqlite::DEFAULT_WAIT,
    )
    .unwrap();
    sandbox.talk("state.db", "first", &["only in the log"]);
    let log = fs::read(&leftover).unwrap();
    assert!(!log.is_empty());
    drop(store);
    hermes_home::atomic::write(&leftover, &log).unwrap();
    sandbox.restore(&created.backup.path).unwrap();
    assert!(!leftover.exists());
    assert_eq!(sandbox.said("state.db").len(), 2);
    let aside = sandbox.path().join("hermes.before-restore-20261116T033000Z");
    assert!(aside.join("state.db-wal").exists(), "it stays with the database it belongs to");
}

#[test]
fn a_restore_is_refused_while_another_process_has_a_database_open() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let before = tree(&sandbox.root());
    for held in ["state.db", "profiles/coder/state.db"] {
        // A shell that keeps the file open until its input ends.
        let path = sandbox.root().join(held);
        let mut holder = Command::new("sh")
            .args(["-c", "exec 3<\"$0\"; echo open; read _", path.to_str().unwrap()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let refused = sandbox.restore(&created.backup.path).unwrap_err();
        assert!(matches!(&refused, Error::InUse { .. }), "{refused}");
        let text = refused.to_string();
        assert!(text.contains(&format!("process {}", holder.id())), "{text}");
        assert!(text.contains(held), "{text}");
        let refused = restore::rollback(&sandbox.home(), now()).unwrap_err();
        assert!(matches!(refused, Error::NothingAside { .. }), "{refused}");
        holder.stdin.take().unwrap().write_all(b"\n").unwrap();
        holder.wait().unwrap();
        assert_eq!(tree(&sandbox.root()), before);
        assert!(sandbox.beside().is_empty(), "{:?}", sandbox.beside());
    }
    sandbox.restore(&created.backup.path).unwrap();
}

#[test]
fn a_restore_is_refused_while_the_daemon_runs() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let mut held = lock::try_hold(&sandbox.home().daemon_lock()).unwrap().unwrap();
    held.sign("process 4711").unwrap();
    let refused = sandbox.restore(&created.backup.path).unwrap_err();
    assert!(refused.to_string().contains("4711"), "{refused}");
    assert!(refused.hint().unwrap().contains("hermes stop"));
    assert!(sandbox.beside().is_empty());
    drop(held);
    sandbox.restore(&created.backup.path).unwrap();
}

#[test]
fn an_archive_of_one_profile_replaces_that_profile_alone() {
    let sandbox = Sandbox::filled();
    let scope = Scope::Profile("coder".to_owned());
    let created = sandbox.backup_as(&Sealing::Plain, scope, 1);
    sandbox.write("SOUL.md", "root, later\n");
    sandbox.write("profiles/coder/SOUL.md", "coder, later\n");
    sandbox.write("profiles/other/SOUL.md", "other\n");
    let restored = sandbox.restore(&created.backup.path).unwrap();
    assert_eq!(sandbox.read("SOUL.md"), "root, later\n");
    assert_eq!(sandbox.read("profiles/coder/SOUL.md"), "I code.\n");
    assert_eq!(sandbox.read("profiles/other/SOUL.md"), "other\n");
    assert_eq!(restored.at, sandbox.root().canonicalize().unwrap().join("profiles/coder"));
    let aside = restored.aside.unwrap();
    let kept = fs::read_to_string(aside.join("profiles/coder/SOUL.md")).unwrap();
    assert_eq!(kept, "coder, later\n");
    restore::rollback(&sandbox.home(), now()).unwrap();
    assert_eq!(sandbox.read("profiles/coder/SOUL.md"), "coder, later\n");
    assert_eq!(sandbox.read("SOUL.md"), "root, later\n");
    assert_eq!(sandbox.beside().len(), 1, "{:?}", sandbox.beside());
}

#[test]
fn an_archive_of_the_default_profile_leaves_the_others_alone() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup_as(&Sealing::Plain, Scope::Profile("default".to_owned()), 1);
    sandbox.write("SOUL.md", "root, later\n");
    sandbox.write("new.md", "new\n");
    sandbox.write("profiles/coder/SOUL.md", "coder, later\n");
    let before = tree(&sandbox.root());
    let restored = sandbox.restore(&created.backup.path).unwrap();
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
    assert!(!sandbox.root().join("new.md").exists());
    assert_eq!(sandbox.read("profiles/coder/SOUL.md"), "coder, later\n");
    assert!(restored.aside.unwrap().join("new.md").exists());
    restore::rollback(&sandbox.home(), now()).unwrap();
    assert_eq!(tree(&sandbox.root()), before);
}

#[test]
fn a_home_that_is_a_link_stays_a_link() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let real = sandbox.path().join("elsewhere");
    fs::create_dir(&real).unwrap();
    fs::rename(sandbox.root(), real.join("data")).unwrap();
    std::os::unix::fs::symlink(real.join("data"), sandbox.root()).unwrap();
    let restored = sandbox.restore(&created.backup.path).unwrap();
    assert!(sandbox.root().symlink_metadata().unwrap().is_symlink());
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
    assert!(restored.aside.unwrap().starts_with(real.canonicalize().unwrap()));
}

#[test]
fn unpacking_to_a_folder_takes_a_new_or_empty_one_only() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    let keys = Keys::default();
    let from = From {
        archive: &created.backup.path,
        sha256: None,
        keys: &keys,
        signed: Signed::No,
        trust: Trust::Anybody,
        now: now(),
    };
    let folder = sandbox.path().join("there");
    let restored = restore::to_folder(&from, &folder, &mut |_| {}).unwrap();
    assert_eq!(restored.files as usize, tree(&folder).values().filter(|f| !f.1.is_empty()).count());
    let refused = restore::to_folder(&from, &folder, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Error::Setting { .. }), "{refused}");
}

#[test]
fn a_wrong_passphrase_is_told_from_a_damaged_archive_and_nothing_is_left() {
    let sandbox = Sandbox::filled();
    let right = Passphrase::new("right horse".to_owned());
    let created = sandbox.backup_as(&Sealing::GpgPassphrase(right.clone()), Scope::All, 1);
    let before = tree(&sandbox.root());
    let keys = |word: &str| Keys::read(&[], Some(Passphrase::new(word.to_owned()))).unwrap();
    let refused = sandbox.restore_with(&created.backup.path, &keys("wrong horse")).unwrap_err();
    assert!(matches!(refused, Error::WrongKey { .. }), "{refused}");
    let refused = sandbox.restore(&created.backup.path).unwrap_err();
    assert!(matches!(refused, Error::NoKey { .. }), "{refused}");
    assert_eq!(tree(&sandbox.root()), before);
    assert!(sandbox.beside().is_empty(), "{:?}", sandbox.beside());
    sandbox.restore_with(&created.backup.path, &keys("right horse")).unwrap();
}

#[test]
fn root_gives_the_home_to_its_owner() {
    let sandbox = Sandbox::filled();
    let created = sandbox.backup();
    if !nix::unistd::geteuid().is_root() {
        // Everything is the user's own then, and cannot be anybody else's.
        sandbox.restore(&created.backup.path).unwrap();
        let owner = |path: &str| fs::metadata(sandbox.root().join(path)).unwrap().uid();
        assert_eq!(owner("state.db"), nix::unistd::geteuid().as_raw());
        return;
    }
    let own = |path: &std::path::Path| {
        std::os::unix::fs::chown(path, Some(4321), Some(4322)).unwrap();
    };
    own(&sandbox.root());
    sandbox.restore(&created.backup.path).unwrap();
    for path in ["", "SOUL.md", "state.db", "skills/devops/deploy/run.sh", "profiles/coder"] {
        let found = fs::metadata(sandbox.root().join(path)).unwrap();
        assert_eq!((found.uid(), found.gid()), (4321, 4322), "{path}");
    }
    // Without a home to look at, the folder that it comes into says whose it is.
    fs::remove_dir_all(sandbox.root()).unwrap();
    own(sandbox.path());
    sandbox.restore(&created.backup.path).unwrap();
    assert_eq!(fs::metadata(sandbox.root().join("SOUL.md")).unwrap().uid(), 4321);
}
