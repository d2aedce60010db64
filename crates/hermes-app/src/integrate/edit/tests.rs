//! Whatever a file looks like: put in and taken out it is the same to the byte, and twice is once.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn entry(path: &[&str]) -> Piece {
    Piece::new(Manner::Entry, path, json!({"command": "/opt/hermes", "args": ["mcp"]}))
}

fn element(event: &str) -> Piece {
    let hook =
        json!({"type": "command", "command": "/opt/hermes", "args": ["hook", "claude-code"]});
    Piece::new(Manner::Element, &["hooks", event], json!({"matcher": "a|b", "hooks": [hook]}))
}

fn json_pieces() -> Vec<Piece> {
    vec![
        Piece::new(Manner::Default, &["version"], json!(1)),
        element("Stop"),
        element("SessionStart"),
        entry(&["mcpServers", "hermes"]),
    ]
}

fn toml_pieces() -> Vec<Piece> {
    vec![entry(&["mcp_servers", "hermes"])]
}

fn yaml_pieces() -> Vec<Piece> {
    vec![
        Piece::new(Manner::Setting, &["memory", "provider"], json!("hermes_memory")),
        entry(&["mcp_servers", "hermes_memory"]),
    ]
}

/// In and out again, twice, and out of a text that others touched.
fn round(format: Format, text: &str, pieces: &[Piece]) {
    let edited =
        put_in(format, text, pieces).unwrap_or_else(|refusal| panic!("{refusal} in {text:?}"));
    assert!(holds(format, &edited.text, pieces).unwrap(), "{}", edited.text);
    assert_eq!(undo(&edited.text, &edited.splices).as_deref(), Some(text), "{}", edited.text);
    let again = put_in(format, &edited.text, pieces).unwrap();
    assert_eq!((again.text.as_str(), again.splices.len()), (edited.text.as_str(), 0));
    let out = reverse(format, &edited.text, &edited.splices, &edited.pieces).unwrap();
    assert_eq!(
        tree::pruned(read(format, &out).unwrap()),
        tree::pruned(read(format, text).unwrap()),
        "{out:?}"
    );
    let by_hand = take_out(format, &edited.text, &edited.pieces).unwrap();
    assert!(!by_hand.contains("hermes"), "{by_hand}");
    for comment in text.split('‹').skip(1).filter_map(|rest| rest.split('›').next()) {
        let count = |text: &str| text.matches(&format!("‹{comment}›")).count();
        assert_eq!(count(&by_hand), count(text), "‹{comment}› in {by_hand}");
    }
}

fn blank() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        2 => Just("\n  ".to_owned()),
        1 => Just(" ".to_owned()),
        1 => Just("\n\t".to_owned()),
        1 => Just("\n".to_owned()),
        1 => Just("/* ‹inside› */".to_owned()),
        1 => Just("\n// ‹a remark› 日本\n".to_owned()),
    ]
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1".to_owned()),
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("\"text, with } and //\"".to_owned()),
        Just("\"☕ \\\" \\u0041\"".to_owned()),
        Just("-1.5e3".to_owned()),
    ]
}

fn any_value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(3, 12, 3, |inner| {
        let pair = (blank(), "[a-e]", inner.clone(), blank());
        let pairs = prop::collection::vec(pair, 0..3);
        let items = prop::collection::vec((blank(), inner), 0..3);
        prop_oneof![
            (pairs, blank()).prop_map(|(pairs, end)| object(pairs, &end, false)),
            items.prop_map(|items| {
                let items: Vec<String> = items.into_iter().map(|(gap, item)| gap + &item).collect();
                format!("[{}]", items.join(","))
            }),
        ]
    })
}

fn object(pairs: Vec<(String, String, String, String)>, end: &str, comma: bool) -> String {
    let mut seen = std::collections::BTreeSet::new();
    let pairs: Vec<String> = pairs
        .into_iter()
        .filter(|(_, key, _, _)| seen.insert(key.clone()))
        .map(|(before, key, value, after)| format!("{before}\"{key}\":{value}{after}"))
        .collect();
    let comma = if comma && !pairs.is_empty() { "," } else { "" };
    format!("{{{}{comma}{end}}}", pairs.join(","))
}

/// Files as agents have them: some with hooks and servers of others already.
fn any_json() -> impl Strategy<Value = String> {
    let key = prop_oneof!["[a-e]", Just("hooks".to_owned()), Just("mcpServers".to_owned())];
    let theirs = prop_oneof![
        Just("{}".to_owned()),
        Just(
            "{\n    \"Stop\": [\n      {\"hooks\": [{\"command\": \"say\"}]} // ‹mine›\n    ]\n  }"
                .to_owned()
        ),
        Just("{ \"Stop\": [], \"other\": {\"command\": \"npx\", \"args\": []}, }".to_owned()),
    ];
    let pair = (blank(), key, any_value(), theirs, blank()).prop_map(
        |(before, key, value, theirs, after)| {
            let value = if key.len() > 1 { theirs } else { value };
            (before, key, value, after)
        },
    );
    let file = (prop::collection::vec(pair, 0..5), blank(), any::<bool>(), blank(), blank());
    (file, any::<bool>(), any::<bool>()).prop_map(
        |((pairs, end, comma, head, foot), carriage, mark)| {
            let text = format!("{head}{}{foot}", object(pairs, &end, comma));
            let text = if carriage { text.replace('\n', "\r\n") } else { text };
            if mark { format!("\u{feff}{text}") } else { text }
        },
    )
}

fn any_toml() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# ‹a remark›"),
        Just(""),
        Just("model = \"o\" # ‹beside it›"),
        Just("numbers = [1,\n  2, # ‹two›\n]"),
        Just("dotted.key = 1979-05-27T07:32:00Z"),
        Just("text = '''\n# no remark\n'''"),
    ];
    let section = prop_oneof![
        Just("[mcp_servers.other]\ncommand = \"npx\"\n"),
        Just("  [tools]\n  web = true"),
        Just("[[profiles]]\nname = \"a\"\n[[profiles]]\nname = \"b\""),
        Just("[mcp_servers]\nx = {command = \"npx\", args = []}\n# ‹end›"),
    ];
    (prop::collection::vec(line, 0..5), prop::option::of(section), any::<[bool; 3]>()).prop_map(
        |(lines, section, [carriage, end, mark])| {
            let mut seen = std::collections::BTreeSet::new();
            let mut text = String::new();
            for line in lines {
                let is_new = seen.insert(line);
                if is_new || line.is_empty() || line.starts_with('#') {
                    text = text + line + "\n";
                }
            }
            text.push_str(section.unwrap_or_default());
            let text = if end { format!("{}\n", text.trim_end()) } else { text };
            let text = if carriage { text.replace('\n', "\r\n") } else { text };
            if mark { format!("\u{feff}{text}") } else { text }
        },
    )
}

fn any_yaml() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        Just("# ‹a remark›"),
        Just(""),
        Just("model: gpt # ‹beside›"),
        Just("_config_version: 3"),
        Just("list:\n  - one # ‹first›\n  - {two: 2}"),
        Just("memory:\n  # ‹limits›\n  memory_char_limit: 2200\n"),
        Just("memory:\n    provider: mem0 # ‹theirs›\n    write_approval: true"),
        Just("mcp_servers:\n  time:\n    command: uvx\n    args: [\"mcp-server-time\"]"),
        Just("mcp_servers: {}"),
        Just("text: |\n  # no remark\n  last"),
    ];
    (prop::collection::vec(block, 0..6), any::<[bool; 2]>()).prop_map(
        |(blocks, [carriage, end])| {
            let mut seen = std::collections::BTreeSet::new();
            let mut text = String::new();
            for block in blocks {
                let name = block.split(':').next().unwrap_or_default();
                if block.is_empty() || block.starts_with('#') || seen.insert(name) {
                    text = text + block + "\n";
                }
            }
            let text = if end { text.trim_end().to_owned() } else { text };
            if carriage { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn json_comes_back_to_the_byte(text in any_json()) {
        round(Format::Json, &text, &json_pieces());
        round(Format::LooseJson, &text, &json_pieces());
    }

    #[test]
    fn toml_comes_back_to_the_byte(text in any_toml()) {
        round(Format::Toml, &text, &toml_pieces());
    }

    #[test]
    fn yaml_comes_back_to_the_byte(text in any_yaml()) {
        round(Format::Yaml, &text, &yaml_pieces());
    }

    #[test]
    fn no_text_breaks_the_editor(text in "[\\x20-\\x7e\\n\\t☕]{0,40}") {
        for format in [Format::Json, Format::LooseJson, Format::Toml, Format::Yaml] {
            let pieces = if format == Format::Yaml { yaml_pieces() } else { toml_pieces() };
            if let Ok(edited) = put_in(format, &text, &pieces) {
                prop_assert_eq!(undo(&edited.text, &edited.splices), Some(text.clone()));
            }
        }
    }
}

#[test]
fn names_without_quotes_are_read_where_the_agent_allows_them() {
    let text = "{\n  // ‹mine›\n  mcp: { servers: { docs: { url: 'http://127.0.0.1' } } },\n}\n";
    round(Format::LooseJson, text, &[entry(&["mcp", "servers", "hermes"])]);
    assert!(matches!(
        put_in(Format::Json, text, &[]).and_then(|_| read(Format::Json, text)),
        Err(Refusal::Syntax { line: 3, .. })
    ));
}

#[test]
fn what_others_added_since_stays() {
    let text = "{\n  \"a\": 1\n}\n";
    let edited = put_in(Format::Json, text, &json_pieces()).unwrap();
    let touched = edited.text.replace("\"a\": 1", "\"a\": 2, // ‹mine›\n  \"b\": 3");
    let out = reverse(Format::Json, &touched, &edited.splices, &edited.pieces).unwrap();
    assert_eq!(out, "{\n  \"a\": 2, // ‹mine›\n  \"b\": 3\n}\n");
    let wild = edited.text.replace("a|b", "a").replace("\"a\": 1", "\"hooks2\": [] , \"a\": 1");
    let out = reverse(Format::Json, &wild, &edited.splices, &edited.pieces).unwrap();
    assert_eq!(read(Format::Json, &out).unwrap(), json!({"hooks2": [], "a": 1}));
}

#[test]
fn the_place_of_another_is_refused_and_broken_files_are_named_by_line() {
    let theirs = r#"{"mcpServers": {"hermes": {"command": "hermes", "args": ["mcp", "serve"]}}}"#;
    let refused = put_in(Format::Json, theirs, &[entry(&["mcpServers", "hermes"])]);
    assert_eq!(refused, Err(Refusal::Taken { path: "mcpServers.hermes".to_owned() }));
    for (format, text) in [
        (Format::Json, "{\n  \"a\": [1,\n}\n"),
        (Format::Toml, "a = 1\nb = \n"),
        (Format::Yaml, "a: 1\nb: [1, 2\n"),
    ] {
        let refused = put_in(format, text, &[entry(&["x", "hermes"])]).unwrap_err();
        assert!(matches!(refused, Refusal::Syntax { line: 2..=3, .. }), "{refused}");
    }
    let listed = put_in(Format::Json, "[1]", &[entry(&["x"])]);
    assert!(matches!(listed, Err(Refusal::Syntax { .. })), "{listed:?}");
}
