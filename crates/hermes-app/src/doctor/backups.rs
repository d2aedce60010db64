//! The check of the backups: is there a good one, is it young enough, was it ever proven.

use hermes_backup::status::{Colour, Standing};
use hermes_home::Home;

use super::Check;
use crate::app::App;
use crate::backup::status;
use crate::clock;
use crate::problem::message;

const NAME: &str = "backups";

pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    match status::of_home(app, home) {
        Err(error) => vec![Check::fail(NAME, message(&error)).repair("hermes backup status")],
        Ok(None) => {
            let none = "no backups are made: if the disk fails, everything is lost";
            vec![Check::warn(NAME, none).repair("hermes backup setup")]
        }
        Ok(Some(standing)) => of_standing(app, home, &standing),
    }
}

fn of_standing(app: &App, home: &Home, standing: &Standing) -> Vec<Check> {
    let zone = app.zone(home).unwrap_or(jiff::tz::TimeZone::UTC);
    if standing.reasons.is_empty() {
        let newest = standing.newest.map(|at| clock::minute(at, &zone)).unwrap_or_default();
        return vec![Check::ok(NAME, format!("green, the newest is of {newest}"))];
    }
    let check = |reason: &hermes_backup::status::Reason| {
        let check = match reason.colour {
            Colour::Red => Check::fail(NAME, reason.what.clone()),
            Colour::Amber | Colour::Green => Check::warn(NAME, reason.what.clone()),
        };
        check.repair(reason.hint.clone())
    };
    standing.reasons.iter().map(check).collect()
}
