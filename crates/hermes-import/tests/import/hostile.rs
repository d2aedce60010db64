//! What no importer may fall over: devices, folders, missing and unreadable files, any bytes at all.

use std::path::Path;

use hermes_import::{Error, Source};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Folder, options, read, try_read};

#[test]
fn devices_and_missing_files_are_refused_by_every_importer() {
    for source in Source::ALL {
        let refused = try_read(source, Path::new("/dev/zero"), &options()).err().unwrap();
        assert!(matches!(refused, Error::NotThis { .. }), "{source:?}: {refused}");
        let refused = try_read(source, Path::new("/nowhere/at/all"), &options()).err().unwrap();
        assert!(matches!(refused, Error::Missing { .. }), "{source:?}: {refused}");
    }
}

#[test]
fn an_empty_folder_is_refused_by_every_importer() {
    let folder = Folder::new();
    for source in Source::ALL {
        assert!(try_read(source, &folder.path(""), &options()).is_err(), "{source:?}");
    }
}

#[test]
fn wide_characters_are_refused_with_the_reason() {
    let folder = Folder::new();
    let wide: Vec<u8> = std::iter::once(0xfeff_u16)
        .chain("{\"role\":\"user\"}\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let path = folder.write("wide.jsonl", wide);
    let got = read(Source::Jsonl, &path);
    assert!(got.reasons()[0].contains("UTF-16"));
}

/// Lines that are good for each importer of lines.
fn good(source: Source, number: u32) -> String {
    let id = format!("good-{number}");
    let line = match source {
        Source::ClaudeCode => json!({"type": "user", "uuid": id, "message": {"content": id}}),
        Source::Codex => {
            json!({"timestamp": 1_714_557_600 + i64::from(number), "type": "event_msg",
            "payload": {"type": "user_message", "message": id}})
        }
        Source::OpenClaw => {
            json!({"type": "message", "id": id, "message": {"role": "user", "content": id}})
        }
        Source::ReferenceMemory => {
            json!({"type": "relation", "from": id, "relationType": "is", "to": "x"})
        }
        _ => json!({"role": "user", "content": id}),
    };
    format!("{line}\n")
}

const OF_LINES: [Source; 5] =
    [Source::ClaudeCode, Source::Codex, Source::OpenClaw, Source::ReferenceMemory, Source::Jsonl];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_is_in_a_line_the_good_lines_around_it_are_taken(
        bytes in proptest::collection::vec(any::<u8>().prop_filter("one line", |byte| *byte != b'\n'), 0..80),
        text in r#"[{}\[\]":,a-z0-9\\ ]{0,60}"#,
        source in proptest::sample::select(&OF_LINES[..]),
    ) {
        let folder = Folder::new();
        let mut file = good(source, 1).into_bytes();
        file.extend(&bytes);
        file.push(b'\n');
        file.extend(text.as_bytes());
        file.push(b'\n');
        file.extend(good(source, 2).into_bytes());
        let path = folder.write("rollout-x.jsonl", file);
        let got = read(source, &path);
        let all: String = got.said().iter().map(|(_, text)| *text).chain(got.known()).collect();
        prop_assert!(all.contains("good-1") && all.contains("good-2"), "{all}");
    }

    #[test]
    fn any_file_is_read_or_refused(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        source in proptest::sample::select(&Source::ALL[..]),
    ) {
        let folder = Folder::new();
        let path = folder.write("conversations.json", bytes);
        let _ = try_read(source, &path, &options());
    }

    #[test]
    fn any_json_is_read_or_refused(
        text in r#"\[(\{"(mapping|chat_messages|uuid|conversation_id|current_node|memory)":("a"|1|null|\[\]|\{"a":\{"parent":"a"\}\}),?\},?){0,4}\]"#,
        source in proptest::sample::select(&Source::ALL[..]),
    ) {
        let folder = Folder::new();
        let path = folder.write("conversations.json", text);
        let _ = try_read(source, &path, &options());
    }
}
