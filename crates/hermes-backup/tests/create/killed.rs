//! Killed at any moment: what has its name is whole, and the next run takes away the rest.

use std::process::Stdio;
use std::time::{Duration, Instant};

use hermes_backup::name::ArchiveName;

use crate::child;
use crate::support::{Place, check_database, times, untar};

#[test]
fn after_a_kill_there_is_no_half_archive_and_the_next_run_sweeps() {
    let place = Place::new();
    let first = place.create(1).unwrap();
    let begun = Instant::now();
    let spawn = || {
        child::command("makes_one_backup", place.home.root())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    };
    assert!(spawn().wait().unwrap().success());
    let whole_run = begun.elapsed();
    let done = place.folder.find("latest").unwrap();
    place.folder.delete(&done).unwrap();
    let kills = times(10, 200);
    let mut left_something = 0;
    for kill in 0..kills {
        let mut child = spawn();
        std::thread::sleep(whole_run * (kill + 1) / kills);
        child.kill().unwrap();
        child.wait().unwrap();
        left_something += u32::from(place.names().len() > 2);
        check_what_has_a_name(&place);
    }
    assert!(left_something > 0, "no kill came in the middle of a run");
    let held = place.folder.lock("test").unwrap();
    place.folder.sweep(&held).unwrap();
    drop(held);
    let last = place.create(9).unwrap();
    check_database(&untar(&last.backup.path).path().join(".hermes/state.db"));
    let only_whole = |name: &String| {
        let bare = name.strip_suffix(".json").unwrap_or(name);
        bare.parse::<ArchiveName>().is_ok()
    };
    assert!(place.names().iter().all(only_whole), "{:?}", place.names());
    assert!(first.backup.path.exists() && whole_run > Duration::ZERO);
}

/// An archive of the killed run may be there, but only whole; then it goes, so that the next can be made.
fn check_what_has_a_name(place: &Place) {
    for backup in place.folder.list().unwrap().iter().filter(|backup| backup.name.tag == 7) {
        assert!(backup.sidecar.is_some());
        check_database(&untar(&backup.path).path().join(".hermes/state.db"));
        place.folder.delete(backup).unwrap();
    }
}
