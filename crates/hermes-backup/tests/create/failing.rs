//! A run that fails leaves nothing behind, and the backups before it as they were.

use std::fs;

use hermes_backup::Error;
use hermes_backup::create::{self, Request};
use hermes_backup::folder::{Folder, Happened};
use hermes_backup::seal::Sealing;

use crate::support::Place;

#[test]
fn a_failed_run_leaves_no_part_and_no_copy_of_a_database() {
    let place = Place::new();
    let first = place.create(1).unwrap();
    let before = fs::read(&first.backup.path).unwrap();
    let names = place.names();
    let mut saw_copy = false;
    let failed = create::create(&place.request(&Sealing::Plain, 1), &mut |progress| {
        saw_copy |= progress.doing.starts_with("copying");
    });
    assert!(matches!(failed, Err(Error::File { .. })), "the name is taken");
    assert!(saw_copy, "it failed after databases were copied");
    assert_eq!(place.names(), names);
    assert!(fs::read(&first.backup.path).unwrap() == before);
    assert_eq!(place.folder.history().unwrap().last().unwrap().what, Happened::CreateFailed);
}

#[test]
fn a_second_one_at_the_same_time_is_told_who_is_first() {
    let place = Place::new();
    place.folder.make(place.home.root()).unwrap();
    let _held = place.folder.lock("somebody else").unwrap();
    let refused = place.create(1).unwrap_err();
    assert!(matches!(&refused, Error::Busy { holder } if holder == "somebody else"), "{refused}");
    assert!(place.names().is_empty() && place.folder.history().unwrap().is_empty());
}

#[test]
fn a_folder_inside_the_home_is_refused() {
    let place = Place::new();
    let inside = Folder::at(&place.path("backups"));
    let request = Request { folder: &inside, ..place.request(&Sealing::Plain, 1) };
    let refused = create::create(&request, &mut |_| {}).unwrap_err();
    assert!(matches!(refused, Error::Setting { .. }), "{refused}");
    assert!(!inside.path().exists());
}

#[test]
fn a_large_file_that_becomes_shorter_while_it_is_read_is_packed_as_it_is_then() {
    let place = Place::new();
    let big = place.path("workspace/big");
    fs::create_dir_all(big.parent().unwrap()).unwrap();
    let file = fs::File::create(&big).unwrap();
    file.set_len(32 * 1024 * 1024).unwrap();
    let mut is_cut = false;
    let created = create::create(&place.request(&Sealing::Plain, 1), &mut |progress| {
        if progress.doing == "packing" && progress.done > 8 * 1024 * 1024 && !is_cut {
            is_cut = true;
            file.set_len(20 * 1024 * 1024).unwrap();
        }
    })
    .unwrap();
    let listed = created.manifest.files.iter().find(|file| file.path == "workspace/big").unwrap();
    assert_eq!(listed.size, 20 * 1024 * 1024);
    assert!(created.remarks[0].contains("changed while"), "{:?}", created.remarks);
}

#[test]
fn too_little_space_is_refused_before_anything_is_written() {
    let place = Place::new();
    // A file with a hole is large and takes no room here.
    let file = fs::File::create(place.path("huge")).unwrap();
    file.set_len(1 << 43).unwrap();
    let refused = place.create(1).unwrap_err();
    assert!(matches!(refused, Error::NoSpace { .. }), "{refused}");
    assert!(place.names().is_empty());
}
