//! Turns that an agent tells a hook, and how often each was kept.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::sandbox::{Ran, Sandbox};

pub(crate) fn turn(number: usize) -> Value {
    json!({"hook_event_name": "Stop", "session_id": format!("kept-{number}"), "cwd": "/srv/shop",
        "prompt": format!("Where is box {number}?"),
        "last_assistant_message": format!("Box {number} is in the cellar.")})
}

/// Sends an event to a program that runs the hook in its own way.
pub(crate) fn sent(mut command: Command, event: &Value) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
    Ran::of(&child.wait_with_output().unwrap())
}

pub(crate) fn times_kept(sandbox: &Sandbox, number: usize) -> usize {
    if !sandbox.path("memory.db").exists() {
        return 0;
    }
    let sql = format!("select count(*) from message where text = 'Box {number} is in the cellar.'");
    sandbox.sql("memory.db", &sql).parse().unwrap()
}

/// Taken in once, however often that is done.
pub(crate) fn is_taken_in_once(sandbox: &Sandbox, number: usize) {
    for _ in 0..2 {
        sandbox.ok(&["memory", "catch-up"]);
        assert_eq!(times_kept(sandbox, number), 1);
    }
}

/// The files of turns in a folder.
pub(crate) fn names(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    listed.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).collect()
}
