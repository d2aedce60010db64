//! How it stands with the backups of the home.

use serde_json::json;

use super::super::route::{Route, Run};
use crate::call::{Call, Reply};
use hermes_app::backup;
use hermes_app::pool::Seat;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/backups", "The backups of the home, newest first", Run::At(list))
            .gives(&[("results", "array")]),
        Route::get(
            "/api/v1/backups/status",
            "Backup status: green, amber or red, with the reasons",
            Run::At(status),
        )
        .gives(&[("set_up", "boolean")]),
    ]
}

fn list(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    Reply::json(&json!({ "results": backup::list::list(&seat.app)? }))
}

fn status(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    let standing = backup::status::of_home(&seat.app, &seat.home)?;
    Reply::json(&json!({ "set_up": standing.is_some(), "standing": standing }))
}
