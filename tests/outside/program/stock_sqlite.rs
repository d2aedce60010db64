//! The databases in the hands of the stock sqlite3 program.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use hermes_store::sessions::{Owner, SessionStore};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::sandbox::Sandbox;

/// What the program prints of a file when it is told this; fails if it objects.
fn sqlite3(path: &Path, told: &str) -> String {
    let mut child = Command::new("sqlite3")
        .arg("-bail")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program sqlite3 must be installed to run this test");
    child.stdin.take().unwrap().write_all(told.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && complaint.is_empty(), "sqlite3 objects: {complaint}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Fails unless a file and its full-text index of messages are whole.
fn is_whole(path: &Path) {
    assert_eq!(sqlite3(path, "pragma integrity_check; pragma foreign_key_check;"), "ok");
    sqlite3(path, "insert into messages_fts (messages_fts, rank) values ('integrity-check', 1);");
}

/// So many messages, each in a session of its own.
fn said(count: usize) -> Sandbox {
    let sandbox = Sandbox::ready();
    for number in 0..count {
        let id = sandbox.ok(&["sessions", "create", "--title", &format!("t{number}")]);
        let text = format!("BrightCart message {number}");
        sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", &text]);
    }
    sandbox
}

#[test]
fn the_documented_query_works_in_stock_sqlite3() {
    let sandbox = said(12);
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/sessions.md");
    let page = fs::read_to_string(page).unwrap();
    let query = page.split("```sql\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(query.contains("limit 10"), "{query}");
    let rows = sqlite3(&sandbox.path("state.db"), query);
    assert_eq!(rows.lines().count(), 10, "{rows}");
    assert!(rows.lines().next().unwrap().contains("BrightCart message 11"), "{rows}");
    assert!(!rows.contains("BrightCart message 1\n"), "{rows}");
    is_whole(&sandbox.path("state.db"));
}

#[test]
fn a_database_restored_from_a_dump_is_ours_as_before() {
    let sandbox = said(1);
    let (state, restored) = (sandbox.path("state.db"), sandbox.path("restored.db"));
    sqlite3(&restored, &sqlite3(&state, ".dump"));
    assert_eq!(sqlite3(&restored, "pragma user_version;"), "0");
    let store = SessionStore::open(&restored, Access::Read, DEFAULT_WAIT).unwrap();
    assert_eq!(store.layout().owner(), Owner::Ours);
    drop(store);
    let schema = "select type, name, tbl_name, sql from sqlite_master order by 1, 2;";
    let before = [sqlite3(&state, "pragma user_version;"), sqlite3(&state, schema)];
    fs::rename(&restored, &state).unwrap();
    let id = sandbox.ok(&["sessions", "create"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "another harpoon"]);
    assert_eq!([sqlite3(&state, "pragma user_version;"), sqlite3(&state, schema)], before);
    is_whole(&state);
}
