//! Checks of state.db: does it open, is it whole, may we write to it.

use std::time::Duration;

use hermes_home::databases::Database;
use hermes_home::{Home, before_upgrade};
use hermes_store::ErrorKind;
use hermes_store::sessions::{Depth, Owner, SessionStore, check};
use hermes_store::sqlite::Access;

use super::Check;
use crate::app::App;
use crate::clock;
use crate::text::counted;

/// Doctor should answer even while another program writes.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let path = home.state_db();
    if let Some(lost) = app.lost(home, Database::State) {
        return vec![Check::fail("sessions", lost.said()).repair(lost.repair())];
    }
    if path.symlink_metadata().is_err() {
        return vec![Check::warn("sessions", "there is no state.db yet").repair("hermes init")];
    }
    let mut results = vec![integrity(home)];
    results.extend(layout(home));
    results.extend(copies(app, home));
    results
}

/// Databases as they were before an upgrade, while they are kept.
fn copies(app: &App, home: &Home) -> Option<Check> {
    let kept = before_upgrade::all(home);
    let newest = kept.first()?;
    let zone = app.zone(home).unwrap_or(jiff::tz::TimeZone::UTC);
    let evidence = format!(
        "{} from before an upgrade; the newest, {}.db of {}, is {}",
        counted(kept.len() as u64, "database"),
        newest.database,
        clock::minute(newest.at, &zone),
        newest.path.display()
    );
    Some(Check::ok("upgrade", evidence))
}

fn integrity(home: &Home) -> Check {
    match check(&home.state_db(), Depth::Quick, PATIENCE) {
        Err(error) if error.kind() == ErrorKind::Locked => {
            Check::warn("sessions", error.to_string())
        }
        Err(error) => {
            let next = error.hint().unwrap_or_else(|| "hermes sessions repair".to_owned());
            Check::fail("sessions", error.to_string()).repair(next)
        }
        Ok(report) => match report.findings.first() {
            Some(finding) => {
                Check::fail("sessions", finding.text.clone()).repair("hermes sessions repair")
            }
            None => {
                let messages = report.messages.and_then(|count| u64::try_from(count).ok());
                Check::ok(
                    "sessions",
                    format!("{}, database intact", counted(messages.unwrap_or(0), "message")),
                )
            }
        },
    }
}

fn layout(home: &Home) -> Option<Check> {
    let store = SessionStore::open(&home.state_db(), Access::Read, PATIENCE).ok()?;
    let layout = store.layout();
    let whose = match layout.owner() {
        Owner::Ours => "ours",
        Owner::Extended => "created by Hermes, extended by Hermes Agent",
        Owner::Foreign => "created by Hermes Agent, never altered",
    };
    let evidence = format!("schema {}, {whose}", layout.schema_version());
    Some(match layout.unwritable() {
        Some(why) => Check::warn("layout", format!("{evidence}; Hermes can only read it: {why}")),
        None => Check::ok("layout", evidence),
    })
}
