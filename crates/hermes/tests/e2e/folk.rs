//! Homes with several people in them, and words that must be gone when somebody is forgotten.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::sandbox::Sandbox;

/// A word that stands nowhere else, as one token.
pub(crate) const CANARY: &str = "zqvoxcanary";

/// Ana talked, is known, has files and an identity; ben and the owner too, so that there is something to mix up.
pub(crate) fn three_people(sandbox: &Sandbox) {
    sandbox.ok(&["config", "set", "users.mode", "several"]);
    for (user, word) in [("ana", "marmalade"), ("ben", "porridge"), ("owner", "espresso")] {
        sandbox.ok(&["user", "add", user]);
        let text = format!("I had {word} this morning");
        let turn = ["memory", "turn", "--user", user, "--user-text", &text];
        sandbox.ok(&[&turn[..], &["--assistant-text", "Enjoy."]].concat());
        sandbox.ok(&["memory", "fact", "add", &format!("{word} is good"), "--user", user]);
        sandbox.ok(&["memory", "fact", "add", "Tea is served at four", "--user", user]);
        let note = format!("Likes {word} a lot");
        match user {
            "owner" => sandbox.ok(&["memory", "add", "--file", "user", &note]),
            _ => sandbox.ok(&["memory", "add", "--file", "user", "--user", user, &note]),
        };
    }
    sandbox.ok(&["memory", "fact", "add", "The office is in Lisbon", "--user", "ana", "--shared"]);
    sandbox.ok(&["user", "link", "telegram", "7", "ana"]);
}

pub(crate) fn facts(sandbox: &Sandbox, user: &str) -> Vec<String> {
    let listed = sandbox.json(&["memory", "fact", "list", "--user", user]);
    let mut texts: Vec<String> = listed["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| fact["text"].as_str().unwrap().to_owned())
        .collect();
    texts.sort();
    texts
}

pub(crate) fn names(sandbox: &Sandbox) -> Vec<String> {
    let listed = sandbox.json(&["user", "list"]);
    let all = listed["results"].as_array().unwrap().clone();
    all.iter().map(|user| user["name"].as_str().unwrap().to_owned()).collect()
}

/// The files below a folder that hold a word, backups aside.
pub(crate) fn holding(folder: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holding(&path, word));
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let name = path.display().to_string();
        let has = |bytes: &[u8]| bytes.windows(word.len()).any(|part| part == word.as_bytes());
        if has(&bytes) || has(name.as_bytes()) {
            found.push(name);
        }
    }
    found
}

/// A turn in which a tool of some name answered what was remembered.
pub(crate) fn echo(sandbox: &Sandbox, session: &str, tool: &str) {
    let calls =
        json!([{"id": "c1", "name": tool, "input": {"query": format!("where is the {CANARY}")}}]);
    let turn = json!({"session_id": session, "messages": [
        {"role": "user", "text": "Where did we put it?"},
        {"role": "assistant", "text": "", "tool_calls": calls},
        {"role": "tool", "text": format!("[episode:1] the {CANARY} is behind the piano"), "tool_call_id": "c1"},
        {"role": "assistant", "text": "I found it."}]});
    let ran = sandbox.feed(&["memory", "turn", "-"], turn.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

/// Something that was said in a session, and a tool's answer in another that repeats it, as an older version took it in:
/// it knew no tool by its name.
pub(crate) fn said_and_repeated(sandbox: &Sandbox) {
    let said = json!({"session_id": "first", "messages": [
        {"role": "user", "text": format!("The {CANARY} is behind the piano")},
        {"role": "assistant", "text": "Noted."}]});
    let ran = sandbox.feed(&["memory", "turn", "-"], said.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    echo(sandbox, "second", "lookup");
}
