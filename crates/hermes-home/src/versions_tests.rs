//! Versions: nothing that was in a memory file is ever lost.

use std::fs::{self, OpenOptions};
use std::io::Write;

use jiff::Timestamp;
use jiff::civil::date;

use crate::atomic;
use crate::error::Error;
use crate::init::Owner;
use crate::layout::{Home, MemoryTarget};
use crate::memory_file::{self, edit};
use crate::testing::{context, home};
use crate::versions::{self, Which};

const MEMORY: MemoryTarget = MemoryTarget::Memory;

fn add(home: &Home, text: &str, second: i64) {
    let context = context(Owner::Ours, None, second);
    memory_file::change(home, &MEMORY, &context, |document| {
        edit::add(document, text, None, date(2026, 11, 15))
    })
    .unwrap();
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn file(home: &Home) -> String {
    fs::read_to_string(home.memory_file(&MEMORY)).unwrap()
}

#[test]
fn every_write_is_a_version_and_can_be_brought_back_and_undone() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    assert!(versions::list(&home, &MEMORY).unwrap().is_empty());
    add(&home, "one", 1);
    let first = file(&home);
    add(&home, "two", 2);
    let second = file(&home);
    let list = versions::list(&home, &MEMORY).unwrap();
    let shown: Vec<_> = list.iter().map(|v| (v.number, v.at, v.size, v.current)).collect();
    assert_eq!(
        shown,
        [(2, at(2), second.len() as u64, true), (1, at(1), first.len() as u64, false)]
    );
    let restored = versions::restore(&home, &MEMORY, &Which::Number(1), at(3)).unwrap();
    assert!(restored.changed);
    assert_eq!(file(&home), first);
    let list = versions::list(&home, &MEMORY).unwrap();
    assert_eq!((list[0].number, list[0].reason.as_str()), (3, "restored version 1"));
    let prefix: Which = list[1].hash[..8].parse().unwrap();
    versions::restore(&home, &MEMORY, &prefix, at(4)).unwrap();
    assert_eq!(file(&home), second);
    let same = versions::restore(&home, &MEMORY, &Which::Number(2), at(5)).unwrap();
    assert!(!same.changed);
}

#[test]
fn what_was_written_by_hand_is_kept_before_it_is_replaced() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    atomic::write(&home.memory_file(&MEMORY), b"- by hand\n").unwrap();
    let newest = versions::list(&home, &MEMORY).unwrap().remove(0);
    assert_eq!((newest.number, newest.current), (2, true));
    assert_eq!(newest.reason, "changed outside of hermes");
    add(&home, "three", 3);
    let list = versions::list(&home, &MEMORY).unwrap();
    assert_eq!(list.iter().map(|v| v.number).collect::<Vec<_>>(), [3, 2, 1]);
    versions::restore(&home, &MEMORY, &Which::Number(2), at(4)).unwrap();
    assert_eq!(file(&home), "- by hand\n");
}

#[test]
fn versions_outlive_the_file_and_bytes_that_are_no_text() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    let first = file(&home);
    fs::remove_file(home.memory_file(&MEMORY)).unwrap();
    let list = versions::list(&home, &MEMORY).unwrap();
    assert_eq!((list.len(), list[0].current), (1, false));
    versions::restore(&home, &MEMORY, &Which::Number(1), at(2)).unwrap();
    assert_eq!(file(&home), first);
    atomic::write(&home.memory_file(&MEMORY), b"broken \xff").unwrap();
    versions::restore(&home, &MEMORY, &Which::Number(1), at(3)).unwrap();
    assert_eq!(file(&home), first);
    let broken = versions::list(&home, &MEMORY).unwrap().remove(1);
    assert_eq!(versions::content(&home, &broken.hash).unwrap(), b"broken \xff");
}

#[test]
fn a_torn_line_of_the_log_costs_nothing_else() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    let log = home.versions().join("log.jsonl");
    let mut torn = OpenOptions::new().append(true).open(&log).unwrap();
    torn.write_all(b"{\"at\":\"2026-11-15T00:00:00Z\",\"file\":\"memories/MEM").unwrap();
    assert_eq!(versions::list(&home, &MEMORY).unwrap().len(), 1);
    add(&home, "two", 2);
    let list = versions::list(&home, &MEMORY).unwrap();
    assert_eq!(
        list.iter().map(|v| (v.number, v.current)).collect::<Vec<_>>(),
        [(2, true), (1, false)]
    );
}

#[test]
fn a_crash_before_the_file_is_written_loses_nothing() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    let (path, first) = (home.memory_file(&MEMORY), file(&home));
    add(&home, "two", 2);
    let second = file(&home);
    // As if the program had stopped between the log and the file.
    atomic::write(&path, first.as_bytes()).unwrap();
    add(&home, "three", 3);
    let kept: Vec<Vec<u8>> = versions::list(&home, &MEMORY)
        .unwrap()
        .iter()
        .map(|version| versions::content(&home, &version.hash).unwrap())
        .collect();
    for text in [&first, &second, &file(&home)] {
        assert!(kept.contains(&text.clone().into_bytes()));
    }
}

#[test]
fn a_damaged_content_is_never_written_back() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    add(&home, "two", 2);
    let first = versions::list(&home, &MEMORY).unwrap().remove(1);
    let blob = home.versions().join("blobs").join(&first.hash[..2]).join(&first.hash);
    atomic::write(&blob, b"rotten").unwrap();
    let before = file(&home);
    let refused = versions::restore(&home, &MEMORY, &Which::Number(1), at(3));
    assert!(matches!(refused, Err(Error::DamagedVersion { .. })));
    assert_eq!(file(&home), before);
}

#[test]
fn a_version_is_named_by_number_or_enough_of_its_hash() {
    assert_eq!("3".parse::<Which>().unwrap(), Which::Number(3));
    assert_eq!("ABcd12".parse::<Which>().unwrap(), Which::Hash("abcd12".into()));
    assert_eq!("123456".parse::<Which>().unwrap(), Which::Hash("123456".into()));
    for bad in ["", "abc", "-1", "../etc", "xyz1"] {
        assert!(bad.parse::<Which>().is_err(), "{bad}");
    }
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    let missing = versions::restore(&home, &MEMORY, &Which::Number(9), at(2));
    assert!(matches!(missing, Err(Error::NoVersion { count: 0, .. })));
}

#[test]
fn kept_contents_and_the_log_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    let hash = versions::list(&home, &MEMORY).unwrap().remove(0).hash;
    let blobs = home.versions().join("blobs");
    let mode = |path: std::path::PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(blobs.join(&hash[..2]).join(&hash)), 0o600);
    assert_eq!(mode(blobs.join(&hash[..2])), 0o700);
    assert_eq!(mode(home.versions().join("log.jsonl")), 0o600);
}

#[test]
fn erasing_a_text_removes_the_versions_that_hold_it_and_no_others() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    add(&home, "one", 1);
    let kept = file(&home);
    add(&home, "the secret", 2);
    add(&home, "three", 3);
    let context = context(Owner::Ours, None, 4);
    let selector = memory_file::Selector::Text("the secret".to_owned());
    memory_file::change(&home, &MEMORY, &context, |document| edit::remove(document, &selector))
        .unwrap();
    let texts = ["the  secret".to_owned()];
    assert_eq!(versions::erase(&home, &MEMORY, &texts).unwrap(), 2);
    assert_eq!(versions::erase(&home, &MEMORY, &texts).unwrap(), 0);
    let left = versions::list(&home, &MEMORY).unwrap();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left[0].current);
    for version in &left {
        let content = String::from_utf8(versions::content(&home, &version.hash).unwrap()).unwrap();
        assert!(!content.contains("secret"), "{content}");
    }
    versions::restore(&home, &MEMORY, &Which::Number(1), at(5)).unwrap();
    assert_eq!(file(&home), kept);
}
