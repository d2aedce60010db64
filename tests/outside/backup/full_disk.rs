//! A backup on a disk that becomes full on the way: named, and nothing is left of it.

use std::path::Path;
use std::process::Command;

use hermes_backup::Error;
use hermes_backup::create;
use hermes_backup::seal::Sealing;

use crate::places::{Place, make_database, run, variable};

const HOME: &str = "HERMES_TEST_CHILD";
const FILL_WHEN: &str = "HERMES_TEST_FILL";

#[test]
fn a_disk_that_becomes_full_is_named_and_nothing_is_left() {
    for when in ["copying", "packing"] {
        let mount = tempfile::tempdir().unwrap();
        let home = mount.path().join(".hermes");
        on_small_disk(mount.path(), &home, when);
    }
}

/// The home is on the small disk too, so that its backups beside it are.
fn on_small_disk(mount: &Path, home: &Path, when: &str) {
    let elsewhere = tempfile::tempdir().unwrap();
    let state = elsewhere.path().join("state.db");
    make_database(&state);
    let writer =
        hermes_store::sqlite::open(&state, hermes_store::sqlite::Access::Write, Default::default());
    let blob = "create table blobs (b); insert into blobs values (randomblob(6000000))";
    writer.unwrap().execute_batch(blob).unwrap();
    let script = "mount -t tmpfs -o size=64m,mode=700 tmpfs \"$1\" && mkdir \"$2\" &&
        cp \"$3\" \"$2/state.db\" && shift 3 && exec \"$@\"";
    run(Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(mount)
        .arg(home)
        .arg(&state)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "full_disk::runs_out_of_space", "--ignored", "--nocapture"])
        .env(HOME, home)
        .env(FILL_WHEN, when));
}

/// Makes one backup on a disk that becomes full on the way.
#[test]
#[ignore = "started by the other test"]
fn runs_out_of_space() {
    let Some(home) = variable(HOME) else { return };
    let fill_when = variable(FILL_WHEN).unwrap();
    let place = Place::at(Path::new(&home));
    place.create(1).unwrap();
    let before = place.names();
    let filler = place.folder.path().join("filler");
    let mut is_filled = false;
    let failed = create::create(&place.request(&Sealing::Plain, 2), &mut |progress| {
        if progress.doing.starts_with(&fill_when) && !is_filled {
            is_filled = true;
            let mut file = std::fs::File::create(&filler).unwrap();
            let full = std::io::copy(&mut std::io::repeat(7), &mut file).unwrap_err();
            assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
        }
    });
    let failed = failed.unwrap_err();
    assert!(matches!(failed, Error::NoSpace { .. }), "{failed}");
    std::fs::remove_file(&filler).unwrap();
    assert_eq!(place.names(), before);
    place.create(3).unwrap();
}
