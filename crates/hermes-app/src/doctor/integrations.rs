//! Whether the agents that are connected call, and whether their calls go well.

use hermes_home::Home;
use jiff::SignedDuration;

use super::{Check, Status};
use crate::app::App;
use crate::clock;
use crate::hooks::counts::Counts;
use crate::integrate::agents::{self, Part};
use crate::integrate::check::{self, Checked};
use crate::integrate::record::{Installed, Record};
use crate::integrate::site::{self, Parts, Site};
use crate::problem::message;

const NAME: &str = "integrations";
/// Somebody who connected an agent has used it by then.
const SOON: SignedDuration = SignedDuration::from_hours(7 * 24);
/// Errors that lie longer back are over.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    let record = match Record::read(home) {
        Ok(record) => record,
        Err(error) => return vec![Check::fail(NAME, message(&error))],
    };
    let counts = Counts::read(&home.hook_counts());
    if record.installed.is_empty() && counts.all().next().is_none() {
        return vec![Check::ok(NAME, "no agent is connected: `hermes integrate` connects one")];
    }
    let mut found = Vec::new();
    for installed in &record.installed {
        let gone = installed.files.iter().find(|written| !written.path.exists());
        if let Some(written) = gone {
            let what = format!("{}: {} is missing", installed.agent, written.path.display());
            found.push(
                Check::warn(NAME, what).repair(format!("hermes integrate {}", installed.agent)),
            );
            continue;
        }
        found.extend(hook_checks(app, home, installed));
        let calls = installed.files.iter().any(|written| written.part == Part::Hooks)
            && agents::calls_hooks(&installed.agent);
        let seen = counts.of(&installed.agent).is_some();
        if calls && !seen && app.now.duration_since(installed.at) > SOON {
            let what =
                format!("{}: connected, but no event was received for a week", installed.agent);
            found.push(
                Check::warn(NAME, what)
                    .repair(format!("hermes integrate --check {}", installed.agent)),
            );
        }
    }
    let zone = app.zone(home).unwrap_or(jiff::tz::TimeZone::UTC);
    for (agent, seen) in counts.all() {
        let error =
            seen.last_error.as_ref().filter(|error| app.now.duration_since(error.at) < FRESH);
        if let Some(error) = error {
            let at = clock::minute(error.at, &zone);
            let what = format!("{agent}: {} failed at {at}: {}", error.event, error.why);
            found.push(Check::warn(NAME, what).repair(format!("hermes integrate --check {agent}")));
        }
    }
    if found.iter().all(|check| check.status == Status::Ok) {
        let names: Vec<&str> = record.installed.iter().map(|one| one.agent.as_str()).collect();
        found.push(Check::ok(NAME, format!("connected: {}", names.join(", "))));
    }
    found
}

/// Runs the hooks of a connected agent as it would; nothing is recorded by that.
fn hook_checks(app: &App, home: &Home, installed: &Installed) -> Vec<Check> {
    let Some(agent) = agents::ALL.iter().find(|agent| agent.name() == installed.agent) else {
        return Vec::new();
    };
    let site =
        match site::site(app, home, Parts { scope: installed.scope, hooks: true, mcp: false }) {
            Ok(site) => site,
            Err(error) => return vec![Check::warn(NAME, message(&error))],
        };
    let project = installed.project.clone().unwrap_or_else(|| site.project.clone());
    let checked = check::run(*agent, &Site { project, ..site });
    let hooks = checked.iter().filter(|checked| checked.part == Part::Hooks);
    hooks.map(|checked| hook_check(checked, &installed.agent)).collect()
}

fn hook_check(checked: &Checked, agent: &str) -> Check {
    let what = format!("{agent}: its hook {}", checked.told());
    match checked.ok && checked.outdated.is_none() {
        true => Check::ok(NAME, format!("{what} in {} ms", checked.milliseconds)),
        false => Check::warn(NAME, what).repair(format!("hermes integrate {agent}")),
    }
}
