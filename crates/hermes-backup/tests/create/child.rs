//! What tests let another process do: this same program, started again for one of these.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hermes_store::sqlite::{self, Access};

use crate::support::{ADD, Place, variable};

const HOME: &str = "HERMES_TEST_CHILD";

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
