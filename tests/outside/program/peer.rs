//! Hermes Agent and this program on one home: the real package opens what we wrote, and the reverse.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// The Python of the environment that holds the real package; `./test` makes it.
fn python() -> PathBuf {
    let named =
        std::env::vars().find(|(name, _)| name == "HERMES_TEST_PEER").map(|(_, value)| value);
    let path = PathBuf::from(named.unwrap_or_default());
    assert!(path.exists(), "{} is missing: run `./test`", path.display());
    path
}

/// Runs a command of `peer.py` on the home and returns what it says.
fn peer(sandbox: &Sandbox, command: &str) -> Value {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/program/peer.py");
    let mut process = sandbox.command_of(&python(), &[script, command]);
    let output = process.env("HERMES_HOME", sandbox.home()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command}: {text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_str(text.lines().last().unwrap()).unwrap()
}

fn texts(sandbox: &Sandbox, session: &str) -> Vec<String> {
    let shown = sandbox.json(&["sessions", "show", session]);
    let rows = shown["results"].as_array().unwrap();
    rows.iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn hermes_agent_opens_searches_and_extends_a_home_of_ours() {
    let sandbox = Sandbox::ready();
    let id = sandbox.ok(&["sessions", "create", "--title", "Ours"]).trim().to_owned();
    let said = ["Where is the docker file?", "Beside the compose file.", "日本語の文 café ☕"];
    for text in said {
        sandbox.ok(&["sessions", "append", &id, "--role", "user", text]);
    }
    sandbox.ok(&["memory", "add", "A fact of ours."]);
    let seen = peer(&sandbox, "visit");
    assert_eq!(seen["found_docker"], true, "{seen}");
    assert_eq!(seen["integrity"], "ok", "{seen}");
    assert_eq!(seen["foreign_keys"], 0, "{seen}");
    assert_eq!(seen["full_text_whole"], true, "{seen}");
    assert_eq!(seen["memory_write"], true, "{seen}");
    assert_eq!(texts(&sandbox, &id), said);
    let theirs = seen["session"].as_str().unwrap();
    assert_eq!(texts(&sandbox, theirs), ["a word from zebrafish", "an answer"]);
    sandbox.ok(&["sessions", "append", theirs, "--role", "user", "and ours after theirs"]);
    let hits = sandbox.json(&["sessions", "search", "zebrafish"]);
    assert_eq!(hits["results"][0]["session_id"], theirs);
    assert_eq!(sandbox.run(&["sessions", "repair", "--check"]).code, 0);
    let again = peer(&sandbox, "look");
    assert_eq!(again["found_ours_after_theirs"], true, "{again}");
    assert_eq!(again["full_text_whole"], true, "{again}");
}

#[test]
fn a_home_of_hermes_agent_is_read_whole_and_written_without_altering_its_schema() {
    let sandbox = Sandbox::empty();
    fs::create_dir_all(sandbox.home()).unwrap();
    let made = peer(&sandbox, "make");
    let before = sandbox.snapshot();
    let rows = made["rows"].as_i64().unwrap();
    let exported = sandbox.ok(&["sessions", "export"]);
    let exported: Vec<Value> =
        exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let count: usize =
        exported.iter().map(|session| session["messages"].as_array().unwrap().len()).sum();
    assert_eq!(
        i64::try_from(count).unwrap(),
        rows,
        "every row is exported, compacted and rewound too"
    );
    assert_eq!(exported.len(), made["sessions"].as_u64().unwrap() as usize);
    let compacted = sandbox.ok(&["sessions", "search", "compactable"]);
    assert!(compacted.contains("compactable"), "{compacted}");
    let rewound = sandbox.json(&["sessions", "search", "rewindable second"]);
    assert!(!rewound.to_string().contains("second rewindable"), "{rewound}");
    sandbox.ok(&["sessions", "list"]);
    sandbox.ok(&["sessions", "stats"]);
    sandbox.ok(&["memory", "show"]);
    sandbox.ok(&["start", "--no-daemon"]);
    sandbox.run(&["doctor"]);
    assert_eq!(sandbox.snapshot(), before, "reading changed the home");
    let schema = peer(&sandbox, "schema");
    let id = made["session"].as_str().unwrap();
    sandbox.ok(&["sessions", "append", id, "--role", "user", "appended platypus"]);
    sandbox.ok(&["memory", "add", "a fact from outside"]);
    sandbox.ok(&["memory", "remove", "a fact from outside"]);
    assert_eq!(peer(&sandbox, "schema"), schema, "the schema was altered");
    let seen = peer(&sandbox, "look");
    assert_eq!(seen["found_platypus"], true, "{seen}");
    assert_eq!(seen["full_text_whole"], true, "{seen}");
    assert_eq!(seen["memory_entries"], made["memory_entries"], "{seen}");
    let home = Sandbox::ready();
    let lines = sandbox.ok(&["sessions", "export"]);
    let ran = home.feed(&["sessions", "import", "-", "--json"], lines.as_bytes());
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["messages_added"], rows + 1, "{report}");
}

#[test]
fn both_programs_write_to_one_memory_file_without_losing_an_entry() {
    let sandbox = Sandbox::empty();
    fs::create_dir_all(sandbox.home()).unwrap();
    peer(&sandbox, "make");
    std::thread::scope(|scope| {
        scope.spawn(|| peer(&sandbox, "add-many"));
        for number in 0..20 {
            sandbox.ok(&["memory", "add", &format!("ours {number}"), "--file", "memory"]);
        }
    });
    let text = sandbox.read("memories/MEMORY.md");
    for number in 0..20 {
        for side in ["ours", "theirs"] {
            let entry = format!("{side} {number}");
            assert!(text.split("\n§\n").any(|found| found == entry), "{entry} is lost: {text}");
        }
    }
}

#[test]
fn our_conversation_in_a_home_of_hermes_agent_is_in_its_own_database() {
    use crate::model_server::{ModelServer, Reply};
    let sandbox = Sandbox::empty();
    fs::create_dir_all(sandbox.home()).unwrap();
    peer(&sandbox, "make");
    let schema = |sandbox: &Sandbox| -> Vec<String> {
        let db = crate::talks::state(sandbox);
        let mut rows =
            db.prepare("select coalesce(sql, name) from sqlite_master order by 1").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let before = schema(&sandbox);
    let server = ModelServer::start(vec![Reply::text("An armadillo.")]);
    let ran = crate::talks::ask(&sandbox, &server, "Which animal rolls up?");
    assert_eq!(ran.stdout, "An armadillo.\n");
    crate::talks::talk(&sandbox, &server, &["-c", "-q", "And again?"], &[]);
    assert!(server.requests()[1].body.to_string().contains("Which animal rolls up?"));
    assert_eq!(schema(&sandbox), before);
    let hits = sandbox.json(&["sessions", "search", "armadillo"]);
    assert!(!hits["results"].as_array().unwrap().is_empty(), "{hits}");
    let again = peer(&sandbox, "look");
    assert_eq!(again["full_text_whole"], true, "{again}");
}
