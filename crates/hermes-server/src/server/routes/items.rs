//! Episodes, procedures and events: list, show, forget; and lessons that are reported.

use axum::http::Method;
use hermes_store::memory::RecentFilter;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::route::{Route, Run};
use super::Part;
use crate::call::{Call, Reply};
use hermes_app::items::{self, Lesson, Wanted};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};

#[derive(Debug, Deserialize, JsonSchema)]
struct EventQuery {
    /// Only since this time: 2d, 1w, 2026-05-31.
    since: Option<String>,
    /// Only before this time.
    until: Option<String>,
    /// At most so many.
    limit: Option<u16>,
    /// So many are left out at the beginning.
    offset: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LessonBody {
    /// What was learned, in a sentence or a few.
    lesson: String,
    /// What the task was.
    task: Option<String>,
    /// success, failure or unclear.
    outcome: Option<String>,
}

pub(super) fn routes() -> Vec<Route> {
    const LIST: &[(&str, &str)] = &[("results", "array")];
    const ONE: &[(&str, &str)] = &[("id", "string"), ("text", "string")];
    vec![
        Route::get(
            "/api/v1/episodes",
            "Episodes of conversations, newest first",
            Run::At(episodes),
        )
        .query::<Part>()
        .gives(LIST),
        Route::get("/api/v1/episodes/{id}", "One episode with its messages", Run::At(show_episode))
            .gives(ONE),
        Route::change(
            Method::DELETE,
            "/api/v1/episodes/{id}",
            "Delete an episode",
            Run::At(forget_episode),
        )
        .gives(ONE),
        Route::get(
            "/api/v1/procedures",
            "Procedures: how kinds of tasks are done well",
            Run::At(procedures),
        )
        .query::<Part>()
        .gives(LIST),
        Route::get("/api/v1/procedures/{id}", "One procedure", Run::At(show_procedure)).gives(ONE),
        Route::change(
            Method::DELETE,
            "/api/v1/procedures/{id}",
            "Delete a procedure",
            Run::At(forget_procedure),
        )
        .gives(ONE),
        Route::get("/api/v1/events", "Events, newest first", Run::At(events))
            .query::<EventQuery>()
            .gives(LIST),
        Route::get("/api/v1/events/{id}", "One event", Run::At(show_event)).gives(ONE),
        Route::change(
            Method::DELETE,
            "/api/v1/events/{id}",
            "Delete an event",
            Run::At(forget_event),
        )
        .gives(ONE),
        Route::change(
            Method::POST,
            "/api/v1/reflections",
            "Store a lesson from finished work",
            Run::At(reflect),
        )
        .body::<LessonBody>()
        .gives(&[("id", "string"), ("text", "string")]),
    ]
}

fn episodes(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let part: Part = call.query()?;
    let (_, _, memory) = seat.reader()?;
    let scope = call.asker(&memory.store)?.scope;
    let filter = RecentFilter { limit: part.needed(), ..RecentFilter::default() };
    let found = memory.store.recent_episodes(scope, &filter)?;
    Reply::json(&part.of(found.iter().map(items::of_episode).collect()))
}

fn procedures(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let part: Part = call.query()?;
    let (_, _, memory) = seat.reader()?;
    let scope = call.asker(&memory.store)?.scope;
    let found = memory.store.list_procedures(scope, None, part.needed())?;
    Reply::json(&part.of(found.iter().map(items::of_procedure).collect()))
}

fn events(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: EventQuery = call.query()?;
    let part = Part { limit: asked.limit, offset: asked.offset };
    let (app, home, memory) = seat.reader()?;
    let scope = call.asker(&memory.store)?.scope;
    let since = app.moment(home, asked.since.as_deref())?;
    let until = app.moment(home, asked.until.as_deref())?;
    let found = memory.store.list_events(scope, since, until, part.needed())?;
    Reply::json(&part.of(found.iter().map(items::of_event).collect()))
}

fn show_episode(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    show(seat, call, Wanted::Episode)
}

fn show_procedure(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    show(seat, call, Wanted::Procedure)
}

fn show_event(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    show(seat, call, Wanted::Event)
}

fn forget_episode(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    forget(seat, call, Wanted::Episode)
}

fn forget_procedure(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    forget(seat, call, Wanted::Procedure)
}

fn forget_event(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    forget(seat, call, Wanted::Event)
}

fn show(seat: &mut Seat, call: &Call, wanted: fn(i64) -> Wanted) -> anyhow::Result<Reply> {
    let wanted = wanted(number(call)?);
    let (_, _, memory) = seat.reader()?;
    let scope = call.asker(&memory.store)?.scope;
    Reply::json(&items::show(&memory.store, scope, wanted)?)
}

fn forget(seat: &mut Seat, call: &Call, wanted: fn(i64) -> Wanted) -> anyhow::Result<Reply> {
    let wanted = wanted(number(call)?);
    let (_, _, memory) = seat.reader()?;
    let scope = call.whom.changer_of(&memory.store, wanted)?;
    let shown = items::show(&memory.store, scope, wanted)?;
    let (app, _, memory) = seat.writer()?;
    items::retire(&mut memory.store, scope, wanted, app.change())?;
    Reply::json(&json!({ "id": wanted.name(), "text": shown["text"] }))
}

fn reflect(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let body: LessonBody = call.json()?;
    let (app, home, memory) = seat.writer()?;
    let scope = call.writer(&mut memory.store, app.change())?;
    let lesson =
        Lesson { text: &body.lesson, task: body.task.as_deref(), outcome: body.outcome.as_deref() };
    Reply::created(&items::keep_lesson(app, home, &mut memory.store, scope, &lesson)?)
}

/// `17`, or `episode:17`.
fn number(call: &Call) -> Result<i64, Problem> {
    let text = call.param("id");
    let digits = text.rsplit(':').next().unwrap_or(text);
    digits.parse().map_err(|_| Problem::new(Kind::NotFound, format!("could not find {text}")))
}
