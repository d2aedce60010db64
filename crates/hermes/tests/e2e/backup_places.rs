//! Backups where several homes share a folder, and what setup, alerts and files elsewhere do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A home that knows who it is; a passphrase opens its backups.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "Backups go to the attic"]);
    let phrase = phrase(&sandbox);
    sandbox.ok(&["backup", "setup", "--passphrase-file", &phrase, "--format", "age"]);
    sandbox
}

/// A file with a passphrase, outside of the home.
fn phrase(sandbox: &Sandbox) -> String {
    let file = sandbox.folder().join("phrase");
    private(&file, "correct horse battery\n");
    text(&file)
}

fn private(path: &Path, words: &str) {
    hermes_home::atomic::write_private(path, words.as_bytes()).unwrap();
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn outside(sandbox: &Sandbox, name: &str) -> PathBuf {
    sandbox.folder().join(name)
}

fn made_by(sandbox: &Sandbox, home: &str) -> String {
    let made = sandbox.json(&["--home", home, "backup", "create"]);
    made["id"].as_str().unwrap().to_owned()
}

fn listed(sandbox: &Sandbox) -> Vec<(String, String)> {
    let listed = sandbox.json(&["backup", "list"]);
    let row = |row: &Value| {
        let word = |name: &str| row[name].as_str().unwrap().to_owned();
        (word("id"), word("home"))
    };
    listed["results"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn homes_that_share_a_folder_keep_and_count_their_own() {
    let sandbox = sandbox();
    let other = text(&outside(&sandbox, "other"));
    let (folder, phrase) = (text(&outside(&sandbox, "shared")), phrase(&sandbox));
    sandbox.ok(&["--home", &other, "init"]);
    sandbox.ok(&["--home", &other, "memory", "fact", "add", "Tea is at five"]);
    sandbox.ok(&["--home", &other, "backup", "setup", "--passphrase-file", &phrase]);
    let ours = text(&sandbox.home());
    for home in [&ours, &other] {
        sandbox.ok(&["--home", home, "config", "set", "backup.folder", &folder]);
    }
    let theirs = [made_by(&sandbox, &other), made_by(&sandbox, &other)];
    let status = sandbox.run(&["backup", "status", "--json"]);
    assert_eq!(status.code, 6, "another home's backup is none of ours: {}", status.stdout);
    let status: Value = serde_json::from_str(&status.stdout).unwrap();
    assert_eq!(status["newest"], Value::Null);
    let mine = [made_by(&sandbox, &ours), made_by(&sandbox, &ours)];
    let last = made_by(&sandbox, &other);
    let shown = sandbox.json(&["backup", "show"]);
    assert_eq!(shown["id"], mine[1].as_str(), "the latest is the latest of this home");
    let pruned = sandbox.ok(&["--yes", "backup", "prune", "--keep-last", "1"]);
    assert!(pruned.contains("3 archives of other homes left alone"), "{pruned}");
    let left = listed(&sandbox);
    let another = |id: &String| (id.clone(), "another".to_owned());
    assert_eq!(left.len(), 4, "{left:?}");
    assert!(left.contains(&(mine[1].clone(), "this".to_owned())), "{left:?}");
    assert!(theirs.iter().chain([&last]).all(|id| left.contains(&another(id))), "{left:?}");
}

#[test]
fn a_label_is_shown_and_names_a_backup() {
    let sandbox = sandbox();
    sandbox.ok(&["backup", "create", "--label", "before the move"]);
    sandbox.ok(&["backup", "create"]);
    let listed = sandbox.json(&["backup", "list"]);
    assert_eq!(listed["results"][1]["label"], "before the move");
    assert!(sandbox.ok(&["backup", "list"]).contains("before the move"));
    let shown = sandbox.json(&["backup", "show", "before the move"]);
    assert_eq!(shown["id"], listed["results"][1]["id"]);
    assert!(sandbox.ok(&["backup", "show", "before the move"]).contains("label "));
    sandbox.ok(&["backup", "restore", "before the move", "--path", "config.yaml"]);
    let beside = fs::read_dir(outside(&sandbox, ".hermes-backups")).unwrap();
    let is_clear = |file: &PathBuf| {
        let is_sidecar = file.extension().is_some_and(|ending| ending == "json");
        is_sidecar && fs::read_to_string(file).unwrap().contains("the move")
    };
    let mut files = beside.map(|entry| entry.unwrap().path());
    assert!(!files.any(|file| is_clear(&file)), "what is sent away holds no word of the user");
}

#[test]
fn setup_refuses_secrets_beside_what_they_open() {
    let sandbox = Sandbox::ready();
    private(&sandbox.path("phrase"), "correct horse\n");
    let inside = text(&sandbox.path("phrase"));
    let refused = |arguments: &[&str], why: &str| {
        let mut all = vec!["backup", "setup"];
        all.extend(arguments);
        sandbox.fails(&all, 5, &[why, "a disk that you take away"]);
    };
    refused(&["--passphrase-file", &inside], "inside the home");
    refused(&["--new-key", &text(&sandbox.path("private.asc"))], "inside the home");
    let beside = outside(&sandbox, ".hermes-backups/private.asc");
    refused(&["--new-key", &text(&beside)], "beside the archives");
    let disk = text(&outside(&sandbox, "disk"));
    let copies = text(&outside(&sandbox, "disk/private.asc"));
    refused(&["--new-key", &copies, "--target", &disk], "beside the copies");
    assert!(!sandbox.read("config.yaml").contains(&disk), "nothing was changed");
    let generate = ["backup", "key", "generate", "--no-passphrase", "--private"];
    let beside = text(&beside);
    let mut arguments = generate.to_vec();
    arguments.push(&beside);
    sandbox.fails(&arguments, 5, &["beside the archives"]);
}

#[test]
fn setup_tries_places_and_asks_before_it_gives_one_up() {
    let sandbox = sandbox();
    let [first, second] = ["one", "two"].map(|name| text(&outside(&sandbox, name)));
    let setup = ["backup", "setup", "--target"];
    let with = |target: &str, more: &[&str]| {
        let mut all = setup.to_vec();
        all.push(target);
        all.extend(more);
        sandbox.run(&all)
    };
    let missing = with(&first, &[]);
    assert_eq!(missing.code, 3, "{}{}", missing.stdout, missing.stderr);
    for words in ["no such folder", "mkdir -p"] {
        assert!(missing.stdout.contains(words), "{}", missing.stdout);
    }
    assert_eq!(with(&first, &["--no-check"]).code, 0);
    fs::create_dir(&second).unwrap();
    with(&second, &[]).failed(5, &["stop sending backups to", &first, "--yes"]);
    assert!(sandbox.read("config.yaml").contains(&first));
    let replaced = with(&second, &["--yes"]);
    assert_eq!(replaced.code, 0, "{}{}", replaced.stdout, replaced.stderr);
    assert!(replaced.stderr.contains("--passphrase-file"), "{}", replaced.stderr);
    assert!(replaced.stdout.contains("written and read back"), "{}", replaced.stdout);
    assert_eq!(fs::read_dir(&second).unwrap().count(), 0, "what was written to try it is gone");
    let private = text(&outside(&sandbox, "private.asc"));
    let new = sandbox.run(&["backup", "setup", "--new-key", &private]);
    assert!(new.stderr.contains(&format!("drill --identity {private}")), "{}", new.stderr);
}

#[test]
fn the_kit_of_a_passphrase_says_where_it_is_and_not_what_it_is() {
    let sandbox = sandbox();
    let page = sandbox.ok(&["backup", "key", "kit"]);
    for part in [&phrase(&sandbox), "--passphrase-file", "age --decrypt FILE", "gpg --decrypt FILE"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("horse"), "{page}");
}

#[test]
fn a_file_anywhere_can_be_verified_and_drilled() {
    let sandbox = sandbox();
    let made = sandbox.json(&["backup", "create"]);
    let archive = PathBuf::from(made["path"].as_str().unwrap());
    let elsewhere = outside(&sandbox, "elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let copy = elsewhere.join(archive.file_name().unwrap());
    fs::copy(&archive, &copy).unwrap();
    let copy = text(&copy);
    let verified = sandbox.json(&["backup", "verify", &copy]);
    assert_eq!(verified["results"][0]["members"], true);
    let drilled = sandbox.json(&["backup", "drill", &copy]);
    assert_eq!(drilled["passed"], true);
    let names: Vec<_> = fs::read_dir(&elsewhere).unwrap().collect();
    assert_eq!(names.len(), 1, "nothing is written beside it");
    let mut bytes = fs::read(&copy).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    hermes_home::atomic::write(Path::new(&copy), &bytes).unwrap();
    assert_eq!(sandbox.run(&["backup", "verify", &copy]).code, 6);
    let listed = sandbox.json(&["backup", "list"]);
    assert_eq!(listed["results"][0]["state"], "verified", "the one in the folder is whole");
    for command in ["verify", "drill", "restore"] {
        for missing in ["./gone.tar.zst.age", "20200101"] {
            sandbox.fails(&["--yes", "backup", command, missing], 4, &["hermes backup list"]);
        }
    }
    sandbox.ok(&["config", "unset", "backup.passphrase_file"]);
    let unopened = sandbox.run(&["backup", "verify"]);
    assert!(unopened.stderr.contains("--passphrase-file"), "{}", unopened.stderr);
    sandbox.fails(&["--yes", "backup", "restore"], 12, &["--passphrase-file"]);
}

#[test]
fn a_push_that_fails_and_a_folder_that_cannot_be_listed_are_told() {
    let sandbox = sandbox();
    let told = outside(&sandbox, "told");
    sandbox.ok(&["config", "set", "backup.alert_command", &format!("tee -a {}", told.display())]);
    let disk = text(&outside(&sandbox, "disk"));
    sandbox.ok(&["config", "set", "backup.targets", &disk]);
    sandbox.ok(&["config", "set", "backup.alert_after", "2"]);
    let nightly = ["backup", "create", "--scheduled", "cron"];
    sandbox.run(&nightly);
    assert!(!told.exists(), "once is not twice");
    sandbox.run(&nightly);
    let alerts = || fs::read_to_string(&told).unwrap_or_default();
    assert!(alerts().contains(&format!("the last 2 pushes to {disk} failed")), "{}", alerts());
    let before = alerts();
    sandbox.run(&nightly);
    assert_eq!(alerts(), before, "a streak is told once");
    private(&outside(&sandbox, "file"), "no folder\n");
    sandbox.ok(&["config", "set", "backup.folder", &text(&outside(&sandbox, "file"))]);
    sandbox.run(&nightly);
    assert!(alerts().contains("could not be read"), "{}", alerts());
}

#[test]
fn what_lies_about_its_day_is_no_receipt() {
    let sandbox = sandbox();
    sandbox.ok(&["backup", "create"]);
    let drilled = sandbox.json(&["backup", "drill"]);
    let receipt = PathBuf::from(drilled["kept_in"].as_str().unwrap());
    let mut told: Value = serde_json::from_str(&fs::read_to_string(receipt).unwrap()).unwrap();
    for (at, why) in [("2199-01-01T00:00:00Z", "in the future"), ("2020-01-01T00:00:00Z", "older")]
    {
        told["at"] = json!(at);
        let file = outside(&sandbox, "receipt.json");
        private(&file, &told.to_string());
        sandbox.fails(&["backup", "receipt", "import", &text(&file)], 5, &[why]);
    }
}
