//! Whether a database has less than was acknowledged, and what can be done then.

use std::time::Duration;

use hermes_home::Home;
use hermes_store::memory::{Memory, Wanted};
use hermes_store::rot::{Behind, Which};
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;

use super::Check;
use crate::app::App;
use crate::backup;
use crate::clock;

const NAME: &str = "kept";
/// Doctor should answer even while another program writes.
const PATIENCE: Duration = Duration::from_secs(2);

/// What databases of a home lack; one that cannot be opened is somebody else's check.
pub fn databases(app: &App, home: &Home) -> Vec<(Which, Behind)> {
    let sessions = SessionStore::open(&home.state_db(), Access::Read, PATIENCE)
        .and_then(|store| store.behind(&app.high_water(home)));
    let mut lost: Vec<(Which, Behind)> =
        sessions.ok().flatten().map(|behind| (Which::Sessions, behind)).into_iter().collect();
    if !app.is_on_server(home).unwrap_or(true)
        && let (Ok(path), Ok(marks)) = (app.memory_path(home), app.memory_marks(home))
    {
        let wanted = Wanted { path: &path, profile: home.profile_name() };
        let memory =
            Memory::open(wanted, Access::Read, PATIENCE).and_then(|store| store.behind(&marks));
        lost.extend(memory.ok().flatten().map(|behind| (Which::Memory, behind)));
    }
    lost
}

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let lost = databases(app, home);
    if lost.is_empty() {
        return vec![Check::ok(NAME, "the latest confirmed writes are in the databases")];
    }
    let zone = app.zone(home).unwrap_or(TimeZone::UTC);
    let check = |(which, behind): (Which, Behind)| {
        let bring = match which {
            Which::Sessions => bring_back_command(app, home, behind.written_at()),
            Which::Memory => replace_command(app, home, behind.written_at()),
        };
        let repair = format!("{bring}; or accept it as it is: hermes doctor --accept");
        Check::fail(NAME, said(which, &behind, &zone)).repair(repair)
    };
    lost.into_iter().map(check).collect()
}

/// What is missing, in one sentence.
pub fn said(which: Which, behind: &Behind, zone: &TimeZone) -> String {
    let database = which.database();
    let what = match which {
        Which::Sessions => "message",
        Which::Memory => "change",
    };
    let at = behind.written_at().filter(|_| behind.at > 0);
    let at = at.map(|at| format!(" of {}", clock::minute(at, zone))).unwrap_or_default();
    let Behind { acknowledged, found, .. } = behind;
    match behind.is_other {
        true => format!(
            "{database} is not the one that was written last: {what} {acknowledged}{at} was \
             stored, and now a different one has its number"
        ),
        false => format!(
            "{database} has lost its end: {what} {acknowledged}{at} was stored, but the database \
             ends with {found}"
        ),
    }
}

/// The command that brings rows back from the newest good backup, or from one made since a time.
pub(super) fn bring_back_command(app: &App, home: &Home, since: Option<jiff::Timestamp>) -> String {
    format!("hermes backup restore {} --rows", newest(app, home, since))
}

fn replace_command(app: &App, home: &Home, since: Option<jiff::Timestamp>) -> String {
    let backup = newest(app, home, since);
    format!("hermes backup restore {backup} --path memory.db --replace")
}

/// The id of the newest good backup that was made since; else the newest good one there is.
fn newest(app: &App, home: &Home, since: Option<jiff::Timestamp>) -> String {
    backup::newest_good(app, home, since).unwrap_or_else(|| "latest".to_owned())
}
