//! Everything is checked: each check has a name, a status, evidence and the command that repairs it.

mod backups;
pub mod behind;
mod daemon;
mod databases;
pub mod deep;
mod files;
pub mod fix;
mod integrations;
pub mod machine;
mod memory;
mod secrets;
mod server;
mod users;

use hermes_home::{Error as HomeError, Home};
use serde::Serialize;

use crate::app::App;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is as it should be.
    Ok,
    /// Somebody should look at it.
    Warn,
    /// It is broken.
    Fail,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// What is checked.
    pub name: &'static str,
    /// How it came out.
    pub status: Status,
    /// What was seen.
    pub evidence: String,
    /// The command that repairs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
}

impl Check {
    /// All is well.
    pub fn ok(name: &'static str, evidence: impl Into<String>) -> Check {
        Check { name, status: Status::Ok, evidence: evidence.into(), repair: None }
    }

    /// Somebody should look at it.
    pub fn warn(name: &'static str, evidence: impl Into<String>) -> Check {
        Check { status: Status::Warn, ..Check::ok(name, evidence) }
    }

    /// It is broken.
    pub fn fail(name: &'static str, evidence: impl Into<String>) -> Check {
        Check { status: Status::Fail, ..Check::ok(name, evidence) }
    }

    /// Whether it says only that no daemon runs.
    pub fn is_about_daemon(&self) -> bool {
        self.name == "daemon"
    }

    /// The command that repairs it.
    pub fn repair(mut self, command: impl Into<String>) -> Check {
        self.repair = Some(command.into());
        self
    }
}

/// Every check of an existing home.
pub fn checks(app: &App, home: &Home) -> Vec<Check> {
    let mut results = machine::checks(app, home);
    results.extend(files::checks(app, home));
    results.extend(databases::checks(app, home));
    results.extend(memory::checks(app, home));
    results.extend(secrets::checks(app, home));
    results.extend(behind::checks(app, home));
    results.extend(daemon::checks(app, home));
    results.extend(backups::checks(app, home));
    results.extend(integrations::checks(app, home));
    results
}

/// The home to examine; a sticky profile that is gone must not keep doctor from working.
pub fn find_home(app: &App) -> anyhow::Result<Home> {
    match app.home() {
        Ok(home) => Ok(home),
        // The check of the profiles says what is wrong with it.
        Err(HomeError::StickyProfile { .. }) => Ok(app.root_home()?),
        Err(error) => Err(error.into()),
    }
}
