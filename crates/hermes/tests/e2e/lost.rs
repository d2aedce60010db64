//! Databases that were there and are gone: never made anew in silence, and the backup that has them is named.

use std::fs;

use serde_json::{Value, json};

use crate::listening::Listening;
use crate::recall::{remembering, search};
use crate::sandbox::Sandbox;

/// A home with a fact, a session and a backup; the id of that.
fn home() -> (Sandbox, String) {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create", "--title", "Deploying"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "the capstan is deployed"]);
    sandbox.ok(&["memory", "fact", "add", "Backups go to the attic"]);
    let backup =
        sandbox.json(&["backup", "create", "--plaintext"])["id"].as_str().unwrap().to_owned();
    (sandbox, backup)
}

/// Takes a database away with all that lies beside it.
fn lose(sandbox: &Sandbox, file: &str) {
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(sandbox.path(&format!("{file}{ending}")));
    }
    assert!(!sandbox.path(file).exists());
}

fn check(sandbox: &Sandbox, name: &str) -> Value {
    let report: Value = serde_json::from_str(&sandbox.run(&["doctor", "--json"]).stdout).unwrap();
    let found = report["results"].as_array().unwrap().iter().find(|check| check["name"] == name);
    found.unwrap_or_else(|| panic!("no check {name} in {report}")).clone()
}

/// What `hermes status` says is missing of the root home.
fn missing(sandbox: &Sandbox) -> Value {
    let ran = sandbox.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&ran.stdout).unwrap();
    let missing = status["profiles"][0]["missing"].clone();
    assert_eq!(ran.code, if missing.is_null() { 0 } else { 6 }, "{}", ran.stdout);
    missing
}

fn found(sandbox: &Sandbox, question: &str) -> String {
    sandbox.json(&["memory", "search", question]).to_string()
}

/// Runs a command as it was printed.
fn run_printed(sandbox: &Sandbox, command: &str) {
    let words: Vec<&str> = command.split_whitespace().collect();
    assert_eq!(words[0], "hermes", "{command}");
    sandbox.ok(&words[1..]);
}

fn noted(sandbox: &Sandbox) -> Value {
    serde_json::from_str(&sandbox.read("hermesd/databases.json")).unwrap()
}

#[test]
fn a_lost_memory_is_neither_made_anew_nor_read_as_empty() {
    let (sandbox, backup) = home();
    lose(&sandbox, "memory.db");
    for arguments in [
        &["memory", "search", "attic"][..],
        &["memory", "fact", "add", "Something new"],
        &["memory", "fact", "list"],
        &["memory", "context", "backups"],
        &["memory", "status"],
        &["memory", "catch-up"],
        &["memory", "compact"],
        &["jobs", "list"],
        &["start"],
    ] {
        let restore = format!("hermes backup restore {backup} --path memory.db");
        sandbox.fails(arguments, 10, &["memory.db", "missing", &restore, "--new-memory"]);
        assert!(!sandbox.path("memory.db").exists(), "{arguments:?} made one");
    }
    let found = check(&sandbox, "memory.db");
    assert_eq!(found["status"], "fail", "{found}");
    assert!(found["evidence"].as_str().unwrap().contains(&backup), "{found}");
    let missing = missing(&sandbox);
    assert_eq!(missing[0]["backup"], backup.as_str(), "{missing}");
    let text = sandbox.run(&["status"]).stdout;
    assert!(text.contains("missing") && text.contains(&backup), "{text}");
    run_printed(&sandbox, missing[0]["restore"].as_str().unwrap());
    assert!(sandbox.ok(&["memory", "search", "attic"]).contains("attic"));
    assert_eq!(check(&sandbox, "memory.db")["status"], "ok");
}

#[test]
fn lost_sessions_are_not_made_anew() {
    let (sandbox, backup) = home();
    lose(&sandbox, "state.db");
    for arguments in [
        &["sessions", "list"][..],
        &["sessions", "search", "capstan"],
        &["sessions", "create"],
        &["init"],
        &["start"],
        &["start", "--no-daemon"],
    ] {
        let restore = format!("hermes backup restore {backup} --path state.db");
        sandbox.fails(arguments, 10, &["state.db", "missing", &restore, "--new-state"]);
        assert!(!sandbox.path("state.db").exists(), "{arguments:?} made one");
    }
    sandbox.fails(&["backup", "restore", &backup, "--session", "x"], 4, &["session x"]);
    let found = check(&sandbox, "sessions");
    assert_eq!(
        (&found["status"], &found["repair"]),
        (&json!("fail"), &missing(&sandbox)[0]["restore"])
    );
    run_printed(&sandbox, found["repair"].as_str().unwrap());
    assert!(sandbox.ok(&["sessions", "search", "capstan"]).contains("capstan"));
}

#[test]
fn one_session_alone_does_not_stand_for_all_that_were_lost() {
    let (sandbox, backup) = home();
    let id = sandbox.sql("state.db", "select id from sessions");
    lose(&sandbox, "state.db");
    let restore = ["backup", "restore", &backup, "--session", &id];
    sandbox.fails(&restore, 10, &["state.db", "missing", "--path state.db"]);
    assert!(!sandbox.path("state.db").exists());
}

#[test]
fn a_turn_waits_for_what_is_lost_and_is_taken_in_when_it_is_back() {
    let (sandbox, _) = home();
    lose(&sandbox, "memory.db");
    let stop = json!({"hook_event_name": "Stop", "session_id": "s-1", "cwd": "/srv/shop",
        "prompt": "Where does the crane stand?", "last_assistant_message": "The crane stands in Porto."});
    let ran = sandbox.feed(&["hook", "claude-code"], stop.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let told = sandbox.json(&["memory", "turn", "--user-text", "The lighthouse is red"]);
    assert_eq!(told["results"][0]["kept_in"], "state_db", "{told}");
    assert!(!sandbox.path("memory.db").exists());
    run_printed(&sandbox, missing(&sandbox)[0]["restore"].as_str().unwrap());
    sandbox.ok(&["memory", "catch-up"]);
    assert!(found(&sandbox, "crane Porto").contains("crane stands"));
    assert!(found(&sandbox, "lighthouse red").contains("lighthouse"));
    lose(&sandbox, "state.db");
    let told = sandbox.json(&["memory", "turn", "--user-text", "The mole is long"]);
    assert_eq!(told["results"][0]["kept_in"], "spool", "{told}");
    run_printed(&sandbox, missing(&sandbox)[0]["restore"].as_str().unwrap());
    sandbox.ok(&["memory", "catch-up"]);
    assert!(sandbox.ok(&["sessions", "search", "mole"]).contains("mole"));
}

#[test]
fn its_backups_stay_the_homes_own_and_one_without_the_memory_never_counts() {
    let (sandbox, backup) = home();
    lose(&sandbox, "memory.db");
    let listed = sandbox.json(&["backup", "list"]);
    assert_eq!(listed["results"][0]["home"], "this", "{listed}");
    let ran = sandbox.run(&["backup", "create", "--plaintext", "--json"]);
    let made: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &made["damaged"]), (6, &json!(["memory.db"])), "{made}");
    assert!(made["path"].as_str().unwrap().contains("DAMAGED"), "{made}");
    assert_eq!(missing(&sandbox)[0]["backup"], backup.as_str(), "the one that has it is named");
    sandbox.ok(&["init", "--new-memory"]);
    let of_home = |archive: &str| {
        let beside = fs::read_dir(sandbox.folder().join(".hermes-backups")).unwrap();
        let paths = beside.map(|entry| entry.unwrap().path());
        let mut sidecars = paths.filter(|path| path.to_string_lossy().ends_with(".json"));
        let found = sidecars.find(|path| path.to_string_lossy().contains(archive)).unwrap();
        let sidecar: Value = serde_json::from_slice(&fs::read(found).unwrap()).unwrap();
        sidecar["home"].clone()
    };
    let after =
        sandbox.json(&["backup", "create", "--plaintext"])["id"].as_str().unwrap().to_owned();
    let tag = |id: &str| id.rsplit('-').next().unwrap().to_owned();
    assert_eq!(of_home(&tag(&backup)), of_home(&tag(&after)), "the home is still the same");
}

#[test]
fn a_new_memory_begins_only_when_that_is_said() {
    let (sandbox, _) = home();
    sandbox.fails(&["init", "--new-memory"], 5, &["memory.db", "already exists"]);
    sandbox.fails(&["init", "--new-state"], 5, &["state.db", "already exists"]);
    lose(&sandbox, "memory.db");
    lose(&sandbox, "state.db");
    sandbox.fails(&["init", "--new-memory"], 10, &["state.db"]);
    let made = sandbox.json(&["init", "--new-state", "--new-memory"]);
    assert_eq!(made["made"].as_array().unwrap().len(), 2, "{made}");
    assert_eq!(sandbox.json(&["memory", "fact", "list"])["results"], json!([]));
    let begun = noted(&sandbox)["begun_anew"].clone();
    assert_eq!(
        (&begun[0]["database"], &begun[1]["database"]),
        (&json!("state.db"), &json!("memory.db"))
    );
    sandbox.ok(&["start", "--no-daemon"]);
    // The new one is kept as the old one was; what was saved before it has another one.
    lose(&sandbox, "memory.db");
    sandbox.fails(
        &["memory", "fact", "list"],
        10,
        &["memory.db", "no backup known here contains it"],
    );
}

#[test]
fn a_profile_is_a_home_of_its_own() {
    let (sandbox, _) = home();
    sandbox.ok(&["profile", "create", "coder"]);
    sandbox.ok(&["-p", "coder", "memory", "fact", "add", "Tabs are four wide"]);
    let backup =
        sandbox.json(&["backup", "create", "--plaintext"])["id"].as_str().unwrap().to_owned();
    lose(&sandbox, "profiles/coder/memory.db");
    let restore =
        format!("--profile coder backup restore {backup} --path profiles/coder/memory.db");
    sandbox.fails(&["-p", "coder", "memory", "search", "tabs"], 10, &["memory.db", &restore]);
    assert!(
        sandbox.ok(&["memory", "search", "attic"]).contains("attic"),
        "the other one has its own"
    );
    // A profile that is taken away and made anew has lost nothing.
    sandbox.ok(&["profile", "delete", "coder", "--yes"]);
    sandbox.ok(&["profile", "create", "coder"]);
    sandbox.ok(&["-p", "coder", "memory", "fact", "add", "Tabs are two wide"]);
}

#[test]
fn a_home_of_an_earlier_version_takes_over_the_id_of_its_memory() {
    let (sandbox, _) = home();
    // As it was before homes had a note: sidecars name the id that is in the memory.
    fs::remove_file(sandbox.path("hermesd/databases.json")).unwrap();
    let id = sandbox.sql("memory.db", "select value from meta where key = 'home_id'");
    sandbox.ok(&["memory", "fact", "add", "The crane stands in Porto"]);
    assert_eq!(noted(&sandbox)["home_id"], id.as_str());
    lose(&sandbox, "memory.db");
    sandbox.fails(&["memory", "fact", "list"], 10, &["memory.db", "missing"]);
    assert_eq!(noted(&sandbox)["home_id"], id.as_str());
}

#[test]
fn a_note_that_cannot_be_read_makes_nothing_anew() {
    let (sandbox, _) = home();
    sandbox.write("hermesd/databases.json", "{");
    assert!(sandbox.ok(&["memory", "search", "attic"]).contains("attic"));
    lose(&sandbox, "memory.db");
    sandbox.fails(&["memory", "fact", "add", "Something new"], 10, &["memory.db", "missing"]);
    assert!(!sandbox.path("memory.db").exists());
}

#[test]
fn a_setting_that_names_another_place_does_not_empty_the_memory() {
    let (sandbox, _) = home();
    let elsewhere = sandbox.folder().join("elsewhere/memory.db");
    sandbox.ok(&["config", "set", "memory.path", elsewhere.to_str().unwrap()]);
    let here = sandbox.path("memory.db");
    let said = format!("mv {} {}", here.display(), elsewhere.display());
    sandbox.fails(
        &["memory", "fact", "list"],
        10,
        &["missing", &said, "hermes config set memory.path"],
    );
    assert!(!elsewhere.exists());
    fs::create_dir(elsewhere.parent().unwrap()).unwrap();
    fs::rename(&here, &elsewhere).unwrap();
    assert!(sandbox.ok(&["memory", "search", "attic"]).contains("attic"));
    sandbox.ok(&["memory", "fact", "add", "The crane stands in Porto"]);
    let backup =
        sandbox.json(&["backup", "create", "--plaintext"])["id"].as_str().unwrap().to_owned();
    fs::remove_file(&elsewhere).unwrap();
    let command = format!("backup restore {backup} --path memory.db && mv {}", here.display());
    sandbox.fails(&["memory", "fact", "list"], 10, &[&command]);
}

fn turn(daemon: &Listening, text: &str) -> Value {
    let turn = json!({ "session_id": "s1", "channel": "telegram", "from": "shopbot",
        "messages": [{ "role": "user", "text": text, "external_id": text }] });
    let told = daemon.post("/api/v1/turns", &turn);
    assert_eq!(told.status, 200, "{}", told.text);
    told.json()["results"][0].clone()
}

#[test]
fn nothing_goes_to_a_stranger_in_the_place_of_the_memory_and_turns_wait() {
    let daemon = Listening::new();
    let sandbox = &daemon.sandbox;
    assert_eq!(turn(&daemon, "The crane stands in Porto")["kept_in"], "memory");
    // Held open, as by whoever asks again and again.
    assert_eq!(daemon.get("/api/v1/search?q=crane").status, 200);
    let kept = sandbox.folder().join("kept.db");
    for ending in ["", "-wal", "-shm"] {
        let (from, to) = (format!("memory.db{ending}"), format!("{}{ending}", kept.display()));
        let _ = fs::rename(sandbox.path(&from), to);
    }
    let fact = json!({ "text": "The ladder is in the cellar" });
    assert_eq!(turn(&daemon, "The mole is long")["kept_in"], "spool", "it was removed");
    assert_ne!(daemon.post("/api/v1/facts", &fact).status, 200);
    assert!(!sandbox.path("memory.db").exists(), "none is made in its place");
    let stranger = Sandbox::ready();
    stranger.ok(&["memory", "fact", "add", "The ladder is in the attic"]);
    for is_link in [false, true] {
        let _ = fs::remove_file(sandbox.path("memory.db"));
        match is_link {
            true => {
                std::os::unix::fs::symlink(stranger.path("memory.db"), sandbox.path("memory.db"))
                    .unwrap()
            }
            false => drop(fs::copy(stranger.path("memory.db"), sandbox.path("memory.db")).unwrap()),
        }
        let bytes = fs::read(sandbox.path("memory.db")).unwrap();
        let said = format!("The lighthouse is red, {is_link}");
        assert_eq!(turn(&daemon, &said)["kept_in"], "spool");
        assert_ne!(daemon.post("/api/v1/facts", &fact).status, 200);
        assert_ne!(daemon.get("/api/v1/search?q=ladder").status, 200, "it is not read either");
        assert_eq!(
            fs::read(sandbox.path("memory.db")).unwrap(),
            bytes,
            "nothing was written to it"
        );
        assert!(!sandbox.path("memory.db-wal").exists());
    }
    // The right one is back: what waited is taken in.
    fs::remove_file(sandbox.path("memory.db")).unwrap();
    for ending in ["", "-wal", "-shm"] {
        let (from, to) = (format!("{}{ending}", kept.display()), format!("memory.db{ending}"));
        let _ = fs::rename(from, sandbox.path(&to));
    }
    sandbox.ok(&["restart"]);
    sandbox.ok(&["memory", "catch-up"]);
    for words in ["crane Porto", "mole long", "lighthouse red"] {
        let first = words.split(' ').next().unwrap();
        assert!(found(sandbox, words).contains(first), "{words}");
    }
    assert!(
        !found(sandbox, "ladder cellar").contains("cellar"),
        "what was refused was not written"
    );
}

#[test]
fn the_setting_moves_the_memory_and_a_profile_has_its_own() {
    let sandbox = remembering();
    sandbox.ok(&["config", "set", "memory.path", "~/elsewhere/mind.db"]);
    // The memory that the home has is not left behind for an empty one.
    let elsewhere = sandbox.folder().join("elsewhere/mind.db");
    sandbox.fails(&["memory", "search", "docker compose"], 10, &["is missing", "move it with"]);
    assert!(!elsewhere.exists());
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::rename(sandbox.path("memory.db"), &elsewhere).unwrap();
    assert!(!search(&sandbox, &["docker compose", "--type", "episodes"]).is_empty());
    sandbox.ok(&["memory", "fact", "add", "Kept elsewhere"]);
    assert!(!sandbox.path("memory.db").exists());
    fs::rename(&elsewhere, sandbox.path("memory.db")).unwrap();
    sandbox.ok(&["config", "unset", "memory.path"]);
    sandbox.ok(&["profile", "create", "work"]);
    assert!(search(&sandbox, &["docker compose", "--profile", "work"]).is_empty());
    sandbox.ok(&["memory", "fact", "add", "Only at work", "--profile", "work"]);
    assert_eq!(sandbox.json(&["memory", "status"])["facts"], 4);
    sandbox.fails(&["profile", "rename", "work", "no/name"], 2, &[]);
    sandbox.ok(&["profile", "rename", "work", "job"]);
    assert_eq!(sandbox.json(&["memory", "status", "--profile", "job"])["facts"], 1);
    fs::copy(sandbox.path("memory.db"), sandbox.path("profiles/job/memory.db")).unwrap();
    sandbox.fails(&["memory", "status", "--profile", "job"], 5, &["belongs to profile default"]);
}
