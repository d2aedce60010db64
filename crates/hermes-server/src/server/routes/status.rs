//! What there is, and how it stands.

use std::sync::LazyLock;

use hermes_store::memory::Admin;
use serde_json::json;

use super::super::route::{Needs, Route, Run};
use super::super::{Shared, openapi};
use crate::call::{Call, Reply};
use hermes_app::daemon;
use hermes_app::pool::Seat;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/health", "Whether the server responds", Run::AtOnce(health))
            .needs(Needs::Nothing)
            .gives(&[("status", "string"), ("version", "string")]),
        Route::get("/openapi.json", "This description", Run::AtOnce(page))
            .needs(Needs::Nothing)
            .gives(&[("openapi", "string"), ("paths", "object")]),
        Route::get("/metrics", "Counts for Prometheus", Run::Metrics),
        Route::get(
            "/api/v1/status",
            "What the memory contains and which models it uses",
            Run::At(status),
        )
        .gives(&[("version", "string"), ("profile", "string"), ("counts", "object")]),
        Route::get("/api/v1/users", "The users of the agent", Run::At(users))
            .gives(&[("results", "array")]),
        Route::get("/api/v1/profiles", "The profiles of the home", Run::Plain(profiles))
            .gives(&[("results", "array")]),
    ]
}

fn health(_: &Shared, _: &Call) -> anyhow::Result<Reply> {
    Reply::json(&json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }))
}

/// The same text each time: it is made once.
fn page(_: &Shared, _: &Call) -> anyhow::Result<Reply> {
    static PAGE: LazyLock<String> = LazyLock::new(|| openapi::page().to_string());
    Ok(Reply::text("application/json", PAGE.clone()))
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
