//! Mem0, the reference memory, Markdown folders and plain lines of JSON.

use hermes_import::{LeftOut, Source};
use serde_json::json;

use crate::support::{Folder, read};

#[test]
fn memories_of_mem0_come_bare_below_results_or_one_a_line() {
    let folder = Folder::new();
    let memory = json!({"id": "m1", "memory": "Ana likes tea", "user_id": "ana",
        "created_at": "2026-01-02T03:04:05-07:00", "expiration_date": "2027-01-01"});
    let bad = json!({"id": "m2"});
    for (name, text) in [
        ("list.json", json!([memory, bad]).to_string()),
        ("results.json", json!({"count": 2, "results": [memory, bad]}).to_string()),
        ("lines.jsonl", format!("{memory}\n{bad}\n")),
    ] {
        let got = read(Source::Mem0, &folder.write(name, text));
        assert_eq!(got.known(), ["Ana likes tea"], "{name}");
        assert_eq!(got.facts[0].id, "m1");
        assert_eq!(got.facts[0].at.unwrap().to_string(), "2026-01-02T10:04:05Z");
        assert!(got.facts[0].until.is_some());
        assert_eq!((got.tally.problems.len(), got.tally.files), (1, 1), "{name}");
    }
}

#[test]
fn entities_and_relations_become_facts_with_their_names() {
    let folder = Folder::new();
    let text = [
        json!({"type": "entity", "name": "BrightCart", "entityType": "project",
            "observations": ["is deployed with docker", "BrightCart has 3 users"]}),
        json!({"type": "relation", "from": "Ana", "to": "BrightCart", "relationType": "works_on"}),
        json!({"type": "other"}),
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    let path = folder.write("memory.jsonl", text);
    let got = read(Source::ReferenceMemory, &path);
    let wanted = [
        "BrightCart: is deployed with docker",
        "BrightCart has 3 users",
        "Ana works on BrightCart",
    ];
    assert_eq!(got.known(), wanted);
    assert_eq!(got.facts[2].names, ["Ana", "BrightCart"]);
    assert_eq!(got.tally.problems.len(), 1);
}

#[test]
fn notes_of_a_folder_are_dated_and_links_out_of_it_are_not_followed() {
    let folder = Folder::new();
    let secret = folder.write("outside/secret.md", "# Secret\nkeep out");
    folder
        .write("vault/Trees.md", "---\ntitle: Trees\ndate: 2025-04-03\n---\n# Apple\nWater it.\n");
    folder.write("vault/daily/2025-05-06.md", "Planted kale.\n");
    folder.write("vault/.obsidian/x.md", "settings");
    folder.write("vault/picture.png", b"\x89PNG");
    folder.write("vault/latin.md", b"caf\xe9 au lait and more");
    folder.write("vault/wide.md", b"\xff\xfeh\0e\0l\0l\0o\0");
    folder.write("vault/huge.md", "x\n\n".repeat(4 * 1024 * 1024));
    std::os::unix::fs::symlink(&secret, folder.path("vault/link.md")).unwrap();
    std::os::unix::fs::symlink(folder.path("outside"), folder.path("vault/out")).unwrap();
    let got = read(Source::MarkdownFolder, &folder.path("vault"));
    assert_eq!(
        got.said(),
        [("user", "Trees › Apple\nWater it."), ("user", "2025-05-06\nPlanted kale.")]
    );
    assert_eq!(got.messages[0].at.strftime("%Y-%m-%d").to_string(), "2025-04-03");
    assert_eq!(got.messages[1].at.strftime("%Y-%m-%d").to_string(), "2025-05-06");
    assert_eq!(got.messages[1].session.id, "daily/2025-05-06.md");
    assert_eq!(got.left(LeftOut::Links), 2);
    assert_eq!(got.tally.problems.len(), 3, "{:?}", got.reasons());
}

#[test]
fn plain_lines_may_count_seconds_milliseconds_or_write_dates() {
    let folder = Folder::new();
    let text = [
        json!({"role": "user", "content": "one", "ts": 1_714_557_600}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "two"}], "ts": 1_714_557_601_000_i64}),
        json!({"role": "Human", "text": "three", "timestamp": "2024-05-01T10:00:02Z", "session": "s"}),
        json!({"role": "system", "content": "rules"}),
        json!({"role": "user", "content": "four", "ts": "soon"}),
        json!({"content": "five"}),
        json!({"messages": [{"role": "user", "content": "six"}, {"role": "assistant", "content": "seven"}]}),
        json!({"role": "user", "content": "one", "ts": 1_714_557_600}),
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    let path = folder.write("talk.jsonl", text);
    let got = read(Source::Jsonl, &path);
    let words: Vec<&str> = got.said().iter().map(|(_, text)| *text).collect();
    assert_eq!(words, ["one", "two", "three", "six", "seven", "one"]);
    let seconds: Vec<i64> = got.messages.iter().take(3).map(|one| one.at.as_second()).collect();
    assert_eq!(seconds, [1_714_557_600, 1_714_557_601, 1_714_557_602]);
    let sessions: Vec<&str> = got.messages.iter().map(|one| one.session.id.as_str()).collect();
    assert_eq!(sessions, ["talk", "talk", "s", "talk#7", "talk#7", "talk"]);
    assert_ne!(got.messages[0].id, got.messages[5].id);
    assert_eq!((got.left(LeftOut::SystemPrompts), got.tally.problems.len()), (1, 2));
    let ids = |got: &crate::support::Got| -> Vec<String> {
        got.messages.iter().map(|one| one.id.clone()).collect()
    };
    assert_eq!(ids(&got), ids(&read(Source::Jsonl, &path)));
}
