//! Claude Code and Codex: events one a line, said twice, copied, packed and cut off.

use hermes_import::{LeftOut, Source};
use serde_json::{Value, json};

use crate::support::{Folder, options, read, try_read};

const SESSION: &str = "11111111-1111-4111-8111-111111111111";
const RESUMED: &str = "22222222-2222-4222-8222-222222222222";

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn user(uuid: &str, content: Value) -> Value {
    json!({"type": "user", "uuid": uuid, "sessionId": SESSION, "timestamp": "2026-05-01T10:00:00.000Z",
        "cwd": "/home/ana/brightcart", "isSidechain": false, "message": {"role": "user", "content": content}})
}

fn assistant(uuid: &str, id: &str, content: Value) -> Value {
    json!({"type": "assistant", "uuid": uuid, "timestamp": "2026-05-01T10:00:05.000Z", "isSidechain": false,
        "message": {"id": id, "role": "assistant", "model": "claude-x", "content": content}})
}

fn transcript() -> Vec<Value> {
    vec![
        json!({"type": "summary", "summary": "Deploying", "leafUuid": "x"}),
        user(
            "u1",
            json!("Deploy BrightCart to Hetzner\n<system-reminder>be good</system-reminder>"),
        ),
        assistant("a1", "m1", json!([{"type": "thinking", "thinking": "hm"}])),
        assistant("a2", "m1", json!([{"type": "text", "text": "I will look."}])),
        assistant(
            "a3",
            "m1",
            json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]),
        ),
        user(
            "u2",
            json!([{"type": "tool_result", "tool_use_id": "t1", "content": "x".repeat(5000), "is_error": true}]),
        ),
        assistant("a4", "m1", json!([{"type": "text", "text": "I will look."}])),
        assistant("a5", "m2", json!([{"type": "text", "text": "Done."}])),
        json!({"type": "user", "uuid": "u3", "isMeta": true, "message": {"role": "user", "content": "skill dump"}}),
        json!({"type": "user", "uuid": "u4", "isSidechain": true, "message": {"role": "user", "content": "sub"}}),
        user("u5", json!("<command-name>/clear</command-name>")),
        user(
            "u6",
            json!([{"type": "text", "text": "And the backups?"}, {"type": "image", "source": {}}]),
        ),
        json!({"type": "queue-operation", "operation": "enqueue"}),
    ]
}

#[test]
fn a_transcript_of_claude_code_gives_what_was_said_and_nothing_else() {
    let folder = Folder::new();
    folder.write(&format!("projects/-home-ana/{SESSION}.jsonl"), lines(&transcript()));
    folder.write(&format!("projects/-home-ana/{SESSION}/subagents/agent-1.jsonl"), "{}\n");
    let got = read(Source::ClaudeCode, &folder.path(""));
    let said = got.said();
    assert_eq!(said.len(), 5, "{said:?}");
    assert_eq!((said[1], said[3]), (("assistant", "I will look."), ("assistant", "Done.")));
    assert!(said[2].0 == "tool" && said[2].1.len() < 700);
    assert_eq!(said[4], ("user", "And the backups?"));
    let first = &got.messages[0];
    assert_eq!((first.id.as_str(), first.session.id.as_str()), ("u1", SESSION));
    assert_eq!(first.session.project.as_deref(), Some("/home/ana/brightcart"));
    assert_eq!(first.at.to_string(), "2026-05-01T10:00:00Z");
    assert!(got.messages[1].tool_calls.is_some());
    assert_eq!(got.messages[2].failed, Some(true));
    for (kind, count) in [
        (LeftOut::Reasoning, 1),
        (LeftOut::Summaries, 1),
        (LeftOut::Subagents, 2),
        (LeftOut::InjectedContext, 1),
        (LeftOut::Attachments, 1),
        (LeftOut::Remarks, 2),
    ] {
        assert_eq!(got.left(kind), count, "{kind:?}");
    }
    assert_eq!((got.tally.sessions, got.tally.problems.len()), (1, 0));
}

#[test]
fn a_resumed_session_repeats_nothing_and_names_its_kin() {
    let folder = Folder::new();
    folder.write(&format!("projects/p/{SESSION}.jsonl"), lines(&transcript()));
    let mut resumed = transcript();
    resumed.push(user("u9", json!("One more thing")));
    folder.write(&format!("projects/p/{RESUMED}.jsonl"), lines(&resumed));
    let got = read(Source::ClaudeCode, &folder.path(""));
    let again: Vec<_> = got.messages.iter().filter(|one| one.text.starts_with("Deploy")).collect();
    assert_eq!(again.len(), 1);
    let last = got.messages.iter().find(|one| one.text == "One more thing").unwrap();
    assert_eq!(last.session.kin.len(), 1);
    assert!(got.left(LeftOut::Repeated) > 5);
}

#[test]
fn prompts_whose_transcript_is_gone_come_from_the_history() {
    let folder = Folder::new();
    folder.write(&format!("projects/p/{SESSION}.jsonl"), lines(&transcript()));
    let prompt = |session: &str, text: &str, at: i64| json!({"display": text, "timestamp": at, "project": "/home/ana/x", "sessionId": session});
    folder.write(
        "history.jsonl",
        lines(&[
            prompt(SESSION, "Deploy", 1_777_000_000_000),
            prompt("gone", "Plant kale", 1_777_000_001_000),
            prompt("gone", "Water it", 1_777_000_002_000),
            prompt("gone", "/clear", 1_777_000_003_000),
            json!({"display": "no session", "timestamp": 1}),
        ]),
    );
    let got = read(Source::ClaudeCode, &folder.path(""));
    let gone: Vec<_> = got.messages.iter().filter(|one| one.session.id == "gone").collect();
    assert_eq!(gone.len(), 2);
    assert_eq!(got.left(LeftOut::Repeated), 1);
}

#[test]
fn a_torn_line_and_wrong_bytes_cost_only_themselves() {
    let folder = Folder::new();
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend(lines(&[user("u1", json!("first"))]).into_bytes());
    bytes.extend(b"{\"type\":\"user\",\"message\":\"caf\xe9\"}\n[1,2]\n\n");
    bytes.extend("[".repeat(5_000).into_bytes());
    bytes.push(b'\n');
    bytes.extend(lines(&[user("u2", json!("second"))]).into_bytes());
    bytes.extend(b"{\"type\":\"user\",\"uuid\":\"u3\",\"mess");
    let path = folder.write("a.jsonl", bytes);
    let got = read(Source::ClaudeCode, &path);
    assert_eq!(got.said(), [("user", "first"), ("user", "second")]);
    let reasons = got.reasons();
    assert_eq!(reasons.len(), 4, "{reasons:?}");
    assert!(reasons[0].contains("UTF-8") && reasons[3].contains("truncated"));
    assert_eq!(got.tally.problems[0].line, Some(2));
}

#[test]
fn only_what_is_asked_for_is_handed_out() {
    let folder = Folder::new();
    folder.write(&format!("projects/p/{SESSION}.jsonl"), lines(&transcript()));
    let mut wanted = options();
    wanted.project = Some("brightcart".to_owned());
    assert!(!try_read(Source::ClaudeCode, &folder.path(""), &wanted).unwrap().messages.is_empty());
    wanted.project = Some("/home/bob".to_owned());
    let got = try_read(Source::ClaudeCode, &folder.path(""), &wanted).unwrap();
    assert!(got.messages.is_empty() && got.left(LeftOut::OtherProjects) > 0);
    wanted.project = None;
    wanted.since = Some("2026-06-01T00:00:00Z".parse().unwrap());
    let got = try_read(Source::ClaudeCode, &folder.path(""), &wanted).unwrap();
    assert!(got.messages.is_empty() && got.left(LeftOut::Older) > 0);
}

fn event(at: u32, kind: &str, payload: Value) -> Value {
    json!({"timestamp": format!("2026-06-01T08:00:{at:02}.000Z"), "type": kind, "payload": payload})
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

fn rollout() -> Vec<Value> {
    vec![
        event(
            0,
            "session_meta",
            json!({"id": "c1", "timestamp": "2026-06-01T08:00:00Z", "cwd": "/srv/shop"}),
        ),
        event(1, "response_item", message("developer", "input_text", "rules")),
        event(
            1,
            "response_item",
            message("user", "input_text", "<environment_context>x</environment_context>"),
        ),
        event(2, "turn_context", json!({"model": "gpt-x", "cwd": "/srv/shop"})),
        event(3, "response_item", message("user", "input_text", "Fix the tests")),
        event(3, "event_msg", json!({"type": "user_message", "message": "Fix the tests"})),
        event(4, "response_item", json!({"type": "reasoning", "encrypted_content": "gAAA"})),
        event(
            5,
            "response_item",
            json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "k1"}),
        ),
        event(
            6,
            "response_item",
            json!({"type": "function_call_output", "call_id": "k1", "output": "ok"}),
        ),
        event(7, "event_msg", json!({"type": "agent_message", "message": "They pass now."})),
        event(7, "response_item", message("assistant", "output_text", "They pass now.")),
        event(8, "event_msg", json!({"type": "token_count", "info": {}})),
    ]
}

#[test]
fn a_rollout_of_codex_says_nothing_twice() {
    let folder = Folder::new();
    let name = "sessions/2026/06/01/rollout-2026-06-01T08-00-00-c1.jsonl";
    folder.write(name, lines(&rollout()));
    let got = read(Source::Codex, &folder.path(""));
    let wanted = [("user", "Fix the tests"), ("tool", "ok"), ("assistant", "They pass now.")];
    assert_eq!(got.said(), wanted);
    let first = &got.messages[0].session;
    assert_eq!((first.id.as_str(), first.project.as_deref()), ("c1", Some("/srv/shop")));
    assert!(got.messages.iter().any(|one| one.tool_calls.is_some()));
    assert_eq!((got.left(LeftOut::Reasoning), got.left(LeftOut::SystemPrompts)), (1, 1));
}

#[test]
fn a_rollout_without_events_is_read_from_its_items() {
    let folder = Folder::new();
    let items: Vec<Value> =
        rollout().into_iter().filter(|line| line["type"] != "event_msg").collect();
    let path = folder.write("rollout-old.jsonl", lines(&items));
    let got = read(Source::Codex, &path);
    let wanted = [("user", "Fix the tests"), ("tool", "ok"), ("assistant", "They pass now.")];
    assert_eq!(got.said(), wanted);
}

#[test]
fn forks_and_packed_copies_add_only_what_is_new() {
    let folder = Folder::new();
    let plain = lines(&rollout());
    folder.write("sessions/rollout-2026-06-01T08-00-00-c1.jsonl", &plain);
    let packed = zstd::encode_all(plain.as_bytes(), 3).unwrap();
    folder.write("archived_sessions/rollout-2026-06-01T08-00-00-c1.jsonl.zst", packed);
    let mut fork = rollout();
    fork.insert(
        0,
        event(0, "session_meta", json!({"id": "c2", "forked_from_id": "c1", "cwd": "/srv/shop"})),
    );
    fork.push(event(
        30,
        "event_msg",
        json!({"type": "user_message", "message": "Try another way"}),
    ));
    folder.write("sessions/rollout-2026-06-01T09-00-00-c2.jsonl", lines(&fork));
    let got = read(Source::Codex, &folder.path(""));
    assert_eq!(got.said().len(), 4);
    let last = got.messages.last().unwrap();
    assert_eq!(
        (last.session.id.as_str(), last.session.kin.as_slice()),
        ("c2", &["c1".to_owned()][..])
    );
}

#[test]
fn a_packed_rollout_that_is_cut_off_is_read_as_far_as_it_goes() {
    let folder = Folder::new();
    let long = vec![lines(&rollout()); 2_000].concat();
    let packed = zstd::encode_all(long.as_bytes(), 3).unwrap();
    let path = folder.write("rollout-c1.jsonl.zst", &packed[..packed.len() / 2]);
    let got = read(Source::Codex, &path);
    assert!(!got.messages.is_empty() || got.tally.is_partial());
    assert!(got.tally.is_partial());
}
