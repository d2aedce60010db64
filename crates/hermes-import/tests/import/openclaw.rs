//! OpenClaw: the workspace, and sessions that are trees.

use hermes_import::{Item, LeftOut, Source};
use serde_json::{Value, json};

use crate::support::{Folder, read};

fn entry(id: &str, parent: Value, role: &str, content: Value) -> Value {
    json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-02-03T04:05:06.000Z",
        "message": {"role": role, "content": content}})
}

fn session() -> String {
    [
        json!({"type": "session", "version": 3, "id": "o1", "timestamp": "2026-02-03T04:05:00Z", "cwd": "/home/ana"}),
        entry("1", Value::Null, "user", json!("Call the plumber")),
        entry("2", json!("1"), "assistant", json!([{"type": "text", "text": "Wrong number."}])),
        json!({"type": "model_change", "id": "3", "parentId": "1", "modelId": "x"}),
        entry("4", json!("3"), "assistant", json!([
            {"type": "thinking", "thinking": "hm"},
            {"type": "toolCall", "id": "t", "name": "call", "arguments": {"to": "plumber"}},
            {"type": "text", "text": "He comes on Monday."}])),
        entry("5", json!("4"), "toolResult", json!([{"type": "text", "text": "ok"}])),
    ]
    .map(|line| format!("{line}\n"))
    .concat()
}

#[test]
fn the_branch_that_leads_to_the_end_is_taken() {
    let folder = Folder::new();
    folder.write("agents/main/sessions/o1.jsonl", session());
    for name in ["o2", "o3", "o4"] {
        folder.write(&format!("agents/main/sessions/{name}.jsonl"), session());
    }
    let index = json!({
        "agent:main:telegram:dm:1": {"sessionId": "o1", "lastChannel": "telegram"},
        "agent:main:cron:7": {"sessionId": "o2"},
        "agent:main:telegram:group:9": {"sessionId": "o3", "chatType": "group"},
        "agent:main:subagent:8": {"sessionId": "o4"},
    });
    folder.write("agents/main/sessions/sessions.json", index.to_string());
    let got = read(Source::OpenClaw, &folder.path(""));
    let wanted =
        [("user", "Call the plumber"), ("assistant", "He comes on Monday."), ("tool", "ok")];
    assert_eq!(got.said(), wanted);
    assert_eq!(got.messages[0].session.channel.as_deref(), Some("telegram"));
    assert_eq!(got.messages[0].session.project.as_deref(), Some("/home/ana"));
    assert_eq!(got.left(LeftOut::OtherBranches), 1);
    let left = [LeftOut::Scheduled, LeftOut::Groups, LeftOut::Subagents];
    assert!(left.iter().all(|kind| got.left(*kind) == 4), "{:?}", got.tally.left_out);
}

#[test]
fn a_workspace_gives_facts_notes_files_and_skills() {
    let folder = Folder::new();
    folder.write("workspace/SOUL.md", "You are Claw.");
    folder.write("workspace/AGENTS.md", "# Agents");
    folder.write("workspace/MEMORY.md", "# People\n- Ana is the boss\n- Bob is on leave\n");
    folder.write("workspace/USER.md", "- Likes tea\n");
    folder.write("workspace/memory/2026-02-03.md", "# Morning\nFixed the gate.\n");
    folder.write("workspace/memory/people/carol.md", "- Carol is a vet\n");
    folder.write(
        "workspace/skills/brew/SKILL.md",
        "---\nname: brew\ndescription: Brew tea\n---\nBoil.\n",
    );
    let got = read(Source::OpenClaw, &folder.path(""));
    let wanted = ["Ana is the boss", "Bob is on leave", "Likes tea", "Carol is a vet"];
    assert_eq!(got.known(), wanted);
    assert_eq!(got.said(), [("assistant", "2026-02-03 › Morning\nFixed the gate.")]);
    let names: Vec<&str> = got
        .others
        .iter()
        .map(|item| match item {
            Item::Note(note) => note.name.as_str(),
            Item::Skill(skill) => skill.name.as_str(),
            _ => "",
        })
        .collect();
    assert_eq!(names, ["SOUL.md", "AGENTS.md", "brew"]);
}

#[test]
fn a_tree_that_goes_round_comes_to_an_end() {
    let folder = Folder::new();
    let text = format!(
        "{}\n{}\n",
        entry("1", json!("2"), "user", json!("one")),
        entry("2", json!("1"), "assistant", json!("two"))
    );
    let path = folder.write("round.jsonl", text);
    assert_eq!(read(Source::OpenClaw, &path).said().len(), 2);
}
