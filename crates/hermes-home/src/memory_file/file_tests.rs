//! Memory files on the disk: locks, limits, copies, and files that are no text.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use jiff::civil::{Date, date};

use super::edit;
use super::{Context, Outcome, Selector, WholeText, change, read, replace_whole};
use crate::error::{Error, Result};
use crate::init::Owner;
use crate::layout::{Home, MemoryTarget};
use crate::testing::{context, home};
use crate::versions;

const TODAY: Date = date(2026, 11, 15);
const MEMORY: MemoryTarget = MemoryTarget::Memory;

fn add(home: &Home, context: &Context<'_>, text: &str) -> Result<Outcome> {
    change(home, &MEMORY, context, |document| edit::add(document, text, None, TODAY))
}

fn remove(home: &Home, context: &Context<'_>, text: &str) -> Result<Outcome> {
    let selector = Selector::Text(text.to_owned());
    change(home, &MEMORY, context, |document| edit::remove(document, &selector))
}

fn put(path: &Path, bytes: &[u8]) {
    crate::atomic::make_folder(path.parent().unwrap()).unwrap();
    crate::atomic::write(path, bytes).unwrap();
}

#[test]
fn a_first_entry_makes_the_private_folder_the_file_and_its_lock() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let user = MemoryTarget::User(Some("alice".parse().unwrap()));
    let context = context(Owner::Ours, Some(2200), 1);
    let made = change(&home, &user, &context, |d| edit::add(d, "Likes tea.", None, TODAY)).unwrap();
    assert!(made.changed);
    assert_eq!(made.usage.to_string(), "41/2,200 chars");
    let text = read(&home, &user, context.rules).unwrap();
    assert!(text.exists && text.tokens > 5);
    assert_eq!(text.document.text(), "- Likes tea. <!-- written 2026-11-15 -->\n");
    assert_eq!(text.hash, versions::hash(text.document.text().as_bytes()));
    assert!(home.users().join("alice/USER.md.lock").exists());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home.memories()), 0o700);
    assert_eq!(mode(&text.path), 0o600);
}

#[test]
fn an_edit_that_adds_nothing_makes_no_folder_and_no_lock_for_a_missing_file() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let context = context(Owner::Ours, None, 1);
    let typo = MemoryTarget::User(Some("typo".parse().unwrap()));
    let first = Selector::Number(1);
    let removed = change(&home, &typo, &context, |document| edit::remove(document, &first));
    assert!(matches!(removed, Err(Error::NoEntry { .. })));
    let replaced =
        change(&home, &typo, &context, |document| edit::replace(document, &first, "x", TODAY));
    assert!(matches!(replaced, Err(Error::NoEntry { .. })));
    let pruned = change(&home, &typo, &context, |document| edit::prune(document, &[])).unwrap();
    assert!(!pruned.changed);
    assert!(versions::restore(&home, &typo, &versions::Which::Number(1), context.now).is_err());
    assert!(!crate::places::merge(&home, &MEMORY, &context, TODAY).unwrap().outcome.changed);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_memory_file_linked_to_a_missing_folder_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let path = home.memory_file(&MEMORY);
    crate::atomic::make_folder(&home.memories()).unwrap();
    std::os::unix::fs::symlink(root.path().join("not-mounted/MEMORY.md"), &path).unwrap();
    let refused = add(&home, &context(Owner::Ours, None, 1), "a").unwrap_err();
    assert!(refused.to_string().contains(path.to_str().unwrap()), "{refused}");
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert!(versions::list(&home, &MEMORY).unwrap().is_empty());
}

#[test]
fn a_section_file_of_ours_stays_one_when_it_shrinks_to_one_entry() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let path = home.memory_file(&MEMORY);
    let context = context(Owner::Ours, None, 1);
    let is = |text: &str| assert_eq!(fs::read_to_string(&path).unwrap(), text);
    put(&path, "a\n§\nb".as_bytes());
    remove(&home, &context, "b").unwrap();
    is("a");
    let hash = read(&home, &MEMORY, context.rules).unwrap().hash;
    let whole = WholeText { text: "c\n\nd", expected_hash: &hash };
    let edited = replace_whole(&home, &MEMORY, &context, &whole).unwrap();
    assert_eq!(edited.document.entries().len(), 1);
    add(&home, &context, "e").unwrap();
    is("c\n\nd\n§\ne");
    let first = versions::Which::Hash(versions::hash(b"a"));
    versions::restore(&home, &MEMORY, &first, context.now).unwrap();
    remove(&home, &context, "a").unwrap();
    add(&home, &context, "f").unwrap();
    add(&home, &context, "g").unwrap();
    is("f\n§\ng");
    // What somebody else wrote is read for what it shows.
    put(&path, b"by hand\n");
    add(&home, &context, "h").unwrap();
    is("by hand\n- h <!-- written 2026-11-15 -->\n");
}

#[test]
fn a_duplicate_writes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let context = context(Owner::Ours, None, 1);
    add(&home, &context, "a").unwrap();
    let again = add(&home, &context, "a").unwrap();
    assert!(!again.changed);
    assert_eq!(again.message, "Entry already exists (no duplicate added).");
    assert_eq!(versions::list(&home, &MEMORY).unwrap().len(), 1);
}

#[test]
fn a_home_that_was_never_made_is_not_made_by_a_memory() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    fs::remove_dir(root.path()).unwrap();
    let refused = add(&home, &context(Owner::Ours, None, 1), "a");
    assert!(matches!(refused, Err(Error::HomeMissing { .. })));
    assert!(!root.path().exists());
}

#[test]
fn going_over_the_limit_is_refused_with_the_usage_but_shrinking_is_not() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let context = context(Owner::HermesAgent, Some(2200), 1);
    add(&home, &context, &"x".repeat(2100)).unwrap();
    add(&home, &context, &"ü".repeat(47)).unwrap();
    let refused = add(&home, &context, &"y".repeat(48)).unwrap_err();
    assert!(refused.to_string().contains("2,150/2,200 chars in 2 entries"), "{refused}");
    assert!(refused.hint().unwrap().contains("hermes memory remove"));
    add(&home, &context, &"y".repeat(47)).unwrap();
    let small = Context { rules: super::Rules { limit: Some(2150), ..context.rules }, ..context };
    assert!(remove(&home, &small, "yyy").unwrap().changed);
}

#[test]
fn a_section_file_edited_by_hand_is_copied_and_not_rewritten() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let path = home.memory_file(&MEMORY);
    let drifted = "a  \n§\nb";
    put(&path, drifted.as_bytes());
    let context = context(Owner::HermesAgent, Some(2200), 77);
    let refused = remove(&home, &context, "b").unwrap_err();
    let copy = home.memories().join("MEMORY.md.bak.77");
    assert!(matches!(&refused, Error::Drifted { copy: found, .. } if *found == copy));
    assert!(refused.hint().unwrap().contains("MEMORY.md.bak.77"));
    assert_eq!(fs::read_to_string(&copy).unwrap(), drifted);
    assert_eq!(fs::read_to_string(&path).unwrap(), drifted);
    assert!(add(&home, &context, "c").unwrap().changed);
    assert_eq!(fs::read_to_string(&path).unwrap(), "a  \n§\nb\n§\nc");
    assert!(remove(&home, &context, "b").is_err());
    let second = home.memories().join("MEMORY.md.bak.78");
    assert_eq!(fs::read_to_string(second).unwrap(), "a  \n§\nb\n§\nc");
}

#[test]
fn one_section_entry_over_the_limit_counts_as_edited_by_hand() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    put(&home.memory_file(&MEMORY), format!("a\n§\n{}", "x".repeat(50)).as_bytes());
    let refused = remove(&home, &context(Owner::HermesAgent, Some(40), 5), "a");
    assert!(matches!(refused, Err(Error::Drifted { .. })));
    assert!(remove(&home, &context(Owner::HermesAgent, None, 5), "a").unwrap().changed);
}

#[test]
fn what_is_no_text_or_too_big_is_an_error_and_stays() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let path = home.memory_file(&MEMORY);
    let context = context(Owner::Ours, None, 1);
    for bytes in [b"a\xff".as_slice(), b"a\0b"] {
        put(&path, bytes);
        assert!(matches!(add(&home, &context, "x"), Err(Error::NotText { .. })));
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let refused = add(&home, &context, "x").unwrap_err();
    assert!(refused.to_string().contains("1099511627776 bytes; at most 4194304"), "{refused}");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(read(&home, &MEMORY, context.rules), Err(Error::NotText { .. })));
}

#[test]
fn an_entry_that_would_make_the_file_unreadable_is_not_written() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let path = home.memory_file(&MEMORY);
    let full = "x".repeat(usize::try_from(super::LARGEST_FILE).unwrap() - 10);
    put(&path, full.as_bytes());
    let refused = add(&home, &context(Owner::Ours, None, 1), "one more");
    assert!(matches!(refused, Err(Error::FileTooBig { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), full);
}

#[test]
fn an_editor_saves_only_over_what_it_began_with() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let context = context(Owner::Ours, None, 1);
    let save = |text: &str, expected_hash: &str| {
        replace_whole(&home, &MemoryTarget::Soul, &context, &WholeText { text, expected_hash })
    };
    let missing = read(&home, &MemoryTarget::Soul, context.rules).unwrap();
    assert!(!missing.exists);
    assert!(save("You are terse.\n", &missing.hash).unwrap().changed);
    let begun = crate::soul::show(&home).unwrap();
    assert!(!save(&begun.text, &begun.hash).unwrap().changed);
    put(&home.soul(), b"You are warm.\n");
    let refused = save("You are loud.\n", &begun.hash).unwrap_err();
    assert!(matches!(refused, Error::ChangedMeanwhile { .. }));
    assert_eq!(fs::read(home.soul()).unwrap(), b"You are warm.\n");
    let begun = crate::soul::show(&home).unwrap();
    assert!(matches!(save("a\0", &begun.hash), Err(Error::NotText { .. })));
}

#[test]
fn writers_at_the_same_time_lose_no_entry() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let home = &home;
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for turn in 0..5 {
                    add(home, &context(Owner::Ours, None, turn), &format!("{writer}-{turn}"))
                        .unwrap();
                }
            });
        }
    });
    let text = read(home, &MEMORY, context(Owner::Ours, None, 1).rules).unwrap();
    assert_eq!(text.document.entries().len(), 20);
    assert_eq!(versions::list(home, &MEMORY).unwrap().len(), 20);
}
