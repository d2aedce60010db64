//! Profiles carried elsewhere, and links that backups do not follow, as a user sees them.

use std::fs;
use std::os::unix::fs::symlink;

use crate::sandbox::Sandbox;

#[test]
fn a_profile_goes_to_another_home_and_remembers() {
    let (here, there) = (Sandbox::ready(), Sandbox::ready());
    here.ok(&["profile", "create", "coder"]);
    here.ok(&["--profile", "coder", "memory", "fact", "add", "Small commits are good"]);
    here.write("profiles/coder/.env", "TOKEN=hunter2\n");
    here.write("words", "correct horse battery\n");
    let phrase = here.folder().join("phrase");
    fs::rename(here.path("words"), &phrase).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&phrase, mode).unwrap();
    let (phrase, file) = (phrase.to_str().unwrap(), here.folder().join("coder.export"));
    let file = file.to_str().unwrap();
    here.fails(&["profile", "export", "coder", "--to", file], 5, &["--plaintext"]);
    let export = ["profile", "export", "coder", "--to", file, "--passphrase-file", phrase];
    let done = here.json(&export);
    assert_eq!(done["secrets_left_out"], serde_json::json!([]));
    here.fails(&export, 5, &["already exists"]);
    let import = ["profile", "import", file, "--passphrase-file", phrase];
    there.fails(&["profile", "import", file, "--no-input"], 12, &[]);
    let tried = there.json(&[import.as_slice(), &["--dry-run"]].concat());
    assert_eq!(tried["profile"], "coder");
    assert!(!there.path("profiles/coder").exists());
    there.ok(&import);
    assert!(there.ok(&["--profile", "coder", "memory", "fact", "list"]).contains("Small commits"));
    assert_eq!(there.read("profiles/coder/.env"), "TOKEN=hunter2\n");
    there.fails(&import, 5, &["--name"]);
    let other = [import.as_slice(), &["--name", "poet"]].concat();
    assert!(there.ok(&other).contains("it was called coder"));
    there.ok(&["--profile", "poet", "memory", "fact", "add", "Short lines"]);
}

#[test]
fn a_plain_export_names_the_secrets_it_leaves_out() {
    let sandbox = Sandbox::ready();
    sandbox.write(".env", "TOKEN=hunter2\n");
    let done = sandbox.json(&["profile", "export", "default", "--plaintext"]);
    assert_eq!(done["secrets_left_out"], serde_json::json!([".env"]));
    let path = done["path"].as_str().unwrap();
    sandbox.fails(&["profile", "import", path], 5, &["--name"]);
    sandbox.ok(&["profile", "import", path, "--name", "second"]);
    assert!(!sandbox.path("profiles/second/.env").exists());
    sandbox.ok(&["backup", "create", "--plaintext"]);
    let backups = fs::read_dir(sandbox.folder().join(".hermes-backups")).unwrap().flatten();
    let whole =
        backups.map(|entry| entry.path()).find(|path| path.extension() == Some("zst".as_ref()));
    let whole = whole.unwrap();
    let whole = whole.to_str().unwrap();
    sandbox.fails(&["profile", "import", whole], 5, &["hermes backup restore", "--profile"]);
    sandbox.ok(&["--profile", "second", "profile", "import", whole, "--name", "third"]);
}

#[test]
fn links_to_folders_are_warned_of_and_followed_on_request() {
    let sandbox = Sandbox::ready();
    sandbox.write("../dotfiles/deploy/SKILL.md", "---\nname: deploy\n---\n");
    symlink(sandbox.folder().join("dotfiles/deploy"), sandbox.path("skills/deploy")).unwrap();
    let ran = sandbox.run(&["backup", "create", "--plaintext"]);
    assert!(ran.stderr.contains("warning: skills/deploy is a link"), "{}", ran.stderr);
    assert!(ran.stdout.contains("mkdir -p restored && tar"), "{}", ran.stdout);
    let status = sandbox.run(&["backup", "status"]);
    assert_eq!(status.code, 6);
    assert!(status.stdout.contains("skills/deploy is a link to a folder"), "{}", status.stdout);
    sandbox.ok(&["config", "set", "backup.follow_links", "true"]);
    let status = sandbox.run(&["backup", "status"]);
    assert!(!status.stdout.contains("skills/deploy"), "{}", status.stdout);
    let plan = sandbox.ok(&["backup", "create", "--dry-run"]);
    assert!(plan.contains("skills/deploy/SKILL.md"), "{plan}");
}

#[test]
fn what_a_restore_cannot_do_is_said_with_its_reason() {
    let sandbox = Sandbox::ready();
    sandbox
        .write("skills/deploy/SKILL.md", "---\nname: deploy\ndescription: Deploys\n---\nDo it.\n");
    sandbox.ok(&["backup", "create", "--plaintext"]);
    let session = ["backup", "restore", "--session", "x", "--replace"];
    sandbox.fails(&session, 2, &["never overwritten"]);
    sandbox.ok(&["backup", "restore", "--skill", "deploy"]);
    sandbox.ok(&["backup", "restore", "--path", "SOUL.md", "--replace"]);
    let listed = sandbox.ok(&["skills", "list"]);
    assert!(!listed.contains("restored-"), "{listed}");
    let ran = sandbox.run(&["backup", "restore", "--rollback", "--yes"]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("SOUL.md.before-restore-"), "{}", ran.stderr);
    sandbox.ok(&["backup", "restore", "--yes"]);
    let asked = sandbox.run(&["backup", "restore", "--rollback", "--no-input"]);
    assert!(asked.stderr.contains("the whole home"), "{}", asked.stderr);
}
