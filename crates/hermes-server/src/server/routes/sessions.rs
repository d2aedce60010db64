//! Whole conversations, as state.db has them.

use hermes_home::pins;
use hermes_store::sessions::{SessionFilter, Window};
use hermes_store::sqlite::Access;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::route::{Route, Run};
use super::Part;
use crate::call::{Call, Reply};
use hermes_app::pool::Seat;
use hermes_app::problem::Problem;
use hermes_app::recall::Recall;
use hermes_app::search::{self, Kind, Question};

#[derive(Debug, Deserialize, JsonSchema)]
struct ListQuery {
    /// Only of this channel.
    channel: Option<String>,
    /// At most so many; 50 when nothing is said, 500 at most.
    limit: Option<u16>,
    /// So many are left out at the beginning.
    offset: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ShowQuery {
    /// Only the messages around this one.
    around: Option<i64>,
    /// How many on each side; 5 when nothing is said.
    window: Option<u16>,
    /// Only the last messages.
    last: Option<u16>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchQuery {
    /// What to look for.
    q: String,
    /// At most so many; 10 when nothing is said.
    limit: Option<u16>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/sessions", "Conversations, latest first", Run::At(list))
            .query::<ListQuery>()
            .gives(&[("results", "array")]),
        Route::get("/api/v1/sessions/search", "Search conversations", Run::At(find))
            .query::<SearchQuery>()
            .gives(&[("results", "array")]),
        Route::get("/api/v1/sessions/{id}", "One conversation with its messages", Run::At(show))
            .query::<ShowQuery>()
            .gives(&[("session", "object"), ("results", "array")]),
    ]
}

fn list(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: ListQuery = call.query()?;
    let part = Part { limit: asked.limit, offset: asked.offset };
    let (app, home, memory) = seat.reader()?;
    let store = app.sessions(home, Access::Read)?;
    let filter = SessionFilter {
        source: asked.channel,
        user: call.asker(&memory.store)?.sessions(&memory.store)?,
        limit: Some(part.needed()),
        ..SessionFilter::default()
    };
    let mut results = store.list(&filter)?;
    let pinned = pins::read(home)?;
    for session in &mut results {
        session.pinned |= pinned.contains(session.id.as_str());
    }
    Reply::json(&part.of(results))
}

fn show(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: ShowQuery = call.query()?;
    let (app, home, memory) = seat.reader()?;
    let store = app.sessions(home, Access::Read)?;
    let whose = call.asker(&memory.store)?.sessions(&memory.store)?;
    let id = store.find_of(call.param("id"), whose.as_ref())?;
    let session = store.session(&id)?;
    let side = usize::from(asked.window.unwrap_or(5));
    let window = match (asked.around, asked.last) {
        (Some(message), _) => Window::Around { message, before: side, after: side },
        (None, Some(count)) => Window::Last(usize::from(count)),
        (None, None) => Window::All,
    };
    let results = store.messages(&id, window)?;
    Reply::json(&json!({ "session": session, "results": results }))
}

fn find(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: SearchQuery = call.query()?;
    if asked.q.trim().is_empty() {
        return Err(Problem::usage("the search text is empty").into());
    }
    let (app, home, memory) = seat.reader()?;
    let question = Question {
        text: &asked.q,
        kind: Kind::Sessions,
        limit: usize::from(asked.limit.unwrap_or(10).clamp(1, 200)),
        ..Question::default()
    };
    search::must_be_short(&question)?;
    let asker = call.asker(&memory.store)?;
    Reply::json(&Recall { app, home, store: &memory.store, asker: &asker }.find(&question)?)
}
