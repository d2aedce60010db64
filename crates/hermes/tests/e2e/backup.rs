//! Backups as a user makes, checks, sends and restores them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::sandbox::{Holder, Sandbox};

/// A home with something in it, and a pair of keys whose private half is outside of it.
struct Place {
    sandbox: Sandbox,
}

impl Place {
    fn new() -> Place {
        let sandbox = Sandbox::ready();
        sandbox.write("SOUL.md", "You are a careful librarian.\n");
        let id = sandbox.ok(&["sessions", "create", "--title", "Deploying"]);
        sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "the capstan is deployed"]);
        sandbox.ok(&["memory", "fact", "add", "Backups go to the attic"]);
        let place = Place { sandbox };
        let private = place.private();
        place.ok(&["backup", "key", "generate", "--no-passphrase", "--private", &private]);
        place
    }

    fn ok(&self, arguments: &[&str]) -> String {
        self.sandbox.ok(arguments)
    }

    fn private(&self) -> String {
        self.outside("private.asc").to_str().unwrap().to_owned()
    }

    fn outside(&self, name: &str) -> PathBuf {
        self.sandbox.folder().join(name)
    }

    fn create(&self) -> Value {
        self.sandbox.json(&["backup", "create"])
    }

    fn archives(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = fs::read_dir(self.outside(".hermes-backups"))
            .map(|entries| entries.map(|entry| entry.unwrap().path()).collect())
            .unwrap_or_default();
        found.retain(|path| path.to_string_lossy().contains(".tar."));
        found.sort();
        found
    }

    /// Runs a line of shell as the page of the backup says it.
    fn shell(&self, line: &str) -> String {
        let mut command = self.sandbox.command_of(Path::new("/bin/sh"), &["-c", line]);
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}\n{text}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

#[test]
fn nothing_is_made_in_plain_text_unless_that_is_said() {
    let sandbox = Sandbox::ready();
    sandbox.fails(&["backup", "create"], 5, &["no encryption is set up", "hermes backup setup"]);
    sandbox.ok(&[
        "config",
        "set",
        "backup.recipients",
        "[\"0123456789ABCDEF0123456789ABCDEF01234567\"]",
    ]);
    sandbox.run(&["backup", "create"]).failed(2, &["0123456789ABCDEF"]);
    let folder = sandbox.folder().join(".hermes-backups");
    let is_empty = || fs::read_dir(&folder).map(|mut entries| entries.next().is_none());
    assert!(is_empty().unwrap_or(true), "something was left behind");
    sandbox.ok(&["backup", "create", "--plaintext"]);
    let listed = sandbox.json(&["backup", "list"]);
    assert_eq!(listed["results"][0]["encrypted_to"], serde_json::json!([]));
}

#[test]
fn a_restore_keeps_what_was_there_and_can_be_undone() {
    let place = Place::new();
    place.create();
    place.sandbox.write("SOUL.md", "Somebody else.\n");
    let private = place.private();
    let done = place.sandbox.json(&["--yes", "backup", "restore", "--identity", &private]);
    assert_eq!(place.sandbox.read("SOUL.md"), "You are a careful librarian.\n");
    let aside = PathBuf::from(done["kept_aside"].as_str().unwrap());
    assert_eq!(fs::read_to_string(aside.join("SOUL.md")).unwrap(), "Somebody else.\n");
    assert!(place.ok(&["sessions", "search", "capstan"]).contains("capstan"));
    assert!(place.ok(&["memory", "fact", "list"]).contains("attic"));
    place.ok(&["--yes", "backup", "restore", "--rollback"]);
    assert_eq!(place.sandbox.read("SOUL.md"), "Somebody else.\n");
}

#[test]
fn a_restore_on_a_new_machine_needs_the_file_and_the_key_alone() {
    let place = Place::new();
    let made = place.create();
    let new = place.outside("elsewhere");
    let archive = made["path"].as_str().unwrap();
    let home = new.to_str().unwrap();
    let private = place.private();
    place.ok(&["--home", home, "--yes", "backup", "restore", archive, "--identity", &private]);
    let found = place.ok(&["--home", home, "sessions", "search", "capstan"]);
    assert!(found.contains("capstan"), "{found}");
}

#[test]
fn single_things_come_back_beside_what_is_there() {
    let place = Place::new();
    place
        .sandbox
        .write("skills/brew/SKILL.md", "---\nname: brew\ndescription: Brews tea.\n---\nBoil.\n");
    place.create();
    let private = place.private();
    place.sandbox.write("SOUL.md", "Somebody else.\n");
    place.ok(&["--yes", "skills", "delete", "brew"]);
    let brought =
        place.sandbox.json(&["backup", "restore", "--path", "SOUL.md", "--identity", &private]);
    let beside = brought["results"][0]["path"].as_str().unwrap();
    assert_eq!(fs::read_to_string(beside).unwrap(), "You are a careful librarian.\n");
    assert_eq!(place.sandbox.read("SOUL.md"), "Somebody else.\n");
    place.ok(&["backup", "restore", "--path", "SOUL.md", "--replace", "--identity", &private]);
    assert_eq!(place.sandbox.read("SOUL.md"), "You are a careful librarian.\n");
    place.ok(&["backup", "restore", "--skill", "brew", "--replace", "--identity", &private]);
    assert!(place.sandbox.read("skills/brew/SKILL.md").contains("Boil."));
    let id =
        place.sandbox.json(&["sessions", "list"])["results"][0]["id"].as_str().unwrap().to_owned();
    place.ok(&["--yes", "sessions", "delete", &id]);
    place.ok(&["backup", "restore", "--session", &id, "--identity", &private]);
    assert!(place.ok(&["sessions", "show", &id]).contains("capstan"));
}

#[test]
fn wrong_keys_and_changed_archives_are_refused_before_anything_is_touched() {
    let place = Place::new();
    place.create();
    let before = place.sandbox.snapshot();
    let place_of = |name: &str| place.outside(name).to_str().unwrap().to_owned();
    let other = Place::new();
    let wrong = other.private();
    let arguments = ["--yes", "backup", "restore", "--identity", wrong.as_str()];
    place.sandbox.run(&arguments).failed(12, &["could not decrypt"]);
    place.sandbox.run(&["--yes", "backup", "restore"]).failed(12, &["--identity"]);
    let archive = place.archives().remove(0);
    let mut bytes = fs::read(&archive).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    write(&archive, &bytes);
    let private = place.private();
    place
        .sandbox
        .run(&["--yes", "backup", "restore", "--identity", &private])
        .failed(5, &["could not verify"]);
    let verified = place.sandbox.run(&["backup", "verify", "--identity", &private]);
    assert_eq!(verified.code, 6);
    assert!(verified.stdout.contains("FAIL"), "{}", verified.stdout);
    assert_eq!(place.sandbox.snapshot(), before);
    let status = place.sandbox.run(&["backup", "status"]);
    assert_eq!(status.code, 6);
    assert!(
        status.stdout.contains("red"),
        "a failed check outranks a good backup: {}",
        status.stdout
    );
    assert!(!Path::new(&place_of(".hermes.restore.json")).exists());
}

#[expect(clippy::disallowed_methods, reason = "tests write files as an intruder would")]
fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_restore_is_refused_while_a_program_has_the_databases_open() {
    let place = Place::new();
    place.create();
    let holder = Holder::of(&place.sandbox, "state.db");
    let private = place.private();
    let own = format!("(process {})", std::process::id());
    place
        .sandbox
        .run(&["--yes", "backup", "restore", "--identity", &private])
        .failed(11, &["state.db", &own]);
    drop(holder);
    place.ok(&["--yes", "backup", "restore", "--identity", &private]);
}

#[test]
fn a_damaged_database_is_saved_under_a_name_that_says_so_and_never_counts() {
    let place = Place::new();
    place.create();
    let mut bytes = fs::read(place.sandbox.path("state.db")).unwrap();
    bytes[4096..12_288].fill(0xAA);
    place.sandbox.write("state.db", &bytes);
    let ran = place.sandbox.run(&["backup", "create"]);
    assert_eq!(ran.code, 6, "{}{}", ran.stdout, ran.stderr);
    assert!(place.archives().iter().any(|path| path.to_string_lossy().contains("DAMAGED")));
    let private = place.private();
    // The newest good one is what a restore takes.
    place.ok(&["--yes", "backup", "restore", "--identity", &private]);
    assert!(place.ok(&["sessions", "search", "capstan"]).contains("capstan"));
}

#[test]
fn every_night_one_is_made_sent_away_and_old_ones_go() {
    let place = Place::new();
    fs::create_dir(place.outside("disk")).unwrap();
    let disk = place.outside("disk").to_str().unwrap().to_owned();
    place.ok(&["config", "set", "backup.targets", &disk]);
    place.ok(&["config", "set", "backup.keep_last", "2"]);
    for day in ["20250101", "20250102", "20250103"] {
        place.create();
        made_on(&place, day);
    }
    // Nobody else is scheduled, so it is made.
    place.ok(&["backup", "create", "--scheduled", "cron"]);
    let left = place.sandbox.json(&["backup", "list"]);
    assert_eq!(left["results"].as_array().unwrap().len(), 2, "{left}");
    let sent = fs::read_dir(place.outside("disk")).unwrap().count();
    assert_eq!(sent, 8, "four archives, each with its short list");
    fs::remove_dir_all(place.outside(".hermes-backups")).unwrap();
    let target = ["backup", "pull", "--target", disk.as_str()];
    place.ok(&target);
    place.ok(&["backup", "drill", "--identity", &place.private()]);
}

/// The newest archive as if it had been made on another day, by a version that signed nothing.
fn made_on(place: &Place, day: &str) {
    let newest = place.sandbox.json(&["backup", "list"])["results"][0]["id"].clone();
    let id = newest.as_str().unwrap().to_owned();
    let old = id.replacen(&id[..8], day, 1);
    let folder = place.outside(".hermes-backups");
    for path in place.archives().iter().filter(|path| path.to_string_lossy().contains(&id)) {
        let name = path.file_name().unwrap().to_str().unwrap().replace(&id, &old);
        fs::rename(path, folder.join(name)).unwrap();
    }
    for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        let is_text = file.extension().is_some_and(|ending| ending == "json" || ending == "jsonl");
        if is_text {
            let text = fs::read_to_string(&file).unwrap().replace(&id, &old);
            write(&file, without_signature(&text).as_bytes());
        }
    }
    for key in ["backup-signing.key", "backup-signers.json"] {
        let _ = fs::remove_file(place.sandbox.path("hermesd").join(key));
    }
}

/// A sidecar as older versions wrote it; other texts as they are.
fn without_signature(text: &str) -> String {
    let Ok(mut sidecar) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    if let Some(fields) = sidecar.as_object_mut() {
        fields.remove("signed");
    }
    sidecar.to_string()
}

#[test]
fn a_drill_leaves_a_receipt_and_status_says_how_it_stands() {
    let place = Place::new();
    let none = place.sandbox.run(&["backup", "status"]);
    assert_eq!(none.code, 6);
    place.create();
    place.ok(&["backup", "schedule", "install", "--daemon"]);
    let drilled =
        place.sandbox.json(&["backup", "drill", "--random", "--identity", &place.private()]);
    assert_eq!(drilled["passed"], true);
    let receipt = PathBuf::from(drilled["kept_in"].as_str().unwrap());
    assert!(receipt.exists() && receipt.with_extension("txt").exists());
    let status = place.sandbox.json(&["backup", "status"]);
    assert_eq!(status["colour"], "green", "{status}");
    assert!(place.ok(&["backup", "receipt", "list"]).contains("ok"));
    assert!(place.ok(&["doctor"]).contains("green"));
}

#[test]
fn a_passphrase_comes_from_a_file_or_a_descriptor_and_never_from_an_argument() {
    let place = Place::new();
    let file = place.outside("phrase");
    write(&file, b"correct horse battery\n");
    Command::new("chmod").arg("600").arg(&file).status().unwrap();
    let phrase = file.to_str().unwrap();
    place.ok(&["backup", "create", "--passphrase", "age", "--passphrase-file", phrase]);
    let id =
        place.sandbox.json(&["backup", "list"])["results"][0]["id"].as_str().unwrap().to_owned();
    place.ok(&["backup", "verify", &id, "--passphrase-file", phrase]);
    let program = env!("CARGO_BIN_EXE_hermes");
    place.shell(&format!("{program} backup verify {id} --passphrase-fd 3 3< phrase"));
    write(&file, b"wrong\n");
    place
        .sandbox
        .run(&["backup", "verify", &id, "--passphrase-file", phrase])
        .failed(12, &["could not decrypt"]);
    Command::new("chmod").arg("644").arg(&file).status().unwrap();
    let open = place.sandbox.run(&["backup", "verify", &id, "--passphrase-file", phrase]);
    assert_ne!(open.code, 0);
    assert!(open.stderr.contains("chmod 600"), "{}", open.stderr);
}

#[test]
fn settings_that_cannot_be_read_do_not_stand_in_the_way_of_bringing_them_back() {
    let place = Place::new();
    place.create();
    place.ok(&["backup", "schedule", "install", "--daemon"]);
    place.sandbox.write("config.yaml", "backup: [unclosed\n");
    let private = place.private();
    place.ok(&["backup", "restore", "--path", "config.yaml", "--replace", "--identity", &private]);
    assert!(place.sandbox.read("config.yaml").contains("recipients"));
    place.sandbox.write("config.yaml", "backup: [unclosed\n");
    place.ok(&["--yes", "backup", "restore", "--identity", &private]);
    assert!(place.sandbox.read("config.yaml").contains("recipients"));
    let scheduled = place.sandbox.run(&["backup", "schedule", "status"]).stdout;
    assert!(scheduled.contains("by daemon"), "the schedule of this machine is kept: {scheduled}");
}

#[test]
fn a_profile_that_is_named_is_all_that_is_touched() {
    let place = Place::new();
    let private = place.private();
    place.ok(&["profile", "create", "coder"]);
    place.sandbox.write("profiles/coder/SOUL.md", "You write programs.\n");
    place.ok(&["--profile", "coder", "backup", "create"]);
    let standing = place.sandbox.run(&["backup", "status"]);
    assert_eq!(standing.code, 6, "one profile is no backup of the home: {}", standing.stdout);
    place.create();
    place.sandbox.write("SOUL.md", "Changed.\n");
    place.sandbox.write("profiles/coder/SOUL.md", "Changed too.\n");
    let named =
        ["--profile", "coder", "--yes", "backup", "restore", "--identity", private.as_str()];
    place.ok(&named);
    assert_eq!(place.sandbox.read("SOUL.md"), "Changed.\n");
    assert_eq!(place.sandbox.read("profiles/coder/SOUL.md"), "You write programs.\n");
    place.sandbox.write("profiles/coder/SOUL.md", "Changed again.\n");
    place.ok(&[
        "--profile",
        "coder",
        "backup",
        "restore",
        "--path",
        "SOUL.md",
        "--replace",
        "--identity",
        &private,
    ]);
    assert_eq!(place.sandbox.read("profiles/coder/SOUL.md"), "You write programs.\n");
    place.ok(&["--yes", "backup", "restore", "--identity", &private]);
    assert_eq!(place.sandbox.read("SOUL.md"), "You are a careful librarian.\n");
}

#[test]
fn plain_text_stays_on_this_machine_and_one_backup_can_be_deleted() {
    let place = Place::new();
    fs::create_dir(place.outside("disk")).unwrap();
    let disk = place.outside("disk").to_str().unwrap().to_owned();
    place.ok(&["backup", "create", "--plaintext"]);
    let sent = place.sandbox.json(&["backup", "push", &disk]);
    assert_eq!(sent["results"][0]["sent"], serde_json::json!([]));
    assert_eq!(fs::read_dir(place.outside("disk")).unwrap().count(), 0);
    let phrase = place.outside("phrase");
    write(&phrase, b"correct horse\n");
    let both = ["backup", "create", "--plaintext", "--passphrase-file", phrase.to_str().unwrap()];
    assert_eq!(place.sandbox.run(&both).code, 2);
    let id =
        place.sandbox.json(&["backup", "list"])["results"][0]["id"].as_str().unwrap().to_owned();
    place.ok(&["--yes", "backup", "delete", &id]);
    assert!(place.archives().is_empty());
}

#[test]
fn a_memory_outside_of_the_home_is_in_the_backup_and_its_move_is_named() {
    let place = Place::new();
    let outside = place.outside("elsewhere.db");
    fs::rename(place.sandbox.path("memory.db"), &outside).unwrap();
    place.ok(&["config", "set", "memory.path", outside.to_str().unwrap()]);
    place.create();
    let private = place.private();
    let done = place.sandbox.json(&["--yes", "backup", "restore", "--identity", &private]);
    let remarks = done["remarks"].to_string();
    assert!(remarks.contains("elsewhere.db"), "{remarks}");
    assert!(place.sandbox.path("memory.db").exists());
}
