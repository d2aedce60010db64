//! Tests of editing: the one key changes, everything else stays.

use proptest::prelude::*;

use super::*;
use crate::config::KEYS;
use crate::env::Env;
use crate::layout::Wanted;

#[rustfmt::skip] // One case a row reads as a table.
const SET_IN_YAML: &[(&str, &str, &str, &str)] = &[
    ("", "memory.auto_write", "false", "memory:\n  auto_write: false\n"),
    ("", "timezone", "Europe/London", "timezone: Europe/London\n"),
    ("# only\n", "memory.retrieval.semantic_top_k", "7", "# only\nmemory:\n  retrieval:\n    semantic_top_k: 7\n"),
    ("---\n", "timezone", "UTC", "---\ntimezone: UTC\n"),
    ("a: 1", "timezone", "UTC", "a: 1\ntimezone: UTC\n"),
    ("a: 1\n...\n", "timezone", "UTC", "a: 1\ntimezone: UTC\n...\n"),
    ("memory:\n  auto_write: true # why\nb: 2\n", "memory.auto_write", "false", "memory:\n  auto_write: false # why\nb: 2\n"),
    ("memory:\r\n  autoWrite: true\r\n", "memory.auto_write", "no", "memory:\r\n  autoWrite: false\r\n"),
    ("memory:\r\n  a: 1\r\n", "memory.path", "/x", "memory:\r\n  path: /x\r\n  a: 1\r\n"),
    ("memory:\n  \"path\": 'old # x' # c\n", "memory.path", "~/n ew", "memory:\n  \"path\": \"~/n ew\" # c\n"),
    ("memory:\n  path:\n  b: 1\n", "memory.path", "/x", "memory:\n  path: /x\n  b: 1\n"),
    ("memory:\n  path: # c\n", "memory.path", "/x", "memory:\n  path: /x # c\n"),
    ("memory:\n  path: |  # c\n    one\n\n    # two\n\n  b: 1\n", "memory.path", "/x", "memory:\n  path: /x  # c\n\n  b: 1\n"),
    ("memory:\n  path: one\n    two\n  b: 1\n", "memory.path", "/x", "memory:\n  path: /x\n  b: 1\n"),
    ("memory:\n  path: \"one\n    two\" # c\n", "memory.path", "/x", "memory:\n  path: /x # c\n"),
    ("memory: # all\n    # auto_write: true\n    b: 1\n", "memory.auto_write", "false", "memory: # all\n    auto_write: false\n    # auto_write: true\n    b: 1\n"),
    ("memory:\n  # auto_write: true\nb: 1\n", "memory.auto_write", "false", "memory:\n  auto_write: false\n  # auto_write: true\nb: 1\n"),
    ("memory:", "memory.auto_write", "false", "memory:\n  auto_write: false\n"),
    ("memory: null # c\n", "memory.auto_write", "false", "memory: {auto_write: false} # c\n"),
    ("memory: {}\n", "memory.path", "x, y", "memory: {path: \"x, y\"}\n"),
    ("memory: {a: 1} # c\n", "memory.retrieval.semantic_top_k", "7", "memory: {retrieval: {semantic_top_k: 7}, a: 1} # c\n"),
    ("memory: {path: x, b: 1}\n", "memory.path", "y", "memory: {path: \"y\", b: 1}\n"),
    ("x: &a /old\nmemory:\n  path: *a\n", "memory.path", "/x", "x: &a /old\nmemory:\n  path: /x\n"),
    ("\u{feff}a: 1\n", "timezone", "UTC", "\u{feff}a: 1\ntimezone: UTC\n"),
    ("ü: \"日本\"\nmemory:\n  path: ö # ü\n", "memory.path", "ä", "ü: \"日本\"\nmemory:\n  path: \"ä\" # ü\n"),
    ("memory:\n  path: x\n", "memory.path", "", "memory:\n  path: \"\"\n"),
    ("model:\n  default: a\n", "model.default", "yes", "model:\n  default: \"yes\"\n"),
    ("model:\n  default: a\n", "model.default", "1.5", "model:\n  default: \"1.5\"\n"),
    ("", "backup.time", "3:30", "backup:\n  time: \"03:30\"\n"),
    ("", "backup.targets", "/mnt/nas", "backup:\n  targets: [\"/mnt/nas\"]\n"),
    ("backup:\n  targets: /a # c\n", "backup.targets", "[\"a\",\"b\"]", "backup:\n  targets: [\"a\", \"b\"] # c\n"),
    ("backup:\n  targets:   [a, 'b#']  # c\n  time: \"04:00\"\n", "backup.targets", "x", "backup:\n  targets: [\"x\"]  # c\n  time: \"04:00\"\n"),
    ("backup:\n  targets:\n    - a\n    - \"b # no\" # c\n  time: \"04:00\"\n", "backup.targets", "x", "backup:\n  targets: [\"x\"] # c\n  time: \"04:00\"\n"),
    ("backup:\n  targets:\n  - a\n  - b\nz: 1\n", "backup.targets", "[]", "backup:\n  targets: []\nz: 1\n"),
    ("backup: {targets: [a, b], time: x}\n", "backup.targets", "y", "backup: {targets: [\"y\"], time: x}\n"),
];

#[test]
fn yaml_is_set_in_place() {
    for (before, key, value, after) in SET_IN_YAML {
        assert_eq!(
            set(before, key, value).map_err(|e| e.to_string()).as_deref(),
            Ok(*after),
            "{before:?} {key}"
        );
    }
}

#[rustfmt::skip] // One case a row reads as a table.
const UNSET_IN_YAML: &[(&str, &str, Option<&str>)] = &[
    ("a: 1\n", "timezone", None),
    ("memory: x\n", "memory.path", None),
    ("memory:\n  path: /x # c\n  b: 1\n", "memory.path", Some("memory:\n  b: 1\n")),
    ("a: 1\nmemory:\n  path: /x\nb: 1\n", "memory.path", Some("a: 1\nb: 1\n")),
    ("memory:\n  retrieval:\n    semanticTopK: 7\n", "memory.retrieval.semantic_top_k", Some("")),
    ("memory:\n  # note\n  path: /x\n", "memory.path", Some("memory: {}\n  # note\n")),
    ("memory: # note\n  path: /x", "memory.path", Some("memory: {} # note\n")),
    ("memory:\n  path: |\n    a\n    b\n  b: 1\n", "memory.path", Some("memory:\n  b: 1\n")),
    ("memory:\n  path:\n  b: 1\n", "memory.path", Some("memory:\n  b: 1\n")),
    ("memory: {path: x, b: 1}\n", "memory.path", Some("memory: {b: 1}\n")),
    ("memory: {b: 1, path: x}\n", "memory.path", Some("memory: {b: 1}\n")),
    ("memory: {path: x}\n", "memory.path", Some("memory: {}\n")),
    ("backup:\n  targets:\n    - a\n    - b # c\n  time: x\n", "backup.targets", Some("backup:\n  time: x\n")),
    ("backup:\n  targets: [a,\n    b]\nz: 1\n", "backup.targets", Some("z: 1\n")),
    ("backup: {targets: [a, b], time: x}\n", "backup.targets", Some("backup: {time: x}\n")),
];

#[test]
fn yaml_is_unset_in_place() {
    for (before, key, after) in UNSET_IN_YAML {
        let found = unset(before, key).map_err(|e| e.to_string());
        assert_eq!(found, Ok(after.map(str::to_owned)), "{before:?} {key}");
    }
}

#[test]
fn what_cannot_be_edited_safely_is_refused() {
    for (text, key) in [
        ("memory:\n  path: [a]\n", "memory.path"),
        ("memory:\n  path:\n    a: 1\n", "memory.path"),
        ("memory:\n  path: &a x\nother: *a\n", "memory.path"),
        ("memory: &m\n  b: 1\nother: *m\n", "memory.path"),
        ("base: &m {a: 1}\nmemory: *m\n", "memory.path"),
        ("memory: [1]\n", "memory.path"),
        ("memory: text\n", "memory.path"),
        ("memory:\n  wal_mode: true\n  walMode: true\n", "memory.wal_mode"),
        ("backup:\n  targets:\n    # one\n    - a\n    - b\n", "backup.targets"),
        ("backup:\n  targets: # all\n    - a\n", "backup.targets"),
        ("backup:\n  targets: [a, # one\n    b]\n", "backup.targets"),
        ("backup:\n  targets:\n    - a: 1\n", "backup.targets"),
        ("backup:\n  targets: &t [a]\nother: *t\n", "backup.targets"),
        ("{\"backup\": {\"targets\": [\"a\", // one\n\"b\"]}}", "backup.targets"),
        ("{\"memory\": [1]}", "memory.path"),
        ("{\"memory\": {\"path\": {\"a\": 1}}}", "memory.path"),
    ] {
        let value = if key.ends_with("mode") { "false" } else { "/x" };
        match set(text, key, value) {
            Err(Error::ConfigEdit { .. }) => {}
            other => panic!("{text:?}: {other:?}"),
        }
    }
    assert!(matches!(set("a: [\n", "memory.path", "x"), Err(Error::ConfigSyntax { .. })));
}

#[test]
fn json_is_edited_in_place() {
    for (before, key, value, after) in [
        (
            "{}",
            "memory.auto_write",
            "false",
            "{\n  \"memory\": {\n    \"auto_write\": false\n  }\n}",
        ),
        (
            "{ // top\n  \"memory\": {\n    \"walMode\": true, // why\n  },\n}\n",
            "memory.wal_mode",
            "false",
            "{ // top\n  \"memory\": {\n    \"walMode\": false, // why\n  },\n}\n",
        ),
        (
            "{\r\n  \"memory\": {\r\n    \"path\": \"x\" // c\r\n  }\r\n}",
            "memory.pool_size",
            "7",
            "{\r\n  \"memory\": {\r\n    \"path\": \"x\", // c\r\n    \"pool_size\": 7\r\n  }\r\n}",
        ),
        (
            "{\"memory\": null}",
            "memory.path",
            "a\"b\\c\n",
            "{\"memory\": {\n    \"path\": \"a\\\"b\\\\c\\n\"\n  }}",
        ),
    ] {
        let found = set(before, key, value).map_err(|e| e.to_string());
        assert_eq!(found.as_deref(), Ok(after), "{before}");
    }
    let text =
        "{\n  // a\n  \"memory\": {\n    // b\n    \"path\": \"x\", // c\n    \"n\": 1\n  }\n}\n";
    let without = unset(text, "memory.path").unwrap().unwrap();
    assert!(without.contains("// a") && without.contains("// b") && without.contains("\"n\": 1"));
    assert!(!without.contains("path"));
    assert_eq!(unset("{\"memory\": {\"path\": 1}}", "memory.pool_size").unwrap(), None);
}

#[test]
fn values_must_fit_and_names_must_exist() {
    assert!(matches!(set("", "memory.pool_size", "many"), Err(Error::BadSetting { .. })));
    assert!(matches!(set("", "timezone", "Mars/Olympus"), Err(Error::BadSetting { .. })));
    assert!(matches!(
        set("", "memory.autowrite", "true"),
        Err(Error::NoSuchSetting { nearest: Some("memory.auto_write"), .. })
    ));
    assert_eq!(
        set("", "memory.connectionString", "${HERMES_DB_URL}").unwrap(),
        "memory:\n  connection_string: \"${HERMES_DB_URL}\"\n"
    );
    assert_eq!(
        set("", "memory.ssl_mode", "verify-ca").unwrap(),
        "memory:\n  ssl_mode: verify_ca\n"
    );
}

#[test]
fn a_setting_is_written_to_the_file_and_taken_out_again() {
    let root = tempfile::tempdir().unwrap();
    let wanted = Wanted { home: Some(root.path().to_owned()), profile: None };
    let home = Home::locate(&wanted, &Env::default()).unwrap();
    let write =
        |key: &str, value: &str, owner, unknown| write_setting(&home, owner, key, value, unknown);
    let text = || std::fs::read_to_string(home.config()).unwrap();
    write("memory.auto_write", "false", Owner::Ours, Unknown::Refuse).unwrap();
    assert_eq!(text(), "memory:\n  auto_write: false\n");
    for (key, owner, unknown, is_ok) in [
        ("terminal.backend", Owner::Ours, Unknown::Allow, false),
        ("terminal.backend", Owner::HermesAgent, Unknown::Refuse, false),
        ("memory.autowrite", Owner::HermesAgent, Unknown::Allow, false),
        ("terminal..x", Owner::HermesAgent, Unknown::Allow, false),
        ("terminal.backend", Owner::HermesAgent, Unknown::Allow, true),
    ] {
        assert_eq!(
            write(key, "local", owner, unknown).is_ok(),
            is_ok,
            "{key} {owner:?} {unknown:?}"
        );
    }
    assert_eq!(text(), "memory:\n  auto_write: false\nterminal:\n  backend: local\n");
    write("memory.auto_write", "null", Owner::Ours, Unknown::Refuse).unwrap();
    assert_eq!(text(), "terminal:\n  backend: local\n");
    assert!(!clear_setting(&home, Owner::Ours, "memory.auto_write", Unknown::Refuse).unwrap());
}

/// Any setting with a value that fits it.
fn setting() -> impl Strategy<Value = (&'static Key, String)> {
    (0..KEYS.len(), any::<u64>(), "\\PC{0,12}|[ -~]{0,20}").prop_map(|(number, dice, text)| {
        let key = &KEYS[number];
        let value = match key.kind {
            keys::Kind::Switch => (dice % 2 == 0).to_string(),
            keys::Kind::Whole(least, most) => (least + dice % (most - least + 1)).to_string(),
            keys::Kind::Number(..) => format!("0.{}", dice % 1000),
            keys::Kind::OneOf(words) => words[dice as usize % words.len()].to_owned(),
            keys::Kind::TimeZone => "Europe/London".to_owned(),
            keys::Kind::Texts if dice % 3 == 0 => format!("x{text}"),
            keys::Kind::Texts => serde_json::json!([format!("x{text}"), "# y"]).to_string(),
            keys::Kind::TimeOfDay => format!("{:02}:{:02}", dice % 24, dice % 60),
            keys::Kind::Text => text,
        };
        (key, value)
    })
}

/// Texts of all shapes, made by setting keys in files that people could have written.
fn page() -> impl Strategy<Value = String> {
    let start = prop_oneof![
        Just(""),
        Just("# a comment\n"),
        Just("---\n# x\nother: [1, 2] # list\n\n"),
        Just("other:\n    deep:\n        x: |\n          text # no comment\n\n        y: 1\n# end"),
        Just("memory:\n  # c1\n\n  # c2\nzeta: {a: 1, b: {c: 2}} # c3\n"),
        Just("memory: {}\r\nmodel:\r\n  # m\r\n  default: x # d\r\n"),
        Just("{}"),
        Just("{\n  // c1\n  \"memory\": { \"walMode\": true }, // c2\n  /* c3 */\n}\n"),
        Just("{\"other\": [1, 2]}"),
    ];
    (start, prop::collection::vec(setting(), 0..4)).prop_map(|(start, settings)| {
        settings.iter().fold(start.to_owned(), |text, (key, value)| {
            set(&text, key.path, value).unwrap_or(text)
        })
    })
}

fn others(text: &str, key: &Key) -> Leaves {
    let mut leaves = leaves(Path::new("x"), text).unwrap();
    let path = parts(key.path);
    leaves.retain(|(found, value)| {
        !is_path(found, &path) && !value.is_null() && *value != serde_json::json!({})
    });
    leaves
}

fn comment_lines(text: &str) -> Vec<&str> {
    let is_comment = |line: &&str| line.starts_with(['#', '/']);
    text.lines().map(str::trim).filter(is_comment).collect()
}

proptest! {
    #[test]
    fn what_is_set_is_there_and_all_else_stays(text in page(), (key, value) in setting()) {
        let changed = set(&text, key.path, &value).unwrap();
        let wanted = typed_value(key, &value).unwrap();
        let after = leaves(Path::new("x"), &changed).unwrap();
        let path = parts(key.path);
        prop_assert_eq!(at(&after, &path).collect::<Vec<_>>(), vec![&wanted]);
        prop_assert_eq!(others(&text, key), others(&changed, key));
        prop_assert_eq!(comment_lines(&text), comment_lines(&changed));
        prop_assert_eq!(set(&changed, key.path, &value).unwrap(), changed);
    }

    #[test]
    fn what_is_unset_is_gone_and_all_else_stays(text in page(), (key, value) in setting()) {
        let changed = set(&text, key.path, &value).unwrap();
        let back = unset(&changed, key.path).unwrap().unwrap();
        let after = leaves(Path::new("x"), &back).unwrap();
        prop_assert_eq!(at(&after, &parts(key.path)).count(), 0);
        prop_assert_eq!(others(&text, key), others(&back, key));
        prop_assert_eq!(comment_lines(&text), comment_lines(&back));
        prop_assert_eq!(unset(&back, key.path).unwrap(), None);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC*|[-a-z:{}\\[\\]#&*!|>'\"\\n ,?]{0,60}") {
        if let Ok(root) = document::parse(&text, Twice::Refuse) {
            let _ = root.leaves();
            let _ = set(&text, "memory.auto_write", "false");
            let _ = unset(&text, "memory.auto_write");
        }
    }
}
