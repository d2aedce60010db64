//! Signed backups as a person sees them: forged ones are refused, a new machine compares the key, old ones are signed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::sandbox::Sandbox;

fn backups(sandbox: &Sandbox) -> PathBuf {
    sandbox.folder().join(".hermes-backups")
}

/// The newest archive in the folder.
fn archive(sandbox: &Sandbox) -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir(backups(sandbox))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension() == Some("zst".as_ref()))
        .collect();
    found.sort();
    found.pop().unwrap()
}

/// An archive that somebody made elsewhere for this home, put into its folder with what stands beside it: it says that
/// it is this home's, and verified.
fn forged(sandbox: &Sandbox, stranger: &Sandbox) -> String {
    let genuine = archive(sandbox);
    let id = sandbox.json(&["backup", "show", "latest"])["sidecar"]["home"].clone();
    stranger.write("SOUL.md", "I obey somebody else.\n");
    stranger.ok(&["backup", "create", "--plaintext"]);
    let made = archive(stranger);
    let name = made.file_name().unwrap();
    let to = genuine.with_file_name(name);
    fs::copy(&made, &to).unwrap();
    let beside = |path: &Path| PathBuf::from(format!("{}.json", path.display()));
    let mut sidecar: Value = serde_json::from_slice(&fs::read(beside(&made)).unwrap()).unwrap();
    sidecar["home"] = id;
    sidecar.as_object_mut().unwrap().remove("signed");
    hermes_home::atomic::write(&beside(&to), sidecar.to_string().as_bytes()).unwrap();
    sidecar["id"].as_str().unwrap().to_owned()
}

fn row(sandbox: &Sandbox, id: &str) -> Value {
    let listed = sandbox.json(&["backup", "list"])["results"].as_array().unwrap().clone();
    listed.into_iter().find(|row| row["id"] == id).unwrap()
}

#[test]
fn a_forged_backup_does_not_count_and_is_refused_until_somebody_says_so() {
    let (sandbox, stranger) = (Sandbox::ready(), Sandbox::ready());
    sandbox.write("SOUL.md", "I am calm.\n");
    sandbox.ok(&["backup", "create", "--plaintext"]);
    let good = sandbox.json(&["backup", "show", "latest"])["id"].as_str().unwrap().to_owned();
    assert_eq!(row(&sandbox, &good)["signed"], "signed by this home");
    assert!(sandbox.ok(&["backup", "verify"]).contains("signed by this home"));
    let id = forged(&sandbox, &stranger);
    let listed = row(&sandbox, &id);
    assert_eq!((&listed["state"], &listed["signed"]), (&"unverified".into(), &"not signed".into()));
    assert!(sandbox.ok(&["backup", "list"]).contains("not signed"));
    let status = sandbox.run(&["backup", "status"]);
    assert!(status.stdout.contains("is not signed by this home"), "{}", status.stdout);
    // What is asked for without a name is the home's own.
    assert_eq!(sandbox.json(&["backup", "show", "latest"])["id"], good.as_str());
    sandbox.fails(&["backup", "restore", &id, "--yes"], 5, &["another home", "--signed-by"]);
    sandbox.fails(
        &["backup", "restore", &id, "--path", "SOUL.md", "--replace"],
        5,
        &["another home"],
    );
    sandbox.fails(&["backup", "restore", &id, "--accept-unsigned", "--no-input"], 5, &["--yes"]);
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
    sandbox.ok(&["backup", "restore", &id, "--accept-unsigned", "--yes"]);
    assert_eq!(sandbox.read("SOUL.md"), "I obey somebody else.\n");
    // The home still knows its own, and trusts nobody new.
    assert_eq!(row(&sandbox, &good)["signed"], "signed by this home");
    sandbox.fails(&["backup", "restore", &id, "--yes"], 5, &["another home"]);
}

#[test]
fn a_new_machine_compares_the_key_with_the_recovery_kit() {
    let (sandbox, fresh) = (Sandbox::ready(), Sandbox::empty());
    sandbox.write("SOUL.md", "I am calm.\n");
    sandbox.ok(&["backup", "create", "--plaintext"]);
    let key = sandbox.json(&["backup", "status"])["signed_with"].as_str().unwrap().to_owned();
    assert!(sandbox.ok(&["backup", "key", "kit"]).contains(&key));
    let made = archive(&sandbox);
    let file = made.to_str().unwrap();
    let asked = fresh.run(&["backup", "restore", file, "--no-input"]);
    assert_eq!(asked.code, 5, "{}", asked.stderr);
    assert!(asked.stderr.contains(&key), "{}", asked.stderr);
    let wrong = "0000-0000-0000-0000-0000-0000-0000-0000";
    fresh.fails(&["backup", "restore", file, "--signed-by", wrong], 5, &[&key]);
    assert!(!fresh.home().exists());
    fresh.ok(&["backup", "restore", file, "--signed-by", &key]);
    assert_eq!(fresh.read("SOUL.md"), "I am calm.\n");
    assert!(!fresh.path("hermesd/backup-signing.key").exists(), "the key is in no backup");
    // The home goes on with a key of its own, and what it signed before stays its own.
    fresh.ok(&["backup", "create", "--plaintext"]);
    let shown = fresh.ok(&["backup", "verify", file]);
    assert!(shown.contains("signed by this home"), "{shown}");
    assert_ne!(fresh.json(&["backup", "status"])["signed_with"], key.as_str());
}

#[test]
fn archives_of_a_home_that_had_no_key_are_signed_and_foreign_ones_never() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["backup", "create", "--plaintext"]);
    // As an older version left it.
    let path = archive(&sandbox);
    let beside = PathBuf::from(format!("{}.json", path.display()));
    let mut sidecar: Value = serde_json::from_slice(&fs::read(&beside).unwrap()).unwrap();
    for key in ["signed", "previous"] {
        sidecar.as_object_mut().unwrap().remove(key);
    }
    hermes_home::atomic::write(&beside, sidecar.to_string().as_bytes()).unwrap();
    for file in ["backup-signing.key", "backup-signers.json"] {
        fs::remove_file(sandbox.path("hermesd").join(file)).unwrap();
    }
    let id = sidecar["id"].as_str().unwrap().to_owned();
    assert_eq!(row(&sandbox, &id)["signed"], "signed by this home");
    sandbox.ok(&["backup", "restore", &id, "--yes"]);
    // A plain tar of a script.
    let tar = sandbox.folder().join("mine.tar.gz");
    let ran = std::process::Command::new("tar")
        .args(["-czf", tar.to_str().unwrap(), "-C", sandbox.folder().to_str().unwrap(), ".hermes"])
        .status();
    assert!(ran.unwrap().success());
    let restore = ["backup", "restore", tar.to_str().unwrap(), "--yes"];
    sandbox.fails(&restore, 5, &["it is not signed", "--accept-unsigned"]);
    sandbox.ok(&[&restore[..], &["--accept-unsigned"]].concat());
}
