//! The exports of ChatGPT and Claude.ai: trees, hidden nodes, parts that are no text, empty `text`.

use hermes_import::{Error, LeftOut, Source};
use serde_json::{Value, json};

use crate::support::{Folder, options, read, try_read};

fn node(id: &str, parent: Option<&str>, role: &str, parts: Value) -> (String, Value) {
    let message = json!({"id": format!("m-{id}"), "author": {"role": role}, "create_time": 1_714_557_600.5,
        "content": {"content_type": "text", "parts": parts}, "weight": 1.0, "recipient": "all", "metadata": {}});
    (id.to_owned(), json!({"id": id, "parent": parent, "children": [], "message": message}))
}

fn conversation(nodes: Vec<(String, Value)>, current: &str) -> Value {
    let mapping: serde_json::Map<String, Value> = nodes.into_iter().collect();
    json!({"title": "Garden", "create_time": 1_714_557_600.0, "mapping": mapping,
        "current_node": current, "conversation_id": "g1", "default_model_slug": "gpt-x"})
}

fn garden() -> Value {
    let mut hidden = node("h", Some("root"), "user", json!(["about me"]));
    hidden.1["message"]["metadata"]["is_visually_hidden_from_conversation"] = json!(true);
    let mut thoughts = node("t", Some("u"), "assistant", json!([]));
    thoughts.1["message"]["content"] = json!({"content_type": "thoughts", "thoughts": []});
    let mut call = node("c", Some("t"), "assistant", json!([]));
    call.1["message"]["content"] = json!({"content_type": "code", "text": "search('kale')"});
    call.1["message"]["recipient"] = json!("browser");
    conversation(
        vec![
            ("root".to_owned(), json!({"id": "root", "parent": null, "message": null})),
            node("s", Some("root"), "system", json!([""])),
            hidden,
            node(
                "u",
                Some("h"),
                "user",
                json!([{"content_type": "image_asset_pointer"}, "When do I plant kale?"]),
            ),
            node("old", Some("u"), "assistant", json!(["In May."])),
            thoughts,
            call,
            node("a", Some("c"), "assistant", json!(["In March."])),
        ],
        "a",
    )
}

#[test]
fn the_branch_that_was_seen_last_is_taken() {
    let folder = Folder::new();
    let path = folder.write("conversations.json", json!([garden()]).to_string());
    let got = read(Source::ChatGpt, &path);
    assert_eq!(got.said(), [("user", "When do I plant kale?"), ("assistant", "In March.")]);
    let first = &got.messages[0];
    assert_eq!((first.id.as_str(), first.session.id.as_str()), ("m-u", "g1"));
    assert_eq!(first.at.as_millisecond(), 1_714_557_600_500);
    assert!(got.messages.iter().any(|one| one.tool_calls.is_some()));
    for (kind, count) in [
        (LeftOut::OtherBranches, 1),
        (LeftOut::Hidden, 1),
        (LeftOut::Reasoning, 1),
        (LeftOut::Attachments, 1),
    ] {
        assert_eq!(got.left(kind), count, "{kind:?}");
    }
}

#[test]
fn trees_that_go_round_or_miss_parents_come_to_an_end() {
    let folder = Folder::new();
    let round = conversation(
        vec![
            node("x", Some("y"), "user", json!(["one"])),
            node("y", Some("x"), "assistant", json!(["two"])),
        ],
        "y",
    );
    let orphan = conversation(vec![node("z", Some("gone"), "user", json!(["three"]))], "nowhere");
    let bad = json!({"title": "no mapping"});
    let document = json!([round, bad, 7, orphan]).to_string();
    let path = folder.write("conversations.json", document);
    let got = read(Source::ChatGpt, &path);
    assert_eq!(got.said().len(), 3);
    assert_eq!(got.tally.problems.len(), 2);
}

#[test]
fn an_array_that_is_cut_off_or_nested_too_deep_costs_only_that() {
    let folder = Folder::new();
    let deep = format!("{{\"mapping\":{}1{}}}", "[".repeat(400), "]".repeat(400));
    let text = format!("[{deep},\n{},\n{{\"title\":\"cut", garden());
    let path = folder.write("conversations.json", text);
    let got = read(Source::ChatGpt, &path);
    assert_eq!(got.said().len(), 2);
    assert_eq!(got.tally.problems.len(), 2, "{:?}", got.reasons());
    assert_eq!(got.tally.problems[1].line, Some(3));
}

fn talk() -> Value {
    let message = |uuid: &str, parent: &str, sender: &str, text: &str, content: Value| {
        json!({"uuid": uuid, "parent_message_uuid": parent, "sender": sender, "text": text, "content": content,
            "created_at": "2026-03-01T09:00:00.000Z", "attachments": [], "files": [{"file_name": "a.pdf"}]})
    };
    json!({"uuid": "k1", "name": "Tea", "created_at": "2026-03-01T09:00:00Z", "chat_messages": [
        message("1", "0", "human", "", json!([{"type": "text", "text": "Which tea?"}])),
        message("2", "1", "assistant", "old answer", json!([])),
        message("3", "1", "assistant", "", json!([
            {"type": "thinking", "thinking": "hm"},
            {"type": "tool_use", "id": "t", "name": "web_search", "input": {"q": "tea"}},
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "green"}]},
            {"type": "text", "text": "Green."}])),
        message("4", "3", "human", "Thanks", json!([])),
    ]})
}

#[test]
fn words_of_claude_ai_are_found_in_content_and_in_text() {
    let folder = Folder::new();
    let path = folder.write("conversations.json", json!([talk()]).to_string());
    let got = read(Source::ClaudeAi, &path);
    let wanted =
        [("user", "Which tea?"), ("assistant", "Green."), ("tool", "green"), ("user", "Thanks")];
    assert_eq!(got.said(), wanted);
    assert_eq!((got.left(LeftOut::OtherBranches), got.left(LeftOut::Reasoning)), (1, 1));
}

#[test]
fn the_export_of_the_other_is_named() {
    let folder = Folder::new();
    let theirs = folder.write("a/conversations.json", json!([talk()]).to_string());
    let other = folder.write("b/conversations.json", json!([garden()]).to_string());
    for (source, path, command) in
        [(Source::ChatGpt, theirs, "claude-ai"), (Source::ClaudeAi, other, "chatgpt")]
    {
        let refused = try_read(source, &path, &options()).err().unwrap();
        assert!(matches!(&refused, Error::NotThis { why, .. } if why.contains(command)));
    }
}
