//! Checks of the server that a memory is on: how it is reached, who it is used as, whether its tables fit.

use hermes_home::Home;
use hermes_store::memory::{ServerState, server_state};

use super::Check;
use crate::app::App;

/// None for a memory in a file; what keeps the server from answering is said where the memory is opened.
pub(super) fn checks(app: &App, home: &Home) -> Vec<Check> {
    if !app.is_on_server(home).unwrap_or(false) {
        return Vec::new();
    }
    let Ok(address) = app.address(home) else { return Vec::new() };
    let mut results: Vec<Check> = address
        .warnings()
        .iter()
        .map(|warning| Check::warn("connection", warning.to_string()).repair(warning.hint()))
        .collect();
    if results.is_empty() {
        let how = format!("{address}, sslmode {}", address.ssl_mode());
        results.push(Check::ok("connection", how));
    }
    let state = app.pool(home).ok().and_then(|pool| server_state(&pool).ok());
    results.extend(state.as_ref().map(role));
    results
}

fn role(state: &ServerState) -> Check {
    let ServerState { user, version, .. } = state;
    if state.passes_rules {
        let what = format!("{user} bypasses the row-level security that separates users");
        return Check::warn("role", what).repair("hermes db migrate --print-sql --role NAME");
    }
    let vectors = match &state.pgvector {
        Some(version) => format!("pgvector {version}"),
        None => "no pgvector".to_owned(),
    };
    Check::ok("role", format!("{user} on PostgreSQL {version}, {vectors}"))
}
