//! What was kept comes back to the byte, whatever happened in between.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use jiff::ToSpan;
use proptest::prelude::*;

use super::*;
use crate::fence::Fence;
use crate::testing::{Place, now, write};

const FORCED: Restoring = Restoring { force: true, turn: 9, now: Timestamp::UNIX_EPOCH };

fn store(place: &Place) -> Store {
    Store::new(&place.home, Limits::from(&Checkpoints::default()))
}

fn keeper(place: &Place) -> Keeper {
    Keeper::new(store(place), "session", now())
}

fn fence(place: &Place) -> Fence {
    Fence::new(&place.home, &place.working, &[]).unwrap()
}

/// Writes a file as the agent does.
fn agent_writes(keeper: &mut Keeper, place: &Place, name: &str, text: &str) -> u32 {
    let number = keeper.before_write(&fence(place), &place.path(name), text.as_bytes()).unwrap();
    place.write(name, text);
    number
}

/// Runs a deed as a command of the agent.
fn agent_runs(keeper: &mut Keeper, place: &Place, deed: impl FnOnce()) -> Option<u32> {
    let fence = fence(place);
    let Kept::At(number) = keeper.before_command(&fence, "deed").unwrap() else {
        panic!("nothing was kept")
    };
    deed();
    keeper.after_command(&fence, number).unwrap()
}

/// Everything below the working folder: contents, modes, links.
fn picture(place: &Place) -> BTreeMap<String, String> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let metadata = path.symlink_metadata().unwrap();
            if metadata.is_dir() {
                found.insert(format!("{name}/"), String::new());
                walk(&path, root, found);
            } else if metadata.is_symlink() {
                found.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
            } else {
                let mode = metadata.permissions().mode() & 0o7777;
                found.insert(name, format!("{mode:o} {:?}", fs::read(&path).unwrap()));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&place.working, &place.working, &mut found);
    found
}

#[test]
fn a_write_is_undone_and_the_undoing_too() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("a.txt", "one\n");
    fs::set_permissions(place.path("a.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    keeper.begin(3, now());
    let before = picture(&place);
    let first = agent_writes(&mut keeper, &place, "a.txt", "two\n");
    agent_writes(&mut keeper, &place, "new/deep/b.txt", "b\n");
    let after = picture(&place);
    let store = store(&place);
    let listed = store.list(Some("session")).unwrap();
    assert_eq!(listed.iter().map(|one| one.number).collect::<Vec<_>>(), [2, 1]);
    assert_eq!((listed[1].turn, listed[1].what.as_str()), (3, "write a.txt"));
    assert!(store.list(Some("other")).unwrap().is_empty());
    let plan = store.plan(first).unwrap();
    let diff = store.diff(&plan).unwrap();
    assert!(diff.contains("--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-two\n+one\n"), "{diff}");
    assert!(diff.contains("--- new/deep/b.txt\n+++ /dev/null\n"), "{diff}");
    let restored = store.restore(&plan, &Restoring { force: false, ..FORCED }).unwrap();
    assert_eq!(picture(&place), before);
    assert_eq!(restored.removed, [place.path("new/deep/b.txt")]);
    let undo = store.plan(restored.undo.unwrap()).unwrap();
    store.restore(&undo, &Restoring { force: false, ..FORCED }).unwrap();
    assert_eq!(picture(&place), after);
    assert!(store.plan(first).unwrap().foreign().is_empty());
}

#[test]
fn a_command_is_undone_with_all_it_did() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("keep.txt", "keep");
    place.write("change.txt", "old");
    place.write("remove/me.txt", "gone");
    place.write("run.sh", "#!/bin/sh\n");
    place.write("moved/x.txt", "x");
    place.write(".gitignore", "target\n");
    place.write("target/big.bin", "ignored");
    symlink("keep.txt", place.path("link")).unwrap();
    let before = picture(&place);
    let number = agent_runs(&mut keeper, &place, || {
        place.write("change.txt", "new");
        place.write("made/by/it.txt", "created");
        place.write("target/more.bin", "ignored too");
        fs::remove_dir_all(place.path("remove")).unwrap();
        fs::set_permissions(place.path("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::rename(place.path("moved"), place.path("renamed")).unwrap();
        fs::remove_file(place.path("link")).unwrap();
        symlink("change.txt", place.path("link")).unwrap();
    });
    let store = store(&place);
    let plan = store.plan(number.unwrap()).unwrap();
    assert!(store.diff(&plan).unwrap().contains("a link to change.txt becomes a link to keep.txt"));
    store.restore(&plan, &Restoring { force: false, ..FORCED }).unwrap();
    let mut after = picture(&place);
    assert!(after.remove("target/more.bin").is_some(), "what is ignored is left alone");
    assert_eq!(after, before);
}

#[test]
fn a_command_that_changes_nothing_leaves_no_checkpoint() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("a.txt", "a");
    assert_eq!(agent_runs(&mut keeper, &place, || {}), None);
    assert_eq!(agent_runs(&mut keeper, &place, || place.write("a.txt", "a")), None);
    assert!(store(&place).list(None).unwrap().is_empty());
    let number = agent_writes(&mut keeper, &place, "a.txt", "b");
    assert_eq!(number, 3, "a number is never given twice");
}

#[test]
fn a_file_that_becomes_a_folder_and_a_folder_that_becomes_a_file_come_back() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("file", "file");
    place.write("folder/inside", "inside");
    let before = picture(&place);
    let number = agent_runs(&mut keeper, &place, || {
        fs::remove_file(place.path("file")).unwrap();
        place.write("file/inside", "x");
        fs::remove_dir_all(place.path("folder")).unwrap();
        place.write("folder", "y");
    });
    let after = picture(&place);
    let store = store(&place);
    let restored = store.restore(&store.plan(number.unwrap()).unwrap(), &FORCED).unwrap();
    assert_eq!(picture(&place), before);
    store.restore(&store.plan(restored.undo.unwrap()).unwrap(), &FORCED).unwrap();
    assert_eq!(picture(&place), after);
}

#[test]
fn what_somebody_else_changed_since_is_not_overwritten_unless_forced() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("a.txt", "one");
    let number = agent_writes(&mut keeper, &place, "a.txt", "two");
    agent_writes(&mut keeper, &place, "b.txt", "b");
    place.write("a.txt", "mine");
    let store = store(&place);
    let plan = store.plan(number).unwrap();
    assert_eq!(plan.foreign(), [place.path("a.txt")]);
    let refused = store.restore(&plan, &Restoring { force: false, ..FORCED }).unwrap_err();
    assert!(matches!(&refused, Error::ChangedSince { paths } if paths == &[place.path("a.txt")]));
    assert_eq!((place.read("a.txt"), place.read("b.txt")), ("mine".into(), "b".into()));
    let restored = store.restore(&plan, &FORCED).unwrap();
    assert_eq!(place.read("a.txt"), "one");
    store.restore(&store.plan(restored.undo.unwrap()).unwrap(), &FORCED).unwrap();
    assert_eq!(place.read("a.txt"), "mine", "what was replaced by force was kept");
}

#[test]
fn a_file_that_changes_between_plan_and_deed_stops_it_before_anything_is_touched() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    let number = agent_writes(&mut keeper, &place, "a.txt", "a");
    agent_writes(&mut keeper, &place, "b.txt", "b");
    let store = store(&place);
    let plan = store.plan(number).unwrap();
    place.write("b.txt", "just now");
    assert!(matches!(store.restore(&plan, &FORCED), Err(Error::ChangedSince { .. })));
    assert_eq!((place.read("a.txt"), place.read("b.txt")), ("a".into(), "just now".into()));
}

#[test]
fn a_folder_that_became_a_link_is_not_written_through() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("folder/a.txt", "one");
    let number = agent_writes(&mut keeper, &place, "folder/a.txt", "two");
    let outside = place.working.parent().unwrap().join("outside");
    fs::rename(place.path("folder"), &outside).unwrap();
    symlink(&outside, place.path("folder")).unwrap();
    let store = store(&place);
    let plan = store.plan(number).unwrap();
    assert!(matches!(store.restore(&plan, &FORCED), Err(Error::InTheWay { .. })));
    assert_eq!(fs::read_to_string(outside.join("a.txt")).unwrap(), "two");
}

#[test]
fn a_command_that_was_cut_short_can_be_undone_when_asked_firmly() {
    let place = Place::new();
    place.write("a.txt", "one");
    let before = picture(&place);
    {
        let mut keeper = keeper(&place);
        keeper.before_command(&fence(&place), "deed").unwrap();
        // The program is killed while the command runs.
    }
    place.write("a.txt", "half");
    place.write("made.txt", "x");
    let store = store(&place);
    let plan = store.plan(1).unwrap();
    assert_eq!(plan.foreign(), [place.path("a.txt"), place.path("made.txt")]);
    store.restore(&plan, &FORCED).unwrap();
    assert_eq!(picture(&place), before);
}

#[test]
fn secrets_ignored_and_large_files_are_not_kept_before_a_command() {
    let place = Place::new();
    let limits = Limits { file_bytes: 10, ..Limits::from(&Checkpoints::default()) };
    let mut keeper = Keeper::new(Store::new(&place.home, limits), "session", now());
    place.write(".env", "KEY=1");
    place.write("large.bin", "12345678901");
    place.write("small.txt", "a");
    let number = agent_runs(&mut keeper, &place, || {
        place.write(".env", "KEY=2");
        place.write("large.bin", "x2345678901");
        place.write("small.txt", "b");
    });
    let store = Store::new(&place.home, limits);
    let plan = store.plan(number.unwrap()).unwrap();
    let restored = store.restore(&plan, &FORCED).unwrap();
    assert_eq!(restored.left, [place.path("large.bin")]);
    assert_eq!((place.read("small.txt"), place.read(".env")), ("a".into(), "KEY=2".into()));
    let kept = fs::read_dir(place.home.checkpoints().join("contents")).unwrap().count();
    assert_eq!(kept, 2, "only the small file, before and after the restore");
}

#[test]
fn too_many_files_are_told_and_not_kept() {
    let place = Place::new();
    let limits = Limits { files: 3, ..Limits::from(&Checkpoints::default()) };
    let mut keeper = Keeper::new(Store::new(&place.home, limits), "session", now());
    for number in 0..5 {
        place.write(&format!("{number}.txt"), "x");
    }
    let kept = keeper.before_command(&fence(&place), "deed").unwrap();
    assert!(matches!(kept, Kept::Nothing(why) if why.contains("more than 3 files")));
    assert!(keeper.store().list(None).unwrap().is_empty());
}

#[test]
fn a_second_look_reads_only_what_changed() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("old.txt", "old");
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let settle = |name: &str| {
        fs::File::options()
            .write(true)
            .open(place.path(name))
            .unwrap()
            .set_modified(hour_ago)
            .unwrap();
    };
    settle("old.txt");
    agent_runs(&mut keeper, &place, || place.write("new.txt", "new"));
    // Contents that are gone are kept anew, so that what is listed can be brought back.
    fs::remove_dir_all(place.home.checkpoints().join("contents")).unwrap();
    let number = agent_runs(&mut keeper, &place, || place.write("old.txt", "changed")).unwrap();
    let store = store(&place);
    store.restore(&store.plan(number).unwrap(), &FORCED).unwrap();
    assert_eq!(place.read("old.txt"), "old");
}

#[test]
fn old_checkpoints_go_and_the_rest_fits() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    keeper.begin(1, now());
    agent_writes(&mut keeper, &place, "a.txt", "one");
    agent_writes(&mut keeper, &place, "a.txt", "two");
    keeper.begin(2, now().checked_add(100.hours()).unwrap());
    agent_writes(&mut keeper, &place, "a.txt", "three");
    let later = now().checked_add(200.hours()).unwrap();
    let store = store(&place);
    assert_eq!(store.prune_plan(later).unwrap().checkpoints, [1, 2]);
    assert_eq!(store.list(None).unwrap().len(), 3, "a plan changes nothing");
    let pruned = store.prune(later).unwrap();
    assert!(pruned.checkpoints == [1, 2] && pruned.bytes > 0, "{pruned:?}");
    store.restore(&store.plan(3).unwrap(), &FORCED).unwrap();
    assert_eq!(place.read("a.txt"), "two");
    let tight = Limits { bytes: 1, ..Limits::from(&Checkpoints::default()) };
    let tight = Store::new(&place.home, tight);
    tight.prune(now()).unwrap();
    assert!(tight.list(None).unwrap().is_empty());
    let contents = place.home.checkpoints().join("contents");
    let files =
        fs::read_dir(contents).unwrap().flat_map(|one| fs::read_dir(one.unwrap().path()).unwrap());
    assert_eq!(files.count(), 0);
}

#[test]
fn damage_is_told_and_touches_nothing() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("a.txt", "one");
    let number = agent_writes(&mut keeper, &place, "a.txt", "two");
    let store = store(&place);
    let hash = store.get(number).unwrap().changes[0].before.hash().unwrap().to_owned();
    let kept = place.home.checkpoints().join("contents").join(&hash[..2]).join(&hash[2..]);
    write(&kept, b"not what it was");
    let plan = store.plan(number).unwrap();
    assert!(matches!(store.restore(&plan, &FORCED), Err(Error::DamagedContent { .. })));
    assert_eq!(place.read("a.txt"), "two");
    write(&store.manifest(7), b"{");
    assert!(matches!(store.get(7), Err(Error::DamagedCheckpoint { .. })));
    assert!(!store.list(None).unwrap().is_empty());
    assert!(matches!(store.plan(99), Err(Error::NoCheckpoint { number: 99 })));
    assert_eq!(fs::read_dir(&place.working).unwrap().count(), 1, "nothing is left beside the file");
}

#[test]
fn a_store_that_is_not_there_is_empty_and_stays_so() {
    let place = Place::new();
    let store = store(&place);
    assert!(store.list(None).unwrap().is_empty() && store.size().unwrap() == 0);
    assert_eq!(store.prune(now()).unwrap(), Pruned::default());
    assert!(!place.home.checkpoints().exists());
}

#[test]
fn a_link_that_became_a_folder_goes_both_ways_and_what_it_leads_to_stays() {
    let place = Place::new();
    let mut keeper = keeper(&place);
    place.write("real/b.txt", "behind the link");
    symlink(place.path("real"), place.path("d")).unwrap();
    let before = picture(&place);
    let number = agent_runs(&mut keeper, &place, || {
        fs::remove_file(place.path("d")).unwrap();
        place.write("d/b.txt", "in the folder");
    });
    let after = picture(&place);
    let store = store(&place);
    let gentle = Restoring { force: false, ..FORCED };
    let restored = store.restore(&store.plan(number.unwrap()).unwrap(), &gentle).unwrap();
    assert_eq!(picture(&place), before);
    store.restore(&store.plan(restored.undo.unwrap()).unwrap(), &gentle).unwrap();
    assert_eq!(picture(&place), after);
}

/// One thing an agent may do to the files.
#[derive(Debug, Clone)]
enum Deed {
    Write(usize, Vec<u8>),
    Remove(usize),
    Rename(usize, usize),
    Mode(usize, u32),
    Link(usize, usize),
}

const NAMES: [&str; 7] = ["a", "b.txt", "d/a", "d/e/b", "d/e", "c", "f/g/h"];

fn deed() -> impl Strategy<Value = Deed> {
    let name = || 0..NAMES.len();
    prop_oneof![
        (name(), prop::collection::vec(any::<u8>(), 0..20))
            .prop_map(|(name, bytes)| Deed::Write(name, bytes)),
        name().prop_map(Deed::Remove),
        (name(), name()).prop_map(|(from, to)| Deed::Rename(from, to)),
        (name(), prop::sample::select(vec![0o644, 0o600, 0o755]))
            .prop_map(|(name, mode)| Deed::Mode(name, mode)),
        (name(), name()).prop_map(|(name, target)| Deed::Link(name, target)),
    ]
}

/// Does it as far as it can be done; never inside a folder that is a link.
fn carry_out(place: &Place, deed: &Deed) {
    let path = |name: usize| place.path(NAMES[name]);
    let make_way = |path: &Path| fs::create_dir_all(path.parent().unwrap()).is_ok();
    match deed {
        Deed::Write(name, bytes) => {
            if make_way(&path(*name)) && !path(*name).is_dir() {
                let _ = fs::remove_file(path(*name));
                write(&path(*name), bytes);
            }
        }
        Deed::Remove(name) => {
            let _ = fs::remove_file(path(*name)).or_else(|_| fs::remove_dir_all(path(*name)));
        }
        Deed::Rename(from, to) => {
            if make_way(&path(*to)) {
                let _ = fs::rename(path(*from), path(*to));
            }
        }
        Deed::Mode(name, mode) => {
            if path(*name).symlink_metadata().is_ok_and(|found| found.is_file()) {
                fs::set_permissions(path(*name), fs::Permissions::from_mode(*mode)).unwrap();
            }
        }
        Deed::Link(name, target) => {
            if make_way(&path(*name)) && !path(*name).is_dir() {
                let _ = fs::remove_file(path(*name));
                // Leads nowhere, so that it is a leaf.
                let _ = symlink(format!("nowhere-{target}"), path(*name));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// After any changes, going back to any checkpoint gives the exact bytes, modes and links of then,
    /// and undoing that gives those of now.
    #[test]
    fn what_was_kept_comes_back_to_the_byte(
        start in prop::collection::vec(deed(), 0..6),
        turns in prop::collection::vec(prop::collection::vec(deed(), 1..4), 1..5),
        choice in any::<prop::sample::Index>(),
    ) {
        let place = Place::new();
        let mut keeper = keeper(&place);
        for deed in &start {
            carry_out(&place, deed);
        }
        let files = |place: &Place| {
            let mut found = picture(place);
            // A folder with nothing in it is no file.
            found.retain(|name, _| !name.ends_with('/'));
            found
        };
        let mut kept = Vec::new();
        for turn in &turns {
            let before = files(&place);
            let number = agent_runs(&mut keeper, &place, || turn.iter().for_each(|deed| carry_out(&place, deed)));
            kept.extend(number.map(|number| (number, before)));
        }
        if !kept.is_empty() {
            let (number, before) = choice.get(&kept);
            let now = files(&place);
            let store = store(&place);
            let plan = store.plan(*number).unwrap();
            prop_assert!(plan.foreign().is_empty(), "{:?}", plan);
            let gentle = Restoring { force: false, ..FORCED };
            let restored = store.restore(&plan, &gentle).unwrap();
            prop_assert_eq!(&files(&place), before);
            if let Some(undo) = restored.undo {
                store.restore(&store.plan(undo).unwrap(), &gentle).unwrap();
                prop_assert_eq!(files(&place), now);
            }
        }
    }
}
