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

#[test]
fn every_backup_under_a_writer_is_of_one_moment() {
    let place = Place::new();
    let _writer = Writer::start(&place.path("state.db"));
    let mut rows = 0;
    for tag in 0..times(12, 200) {
        let created = place.create(tag).unwrap();
        assert!(!created.backup.name.damaged, "{:?}", created.remarks);
        let restored = untar(&created.backup.path);
        let found = check_database(&restored.path().join(".hermes/state.db"));
        assert!(found > rows, "{found} rows after {rows}");
        rows = found;
        place.folder.delete(&created.backup).unwrap();
    }
}

/// What the copies are needed for: `cp` under the same writer.
#[test]
fn plain_copies_under_a_writer_lose_or_break_rows() {
    if !is_full() {
        return;
    }
    let place = Place::new();
    let state = place.path("state.db");
    let _writer = Writer::start(&state);
    let target = tempfile::tempdir().unwrap();
    let copy = target.path().join("state.db");
    let rows = |path: &Path| std::panic::catch_unwind(|| check_database(path)).ok();
    let mut broken = 0;
    for tag in 0..200 {
        let created = place.create(1000 + tag).unwrap();
        let state_then = &created.manifest.databases;
        let before = state_then.iter().find(|found| found.path == "state.db").unwrap();
        let before = before.rows["messages"];
        place.folder.delete(&created.backup).unwrap();
        for suffix in ["", "-wal"] {
            let from = state.with_file_name(format!("state.db{suffix}"));
            let _ = fs::copy(from, target.path().join(format!("state.db{suffix}")));
        }
        broken += u32::from(rows(&copy).is_none_or(|rows| rows < before));
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(target.path().join(format!("state.db{suffix}")));
        }
    }
    assert!(broken > 0, "all 200 plain copies were whole");
}
