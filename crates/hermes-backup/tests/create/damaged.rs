//! A damaged database is saved as it is, under a name that says so.

use std::fs;

use hermes_backup::folder::Happened;
use hermes_backup::manifest::Kind;

use crate::support::{Place, check_database, untar};

#[test]
fn a_corrupt_database_is_saved_byte_by_byte_and_named() {
    let place = Place::new();
    let good = place.create(1).unwrap();
    let state = place.path("state.db");
    let mut bytes = fs::read(&state).unwrap();
    let middle = bytes.len() / 8192 * 4096;
    bytes[middle..middle + 4096].fill(0x5a);
    put_in_place(&state, &bytes);
    let created = place.create(2).unwrap();
    assert!(created.backup.name.damaged);
    assert!(created.backup.name.to_string().contains("-DAMAGED.tar.zst"));
    assert!(created.backup.sidecar.unwrap().damaged);
    assert!(created.remarks[0].starts_with("state.db is damaged"), "{:?}", created.remarks);
    let listed = created.manifest.files.iter().find(|file| file.path == "state.db").unwrap();
    assert_eq!(listed.kind, Kind::Damaged);
    assert!(created.manifest.databases.iter().all(|database| database.path != "state.db"));
    let restored = untar(&created.backup.path);
    assert!(fs::read(restored.path().join(".hermes/state.db")).unwrap() == bytes);
    check_database(&restored.path().join(".hermes/profiles/coder/state.db"));
    assert_eq!(place.folder.history().unwrap().last().unwrap().what, Happened::CreatedDamaged);
    assert_eq!(place.folder.find("latest").unwrap().path, good.backup.path);
}

#[test]
fn empty_zeroed_and_cut_databases_are_damaged() {
    let whole = fs::read(Place::new().path("state.db")).unwrap();
    for bytes in [Vec::new(), vec![0; 8192], whole[..whole.len() - 4096].to_vec()] {
        let place = Place::new();
        put_in_place(&place.path("profiles/coder/memory.db"), &bytes);
        let created = place.create(1).unwrap();
        assert!(created.backup.name.damaged, "{} bytes", bytes.len());
        let restored = untar(&created.backup.path);
        let memory = restored.path().join(".hermes/profiles/coder/memory.db");
        assert!(fs::read(memory).unwrap() == bytes);
        check_database(&restored.path().join(".hermes/state.db"));
    }
}

#[test]
fn the_log_of_a_damaged_database_is_saved_with_it() {
    let place = Place::new();
    put_in_place(&place.path("state.db"), &[0; 8192]);
    put_in_place(&place.path("state.db-wal"), b"what may be left of messages");
    let created = place.create(1).unwrap();
    assert!(created.manifest.left_out.iter().all(|left| left.path != "state.db-wal"));
    let restored = untar(&created.backup.path);
    let log = restored.path().join(".hermes/state.db-wal");
    assert_eq!(fs::read(log).unwrap(), b"what may be left of messages");
}

fn put_in_place(path: &std::path::Path, bytes: &[u8]) {
    use std::io::Write;
    let mut file = fs::File::create(path).unwrap();
    file.write_all(bytes).unwrap();
}
