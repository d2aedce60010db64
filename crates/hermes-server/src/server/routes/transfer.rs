//! Everything that is remembered as a stream, and what changes while somebody listens.

use hermes_app::pool::Seat;
use hermes_store::memory::UserNumber;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::route::{Route, Run};
use crate::call::{Call, Reply};
use crate::export::{Wish, stream};

#[derive(Debug, Deserialize, JsonSchema)]
struct ExportQuery {
    /// Only what was recorded since this time.
    since: Option<String>,
    /// Replace what looks like a password or a key.
    #[serde(default)]
    redact: bool,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/api/v1/export",
            "Export the memory, as `hermes memory export` writes it",
            Run::At(export),
        )
        .query::<ExportQuery>()
        .gives(&[]),
        Route::get(
            "/api/v1/changes",
            "Changes as Server-Sent Events; `Last-Event-ID` continues from there",
            Run::Changes,
        ),
    ]
}

fn export(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: ExportQuery = call.query()?;
    let (app, home, memory) = seat.reader()?;
    let since = app.moment(home, asked.since.as_deref())?;
    let user: Option<UserNumber> = match call.whom.is_narrow() {
        false => None,
        true => Some(call.asker(&memory.store)?.scope.user()),
    };
    stream(seat, Wish { user, since, redact: asked.redact })
}
