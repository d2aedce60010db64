//! Zips: whole ones, bombs, names that lead out, members that are damaged.

use std::io::{Cursor, Write as _};

use hermes_import::{Error, Places, Source, detect};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::support::{Folder, options, read, try_read};

const TALK: &str = r#"[{"uuid":"k","chat_messages":[{"uuid":"1","sender":"human","text":"hello","created_at":"2026-03-01T09:00:00Z"}]}]"#;

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn an_export_is_read_out_of_its_zip_and_found_among_downloads() {
    let folder = Folder::new();
    let members: &[(&str, &[u8])] =
        &[("data/users.json", b"[]"), ("data/conversations.json", TALK.as_bytes())];
    let path = folder.write("Downloads/data-2026.zip", zip(members));
    folder.write("Downloads/other.zip", zip(&[("x.txt", b"x")]));
    folder.write("Downloads/broken.zip", b"PK\x03\x04 nothing");
    assert_eq!(read(Source::ClaudeAi, &path).said(), [("user", "hello")]);
    let places = Places { downloads: Some(folder.path("Downloads")), ..Places::default() };
    let found = detect(&places);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].source, &found[0].path), (Source::ClaudeAi, &path));
}

#[test]
fn a_bomb_is_refused_whole() {
    let folder = Folder::new();
    let zeros = vec![b' '; 80 * 1024 * 1024];
    let members: &[(&str, &[u8])] =
        &[("conversations.json", TALK.as_bytes()), ("conversations-001.json", &zeros)];
    let path = folder.write("bomb.zip", zip(members));
    let refused = try_read(Source::ClaudeAi, &path, &options()).err().unwrap();
    assert!(matches!(refused, Error::Hostile { .. }), "{refused}");
}

#[test]
fn names_that_lead_out_of_the_archive_are_skipped() {
    let folder = Folder::new();
    let members: &[(&str, &[u8])] =
        &[("../../conversations.json", TALK.as_bytes()), ("conversations.json", TALK.as_bytes())];
    let path = folder.write("out.zip", zip(members));
    let got = read(Source::ClaudeAi, &path);
    assert_eq!((got.said().len(), got.tally.problems.len()), (1, 1));
}

#[test]
fn too_many_members_and_no_conversations_are_refused() {
    let folder = Folder::new();
    let path = folder.write("empty.zip", zip(&[("x.txt", b"x")]));
    let refused = try_read(Source::ChatGpt, &path, &options()).err().unwrap();
    assert!(matches!(refused, Error::NotThis { .. }));
    let names: Vec<String> = (0..200_001).map(|number| format!("{number}")).collect();
    let members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
    let path = folder.write("many.zip", zip(&members));
    let refused = try_read(Source::ChatGpt, &path, &options()).err().unwrap();
    assert!(matches!(refused, Error::Hostile { .. }), "{refused}");
}
