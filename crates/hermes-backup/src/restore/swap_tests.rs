//! What a swap leaves when it is cut off, undone, or undone again.

use super::*;
use hermes_home::env::Env;
use hermes_home::layout::Wanted;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn write(path: &Path, text: &str) {
    atomic::make_folder(path.parent().unwrap()).unwrap();
    atomic::write(path, text.as_bytes()).unwrap();
}

/// A home with a profile, and beside it what was unpacked.
fn scene(folder: &Path) -> (Home, Names, PathBuf) {
    write(&folder.join("home/SOUL.md"), "old");
    write(&folder.join("home/only-old"), "old");
    write(&folder.join("home/profiles/coder/SOUL.md"), "old coder");
    let wanted = Wanted { home: Some(folder.join("home")), profile: None };
    let home = Home::locate(&wanted, &Env::of([])).unwrap();
    let names = Names::of(&home).unwrap();
    let unpacked = names.beside(".restoring-x-1");
    write(&unpacked.join("SOUL.md"), "new");
    write(&unpacked.join("only-new"), "new");
    write(&unpacked.join("profiles/coder/SOUL.md"), "new coder");
    (home, names, unpacked)
}

fn state(root: &Path) -> Vec<Option<String>> {
    ["SOUL.md", "only-old", "only-new", "profiles/coder/SOUL.md"]
        .map(|path| fs::read_to_string(root.join(path)).ok())
        .into()
}

#[test]
fn a_swap_that_is_cut_off_after_any_step_is_undone() {
    let profile = Replaced::Profile("coder".to_owned());
    for replaced in [Replaced::Whole, Replaced::Default, profile] {
        for steps in 0..12 {
            let folder = tempfile::tempdir().unwrap();
            let (home, names, unpacked) = scene(folder.path());
            let before = state(names.root());
            let journal = plan(&names, &unpacked, &replaced, NOW).unwrap();
            let journal = Journal { unpacked: Some(unpacked.clone()), ..journal };
            write_journal(&names, &journal).unwrap();
            journal.prepare(&replaced).unwrap();
            journal.go_on(steps).unwrap();
            let is_done = journal.is_done();
            let after = state(names.root());
            assert_eq!(recover(&home, &names, NOW).unwrap(), !is_done);
            let found = state(names.root());
            assert_eq!(found, if is_done { after } else { before }, "{replaced:?} {steps}");
            assert!(is_done || !is_there(&unpacked));
            assert!(!is_there(&names.journal()));
            assert!(!recover(&home, &names, NOW).unwrap());
        }
    }
}

#[test]
fn a_home_that_a_program_made_meanwhile_is_kept_too() {
    let folder = tempfile::tempdir().unwrap();
    let (home, names, unpacked) = scene(folder.path());
    let before = state(names.root());
    let journal = plan(&names, &unpacked, &Replaced::Whole, NOW).unwrap();
    write_journal(&names, &journal).unwrap();
    journal.go_on(1).unwrap();
    write(&folder.path().join("home/SOUL.md"), "a stranger");
    assert!(recover(&home, &names, NOW).unwrap());
    assert_eq!(state(names.root()), before);
    assert_eq!(names.last_aside().unwrap(), None, "it is nothing to roll back to");
    let stranger = names.beside(".in-the-way-19700101T000000Z");
    assert_eq!(fs::read_to_string(stranger.join("SOUL.md")).unwrap(), "a stranger");
}

fn scopes() -> [Replaced; 3] {
    [Replaced::Whole, Replaced::Default, Replaced::Profile("coder".to_owned())]
}

/// A swap that was cut off after so many steps.
fn cut_off(names: &Names, unpacked: &Path, replaced: &Replaced, steps: usize) -> Journal {
    let journal = plan(names, unpacked, replaced, NOW).unwrap();
    let journal = Journal { unpacked: Some(unpacked.to_owned()), ..journal };
    write_journal(names, &journal).unwrap();
    journal.prepare(replaced).unwrap();
    journal.go_on(steps).unwrap();
    journal
}

#[test]
fn undoing_twice_leaves_the_original() {
    for replaced in scopes() {
        for steps in 0..12 {
            let folder = tempfile::tempdir().unwrap();
            let (home, names, unpacked) = scene(folder.path());
            let before = state(names.root());
            let journal = cut_off(&names, &unpacked, &replaced, steps);
            journal.undo(&names, NOW).unwrap();
            assert_eq!(state(names.root()), before, "{replaced:?} {steps}");
            journal.undo(&names, NOW).unwrap();
            assert_eq!(state(names.root()), before, "{replaced:?} {steps}");
            recover(&home, &names, NOW).unwrap();
            assert_eq!(state(names.root()), before, "{replaced:?} {steps}");
            assert!(!is_there(&unpacked));
            assert_eq!(names.last_aside().unwrap(), None);
        }
    }
}

#[test]
fn undoing_without_the_unpacked_folder_leaves_the_original() {
    for replaced in scopes() {
        for steps in 0..12 {
            let folder = tempfile::tempdir().unwrap();
            let (home, names, unpacked) = scene(folder.path());
            let before = state(names.root());
            let journal = cut_off(&names, &unpacked, &replaced, steps);
            if is_there(&unpacked) {
                remove_folder(&unpacked).unwrap();
            }
            let (is_done, after) = (journal.is_done(), state(names.root()));
            recover(&home, &names, NOW).unwrap();
            let wanted = if is_done { after } else { before };
            assert_eq!(state(names.root()), wanted, "{replaced:?} {steps}");
            assert!(!is_there(&unpacked) && !is_there(&names.journal()));
        }
    }
}

#[test]
fn a_journal_that_speaks_of_anything_else_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (home, names, unpacked) = scene(folder.path());
    write(&folder.path().join("other/SOUL.md"), "another's");
    let before = state(names.root());
    let right = cut_off(&names, &unpacked, &Replaced::Default, 1);
    let other = folder.path().join("other");
    let mut wrong = vec![
        Journal { format: 9, ..right.clone() },
        Journal { unpacked: Some(other.clone()), ..right.clone() },
        Journal { unpacked: Some(unpacked.join("../other")), ..right.clone() },
        Journal { aside: Some(other.clone()), ..right.clone() },
    ];
    for path in [other.clone(), names.root().join("../other"), PathBuf::from("SOUL.md")] {
        for field in 0..3 {
            let mut journal = right.clone();
            let one = &mut journal.moves[0];
            match field {
                0 => one.place = path.clone(),
                1 => one.new = Some(path.clone()),
                _ => one.aside = Some(path.clone()),
            }
            wrong.push(journal);
        }
    }
    for journal in wrong {
        write(&names.journal(), &serde_json::to_string(&journal).unwrap());
        let refused = recover(&home, &names, NOW).unwrap_err();
        assert!(matches!(refused, Error::Tampered { .. }), "{refused}");
        assert!(refused.to_string().contains(".restore.json"), "{refused}");
        assert!(is_there(&other) && is_there(&unpacked));
    }
    // A link to a right one is not followed.
    write(&folder.path().join("right"), &serde_json::to_string(&right).unwrap());
    fs::remove_file(names.journal()).unwrap();
    std::os::unix::fs::symlink(folder.path().join("right"), names.journal()).unwrap();
    assert!(matches!(recover(&home, &names, NOW), Err(Error::Tampered { .. })));
    fs::rename(folder.path().join("right"), names.journal()).unwrap();
    assert!(recover(&home, &names, NOW).unwrap());
    assert_eq!(state(names.root()), before);
}

#[test]
fn a_journal_of_another_user_is_refused() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (home, names, unpacked) = scene(folder.path());
    cut_off(&names, &unpacked, &Replaced::Whole, 1);
    std::os::unix::fs::chown(names.journal(), Some(4321), None).unwrap();
    let refused = recover(&home, &names, NOW).unwrap_err();
    assert!(matches!(refused, Error::Tampered { .. }), "{refused}");
}
