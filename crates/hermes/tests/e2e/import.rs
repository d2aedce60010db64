//! Histories and memories of other programs, brought in from the command line: planned, asked, taken in once.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

#[expect(clippy::disallowed_methods, reason = "tests write files as other programs do")]
fn write(sandbox: &Sandbox, inside: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = sandbox.folder().join(inside);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// A transcript of Claude Code with so many turns.
fn transcript(turns: usize) -> String {
    let mut all = Vec::new();
    for turn in 0..turns {
        let at =
            format!("2026-05-01T{:02}:{:02}:{:02}.000Z", turn / 3600, turn / 60 % 60, turn % 60);
        all.push(json!({"type": "user", "uuid": format!("u{turn}"), "timestamp": at, "cwd": "/home/ana/brightcart",
            "message": {"role": "user", "content": format!("Question {turn} about the harbor crane")}}));
        all.push(json!({"type": "assistant", "uuid": format!("a{turn}"), "timestamp": at,
            "message": {"id": format!("m{turn}"), "content": [{"type": "text", "text": format!("Answer {turn}")}]}}));
    }
    lines(&all)
}

fn with_claude(turns: usize) -> Sandbox {
    let sandbox = Sandbox::ready();
    write(&sandbox, ".claude/projects/-home-ana/s1.jsonl", transcript(turns));
    sandbox
}

#[test]
fn auto_lists_what_is_there_and_changes_nothing() {
    let sandbox = with_claude(2);
    let before = sandbox.snapshot();
    let found = sandbox.json(&["import", "auto"]);
    let first = &found["results"][0];
    assert_eq!((first["source"].as_str(), first["files"].as_u64()), (Some("claude-code"), Some(1)));
    assert!(first["command"].as_str().unwrap().starts_with("hermes import claude-code "));
    assert!(sandbox.ok(&["import", "auto"]).contains("Claude Code"));
    sandbox.fails(&["import", "auto", "--all"], 5, &["--yes"]);
    assert!(sandbox.snapshot() == before);
    sandbox.ok(&["import", "auto", "--all", "--yes"]);
    let found = sandbox.ok(&["memory", "search", "harbor crane"]);
    assert!(found.contains("harbor crane"), "{found}");
}

#[test]
fn an_import_shows_its_plan_asks_and_adds_nothing_twice() {
    let sandbox = with_claude(30);
    let plan = sandbox.ok(&["import", "claude-code", "--dry-run"]);
    assert!(plan.contains("1 session, 60 messages, 2026-05-01"), "{plan}");
    assert!(plan.contains("60 new, 0 known already"), "{plan}");
    let ran = sandbox.fails(&["import", "claude-code"], 5, &["import 60 messages?", "--yes"]);
    assert!(ran.stdout.contains("60 new"), "{}", ran.stdout);
    let done = sandbox.json(&["import", "claude-code", "--yes"]);
    assert_eq!((&done["taken"]["messages"], &done["taken"]["episodes"]), (&json!(60), &json!(30)));
    let again = sandbox.json(&["import", "claude-code", "--yes"]);
    let counts = (&again["taken"]["messages"], &again["taken"]["known_messages"]);
    assert_eq!(counts, (&json!(0), &json!(60)));
    assert!(sandbox.ok(&["import", "claude-code"]).contains("0 new, 60 known already"));
    let found = sandbox.json(&["memory", "search", "--type", "episodes", "Question 7 harbor"]);
    assert!(found.to_string().contains("brightcart"), "{found}");
}

#[test]
fn what_was_recorded_when_it_was_said_is_not_added_again() {
    let sandbox = with_claude(3);
    let turn = json!({"session_id": "s1", "channel": "claude-code", "from": "claude-code", "messages": [
        {"role": "user", "text": "Question 1 about the harbor crane", "external_id": "hook-1"},
        {"role": "assistant", "text": "Answer 1", "external_id": "hook-2"}]});
    let fed = sandbox.feed(&["memory", "turn", "-"], turn.to_string().as_bytes());
    assert_eq!(fed.code, 0, "{}{}", fed.stdout, fed.stderr);
    for added in [4, 0] {
        let done = sandbox.json(&["import", "claude-code", "--yes"]);
        assert_eq!(done["taken"]["messages"], json!(added), "{done}");
    }
}

#[test]
fn what_was_forgotten_stays_forgotten() {
    let sandbox = Sandbox::ready();
    let memories = json!({"results": [{"id": "1", "memory": "Ana keeps bees"}, {"id": "2", "memory": "Bob sails"}]});
    write(&sandbox, "mem0.json", memories.to_string());
    let done = sandbox.json(&["import", "mem0", "mem0.json", "--yes"]);
    assert_eq!(done["taken"]["facts"], json!(2));
    sandbox.ok(&["memory", "fact", "delete", "1"]);
    let again = sandbox.json(&["import", "mem0", "mem0.json", "--yes"]);
    assert_eq!(again["taken"]["facts"], json!(0));
    write(&sandbox, "other.json", json!([{"id": "9", "memory": "Ana keeps bees."}]).to_string());
    let other = sandbox.json(&["import", "mem0", "other.json", "--yes"]);
    let counts = (&other["taken"]["facts"], &other["taken"]["forgotten"]);
    assert_eq!(counts, (&json!(0), &json!(1)));
    let claude = with_claude(4);
    claude.ok(&["import", "claude-code", "--yes"]);
    claude.ok(&["memory", "forget", "--session", "s1", "--yes"]);
    let again = claude.json(&["import", "claude-code", "--yes"]);
    assert_eq!(again["taken"]["messages"], json!(0));
    let found = claude.json(&["memory", "search", "harbor crane"]);
    assert_eq!(found["results"].as_array().map(Vec::len), Some(0), "{found}");
}

#[test]
fn a_killed_import_goes_on_and_ends_like_one_that_was_not() {
    let clean = with_claude(1500);
    clean.ok(&["import", "claude-code", "--yes"]);
    let broken = with_claude(1500);
    for _ in 0..6 {
        let mut command = broken.command(&["import", "claude-code", "--yes"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let database = broken.path("memory.db-wal");
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 400
            && database.metadata().map_or(0, |found| found.len()) < 200_000
        {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    broken.ok(&["import", "claude-code", "--yes"]);
    let counts = |sandbox: &Sandbox| {
        let status = sandbox.json(&["memory", "status"]);
        [status["episodes"].clone(), status["messages"].clone()]
    };
    assert_eq!(counts(&broken), counts(&clean));
    let again = broken.json(&["import", "claude-code", "--yes"]);
    assert_eq!(again["taken"]["known_messages"], json!(3000));
}

#[test]
fn skipped_lines_are_named_and_the_code_says_so() {
    let sandbox = Sandbox::ready();
    let text = "{\"role\":\"user\",\"content\":\"fine\"}\nnonsense\n{\"role\":\"user\",\"con";
    write(&sandbox, "talk.jsonl", text);
    let ran = sandbox.run(&["import", "jsonl", "talk.jsonl", "--yes"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("talk.jsonl line 2") && ran.stdout.contains("truncated"));
    sandbox.fails(&["import", "jsonl", "/dev/zero", "--yes"], 5, &["not a regular file"]);
    sandbox.fails(&["import", "jsonl", "nowhere.jsonl"], 4, &["no such file"]);
    sandbox.fails(&["import", "chatgpt"], 2, &["no usual location"]);
    sandbox.fails(&["import", "hermes-agent", ".hermes"], 5, &["the home itself", "catch-up"]);
}

#[test]
fn secrets_are_replaced_and_words_go_to_the_user_they_belong_to() {
    let sandbox = Sandbox::ready();
    let said = json!({"role": "user", "content": "the key is sk-abcdefghijklmnop123456", "ts": 1_750_000_000});
    write(&sandbox, "talk.jsonl", format!("{said}\n"));
    sandbox.ok(&["import", "jsonl", "talk.jsonl", "--redact", "--user", "bob", "--yes"]);
    let document = sandbox.ok(&["memory", "export"]);
    assert!(
        document.contains("[secret: openai-key]") && !document.contains("sk-abcdef"),
        "{document}"
    );
    assert!(document.contains("2025-06-15"), "{document}");
    let mine = sandbox.json(&["memory", "search", "key"]);
    assert_eq!(mine["results"].as_array().map(Vec::len), Some(0), "{mine}");
}

#[test]
fn our_own_export_comes_back_the_same() {
    let sandbox = with_claude(5);
    sandbox.ok(&["import", "claude-code", "--yes"]);
    sandbox.ok(&["memory", "fact", "add", "The crane is yellow"]);
    sandbox.ok(&["memory", "export", "--output", "memory.json"]);
    let document = fs::read_to_string(sandbox.folder().join("memory.json")).unwrap();
    let other = Sandbox::ready();
    write(&other, "memory.json", &document);
    other.ok(&["import", "hermes", "memory.json"]);
    let back = other.ok(&["memory", "export"]);
    assert_eq!(crate::transfer::without_time(&back), crate::transfer::without_time(&document));
}

#[test]
fn openclaw_moves_in_and_nothing_of_the_users_own_is_overwritten() {
    let sandbox = Sandbox::ready();
    let claw = ".openclaw/workspace";
    write(&sandbox, &format!("{claw}/SOUL.md"), "You are Claw.\n");
    write(&sandbox, &format!("{claw}/MEMORY.md"), "# Work\n- Ana runs the harbor\n");
    write(&sandbox, &format!("{claw}/USER.md"), "- Likes tea\n");
    write(&sandbox, &format!("{claw}/AGENTS.md"), "# Rules\n");
    write(&sandbox, &format!("{claw}/memory/2026-02-03.md"), "Fixed the gate.\n");
    let skill = "---\nname: brew-tea\ndescription: Brew tea for guests\n---\nBoil water.\n";
    write(&sandbox, &format!("{claw}/skills/brew-tea/SKILL.md"), skill);
    sandbox.ok(&["memory", "add", "My own entry"]);
    let before = sandbox.snapshot();
    let plan = sandbox.ok(&["claw", "migrate", "--dry-run"]);
    assert!(plan.contains("is placed beside yours") && plan.contains("becomes"), "{plan}");
    assert!(sandbox.snapshot() == before);
    sandbox.fails(&["claw", "migrate"], 5, &["--yes"]);
    let source = fs::read(sandbox.folder().join(claw).join("SOUL.md")).unwrap();
    let done = sandbox.ok(&["claw", "migrate", "--yes"]);
    assert!(done.contains("a copy of what was migrated is in"), "{done}");
    assert_eq!(sandbox.read("SOUL.md"), "You are Claw.\n");
    assert!(sandbox.read("memories/MEMORY.md").contains("My own entry"));
    assert!(sandbox.read("memories/MEMORY.md.openclaw").contains("Ana runs the harbor"));
    assert_eq!(sandbox.read("memories/USER.md"), "- Likes tea\n");
    assert!(sandbox.ok(&["skills", "list", "--pending"]).contains("brew-tea"));
    assert!(!sandbox.path("skills/brew-tea").exists());
    let kept: Vec<PathBuf> = fs::read_dir(sandbox.path("migration"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(kept[0].join("AGENTS.md").is_file() && kept[0].join("memory/2026-02-03.md").is_file());
    assert_eq!(fs::read(sandbox.folder().join(claw).join("SOUL.md")).unwrap(), source);
    let facts = sandbox.ok(&["memory", "fact", "list"]);
    assert!(facts.contains("Ana runs the harbor"), "{facts}");
    let again = sandbox.ok(&["claw", "migrate", "--yes"]);
    assert!(again.contains("0 messages added") && again.contains("0 facts added"), "{again}");
}
