//! What there is, and how it stands.

use hermes_store::memory::{Admin, Upkeep as _, Users as _};
use serde_json::json;

use super::super::Shared;
use super::super::call::{Call, Reply};
use super::super::openapi;
use super::super::pool::Seat;
use super::super::route::{Needs, Route, Run};
use crate::daemon;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/health", "Whether the listener answers", Run::Plain(health))
            .needs(Needs::Nothing)
            .gives(&[("status", "string"), ("version", "string")]),
        Route::get("/openapi.json", "This page", Run::Plain(page))
            .needs(Needs::Nothing)
            .gives(&[("openapi", "string"), ("paths", "object")]),
        Route::get("/metrics", "Counts for Prometheus", Run::Plain(metrics)),
        Route::get("/api/v1/status", "What the memory holds and by what it works", Run::At(status))
            .gives(&[("version", "string"), ("profile", "string"), ("counts", "object")]),
        Route::get("/api/v1/users", "Who talks to the agent", Run::At(users))
            .gives(&[("results", "array")]),
        Route::get("/api/v1/profiles", "The profiles of the home", Run::Plain(profiles))
            .gives(&[("results", "array")]),
    ]
}

fn health(_: &Shared, _: &Call) -> anyhow::Result<Reply> {
    Reply::json(&json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

fn page(_: &Shared, _: &Call) -> anyhow::Result<Reply> {
    Reply::json(&openapi::page())
}

fn metrics(shared: &Shared, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    let mut seat = shared.pool.take(call.grant.profile.as_deref().unwrap_or("default"))?;
    let (_, _, memory) = seat.reader()?;
    let counts = memory.store.counts(Admin)?;
    let episodes = counts.raw_episodes + counts.compressed_episodes;
    let gauges = [
        ("hermes_facts", "Facts that hold.", counts.facts),
        ("hermes_episodes", "Episodes.", episodes),
        ("hermes_messages", "Messages that are kept whole.", counts.messages),
        ("hermes_open_jobs", "Jobs that are not done.", counts.open_jobs),
        ("hermes_memory_bytes", "The size of memory.db.", counts.size),
    ];
    let page = shared.metrics.page(&gauges);
    shared.pool.give_back(seat);
    Ok(Reply::text("text/plain; version=0.0.4", page))
}

fn status(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let (app, home, memory) = seat.reader()?;
    let background = daemon::models_line(app, home);
    let counts = match call.whom.is_narrow() {
        true => None,
        false => Some(memory.store.counts(Admin)?),
    };
    Reply::json(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "profile": home.profile_name(),
        "exists": memory.exists,
        "counts": counts,
        "background": background,
    }))
}

fn users(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    let (_, _, memory) = seat.reader()?;
    let users = memory.store.users(Admin)?;
    let results: Vec<_> = users
        .into_iter()
        .map(|user| json!({ "number": user.number.get(), "name": user.name, "timezone": user.timezone }))
        .collect();
    Reply::json(&json!({ "results": results }))
}

fn profiles(shared: &Shared, call: &Call) -> anyhow::Result<Reply> {
    call.must_be_wide()?;
    let mut results = shared.pool.profiles()?;
    if let Some(bound) = &call.grant.profile {
        results.retain(|name| name == bound);
    }
    Reply::json(&json!({ "results": results }))
}
