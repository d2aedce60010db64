//! Backups made while another program writes as fast as it can.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::child;
use crate::support::{Place, check_database, is_full, times, untar};

struct Writer(Child);

impl Writer {
    fn start(database: &Path) -> Writer {
        let mut command = child::command("writes_for_ever", database);
        let started = command.stdout(Stdio::null()).spawn().unwrap();
        let log = database.with_extension("db-wal");
        while log.metadata().map_or(0, |log| log.len()) == 0 {
            std::thread::yield_now();
        }
        Writer(started)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// After so many a new home: the writer fills its database faster than backups are made.
const IN_ONE_HOME: u32 = 20;

#[test]
fn every_backup_under_a_writer_is_of_one_moment() {
    let wanted = times(12, 200);
    for first in (0..wanted).step_by(IN_ONE_HOME as usize) {
        let place = Place::new();
        let _writer = Writer::start(&place.path("state.db"));
        let mut rows = 0;
        for tag in first..wanted.min(first + IN_ONE_HOME) {
            let created = place.create(tag).unwrap();
            assert!(!created.backup.name.damaged, "{:?}", created.remarks);
            let restored = untar(&created.backup.path);
            let found = check_database(&restored.path().join(".hermes/state.db"));
            assert!(found > rows, "{found} rows after {rows}");
            rows = found;
            place.folder.delete(&created.backup).unwrap();
        }
    }
}

/// What the copies are needed for: files copied under the same writer.
#[test]
fn plain_copies_under_a_writer_lose_or_break_rows() {
    if !is_full() {
        return;
    }
    let mut broken = 0;
    for _ in 0..200 / IN_ONE_HOME {
        let place = Place::new();
        let _writer = Writer::start(&place.path("state.db"));
        broken += (0..IN_ONE_HOME).filter(|tag| !is_plain_copy_whole(&place, *tag)).count();
    }
    assert!(broken > 0, "all 200 plain copies were whole");
}

/// Whether a copy of database and log holds everything that a backup made before it holds.
fn is_plain_copy_whole(place: &Place, tag: u32) -> bool {
    let created = place.create(tag).unwrap();
    let state = created.manifest.databases.iter().find(|found| found.path == "state.db").unwrap();
    let before = state.rows["messages"];
    place.folder.delete(&created.backup).unwrap();
    let target = tempfile::tempdir().unwrap();
    for name in ["state.db", "state.db-wal"] {
        fs::copy(place.path(name), target.path().join(name)).unwrap();
    }
    let copy = target.path().join("state.db");
    std::panic::catch_unwind(|| check_database(&copy)).is_ok_and(|rows| rows >= before)
}
