//! Work in the background: what waits, what failed, do it now.

use axum::http::Method;
use hermes_store::memory::Admin;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::route::{Route, Run};
use super::Part;
use crate::call::{Call, Reply};
use hermes_app::daemon::jobs;
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::process;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JobBody {
    /// What is to be done: catch_up, extract, reflect, …
    kind: String,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/jobs", "Jobs, newest first", Run::At(list))
            .query::<Part>()
            .gives(&[("results", "array")]),
        Route::change(Method::POST, "/api/v1/jobs", "Run a kind of job now", Run::At(queue))
            .body::<JobBody>()
            .gives(&[("kind", "string"), ("queued", "boolean")]),
        Route::change(Method::POST, "/api/v1/jobs/{id}/retry", "Retry a job now", Run::At(retry))
            .gives(&[("id", "integer")]),
    ]
}

fn list(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    let part: Part = call.query()?;
    let (_, _, memory) = seat.reader()?;
    Reply::json(&part.of(memory.store.jobs(Admin, None, part.needed())?))
}

fn queue(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    let JobBody { kind } = call.json()?;
    if !jobs::can(&kind) {
        let known: Vec<&str> = jobs::KINDS.iter().map(|kind| kind.name).collect();
        return Err(Problem::usage(format!("there is no job kind {kind:?}"))
            .hint(format!("the kinds are {}", known.join(", ")))
            .into());
    }
    let (app, home, memory) = seat.writer()?;
    let queued = jobs::queue_now(&mut memory.store, &jobs::name_here(app, home, &kind), app.now)?;
    Reply::json(&json!({ "kind": kind, "queued": queued }))
}

fn retry(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    let missing =
        || Problem::new(Kind::NotFound, format!("could not find job {}", call.param("id")));
    let id: i64 = call.param("id").parse().map_err(|_| missing())?;
    let (_, _, memory) = seat.reader()?;
    memory.store.job(Admin, id)?;
    let (app, _, memory) = seat.writer()?;
    memory.store.retry_job(Admin, id, app.now)?;
    nudge();
    Reply::json(&json!({ "id": id }))
}

/// The daemon is this very process: it looks at once.
fn nudge() {
    let _ = process::nudge(std::process::id());
}
