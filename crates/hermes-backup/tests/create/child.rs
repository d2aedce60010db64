//! What tests let another process do: this same program, started again for one of these.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hermes_backup::Error;
use hermes_backup::create;
use hermes_backup::seal::Sealing;
use hermes_store::sqlite::{self, Access};

use crate::support::{ADD, Place, variable};

const HOME: &str = "HERMES_TEST_CHILD";
const FILL_WHEN: &str = "HERMES_TEST_FILL";

/// This program, to do the named work on the home.
pub(crate) fn command(work: &str, home: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("child::{work}"), "--ignored", "--nocapture"]);
    command.env(HOME, home);
    command
}

/// Adds to a database until it is killed, or the test is.
#[test]
#[ignore = "started by other tests"]
fn writes_for_ever() {
    let Some(database) = variable(HOME) else { return };
    let wait = Duration::from_secs(60);
    let writer = sqlite::open(Path::new(&database), Access::Write, wait).unwrap();
    writer.pragma_update(None, "synchronous", "normal").unwrap();
    let test = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == test {
        writer.execute_batch(ADD).unwrap();
    }
}

/// Makes one backup.
#[test]
#[ignore = "started by other tests"]
fn makes_one_backup() {
    let Some(home) = variable(HOME) else { return };
    Place::at(Path::new(&home)).create(7).unwrap();
}

/// Makes one backup on a disk that becomes full on the way.
#[test]
#[ignore = "started by other tests"]
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

/// The same work with a place to say when the disk fills.
pub(crate) fn filling(home: &Path, when: &str) -> Command {
    let mut command = command("runs_out_of_space", home);
    command.env(FILL_WHEN, when);
    command
}
