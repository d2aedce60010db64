//! Memory files in several places become one, and a copy of each stays.

use std::fs;

use jiff::civil::{Date, date};

use crate::atomic;
use crate::init::Owner;
use crate::layout::{Home, MemoryTarget};
use crate::places;
use crate::testing::{context, home};
use crate::versions;

const MEMORY: MemoryTarget = MemoryTarget::Memory;
const TODAY: Date = date(2026, 11, 15);

fn put(home: &Home, name: &str, text: &str) {
    let path = home.folder().join(name);
    atomic::make_folder(path.parent().unwrap()).unwrap();
    atomic::write(&path, text.as_bytes()).unwrap();
}

fn get(home: &Home, name: &str) -> String {
    fs::read_to_string(home.folder().join(name)).unwrap()
}

#[test]
fn missing_entries_are_added_to_their_section_and_the_old_files_set_aside() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    put(&home, "memories/MEMORY.md", "# Memory\n\n## Projects\n- shop\n\n## Do Not\n- shout\n");
    put(
        &home,
        "MEMORY.md",
        "# Old notes\n- top\n\n## projects\n- shop\n- blog <!-- written 2026-01-02 -->\n",
    );
    put(&home, "workspace/MEMORY.md", "## Always Remember\n- My name: Alice\n- top\n");
    let found = places::find(&home, &MEMORY, Owner::Ours).unwrap();
    assert_eq!(found.len(), 2);
    let merged = places::merge(&home, &MEMORY, &context(Owner::Ours, None, 1), TODAY).unwrap();
    assert_eq!(merged.outcome.message, "3 entries merged.");
    assert_eq!(
        get(&home, "memories/MEMORY.md"),
        "# Memory\n- top\n\n## Projects\n- shop\n- blog <!-- written 2026-01-02 -->\n\n## Do Not\n- shout\n\n## Always Remember\n- My name: Alice\n"
    );
    assert_eq!(merged.set_aside.len(), 2);
    assert!(get(&home, "MEMORY.md.merged-20261115").starts_with("# Old notes"));
    assert!(places::find(&home, &MEMORY, Owner::Ours).unwrap().is_empty());
    assert_eq!(versions::list(&home, &MEMORY).unwrap().len(), 2);
}

#[test]
fn an_identical_copy_adds_nothing_and_is_set_aside_without_replacing_another() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    put(&home, "memories/USER.md", "Name: Alice\n");
    put(&home, "USER.md", "Name: Alice\n");
    put(&home, "USER.md.merged-20261115", "earlier");
    let user = MemoryTarget::User(None);
    let merged = places::merge(&home, &user, &context(Owner::Ours, None, 1), TODAY).unwrap();
    assert!(!merged.outcome.changed);
    assert_eq!(get(&home, "USER.md.merged-20261115"), "earlier");
    assert_eq!(get(&home, "USER.md.merged-20261115-2"), "Name: Alice\n");
    assert!(!home.folder().join("USER.md").exists());
}

#[test]
fn a_section_file_takes_entries_of_a_markdown_file() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    put(&home, "memories/MEMORY.md", "shop\n§\ntea");
    put(&home, "MEMORY.md", "## Projects\n- shop\n- blog\n  weekly <!-- written 2026-01-02 -->\n");
    places::merge(&home, &MEMORY, &context(Owner::HermesAgent, Some(2200), 1), TODAY).unwrap();
    assert_eq!(get(&home, "memories/MEMORY.md"), "shop\n§\ntea\n§\nblog\nweekly");
}

#[test]
fn a_merge_over_the_limit_touches_nothing() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    put(&home, "memories/MEMORY.md", "tea");
    put(&home, "MEMORY.md", "a long text");
    assert!(
        places::merge(&home, &MEMORY, &context(Owner::HermesAgent, Some(5), 1), TODAY).is_err()
    );
    assert_eq!(get(&home, "memories/MEMORY.md"), "tea");
    assert_eq!(get(&home, "MEMORY.md"), "a long text");
}

#[test]
fn thousands_of_entries_are_merged_in_a_moment() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    let list = |from: usize, to: usize| -> String {
        (from..to).map(|n| format!("## Part {}\n- entry {n}\n", n % 50)).collect()
    };
    put(&home, "memories/MEMORY.md", &list(0, 2000));
    put(&home, "MEMORY.md", &list(0, 6000));
    let begun = std::time::Instant::now();
    let merged = places::merge(&home, &MEMORY, &context(Owner::Ours, None, 1), TODAY).unwrap();
    assert_eq!(merged.outcome.message, "4000 entries merged.");
    assert_eq!(merged.outcome.document.entries().len(), 6000);
    assert!(begun.elapsed().as_secs() < 3, "{:?}", begun.elapsed());
}

#[test]
fn a_link_to_the_file_itself_is_no_other_place() {
    let root = tempfile::tempdir().unwrap();
    let home = home(&root);
    put(&home, "memories/MEMORY.md", "- a\n");
    std::os::unix::fs::symlink(home.memory_file(&MEMORY), home.folder().join("MEMORY.md")).unwrap();
    assert!(places::find(&home, &MEMORY, Owner::Ours).unwrap().is_empty());
}
