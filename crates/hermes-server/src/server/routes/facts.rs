//! Facts: list, add, show, edit, supersede, take back, bring back.

use axum::http::{Method, StatusCode};
use hermes_store::memory::{FactFilter, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::super::route::{Route, Run};
use super::Part;
use crate::call::{Call, Reply};
use hermes_app::fact_view::{Change, Shown, name_of};
use hermes_app::facts::{self, Facts, New};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::reason::Why;

#[derive(Debug, Deserialize, JsonSchema)]
struct ListQuery {
    /// Only of this kind.
    kind: Option<String>,
    /// Only what mentions this name.
    entity: Option<String>,
    /// Only what was recorded since this time.
    since: Option<String>,
    /// What held and was known at this time.
    as_of: Option<String>,
    /// Also those that were deleted or superseded.
    #[serde(default)]
    all: bool,
    /// At most so many; 50 when nothing is said, 500 at most.
    limit: Option<u16>,
    /// So many are left out at the beginning.
    offset: Option<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Retiring {
    /// Why: wrong, outdated, private, duplicate, useless, or other words; its history shows it.
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewBody {
    /// The sentence.
    text: String,
    /// fact, preference, decision, identity, deadline, tool, …
    kind: Option<String>,
    /// Names it is about; those in the sentence are found.
    #[serde(default)]
    entities: Vec<String>,
    /// Since when it is true.
    valid_from: Option<String>,
    /// Until when it is true.
    valid_until: Option<String>,
    /// Whether every user may read it.
    #[serde(default)]
    shared: bool,
    /// Who says so: `agent` when nothing is said; `user` with a token that is bound to no user.
    #[serde(default)]
    origin: OriginBody,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OriginBody {
    /// An agent noted it.
    #[default]
    Agent,
    /// The user typed it.
    User,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TextBody {
    /// The new sentence.
    text: String,
}

pub(super) fn routes() -> Vec<Route> {
    const CHANGED: &[(&str, &str)] = &[("id", "string"), ("text", "string"), ("change", "string")];
    const ONE: &str = "/api/v1/facts/{id}";
    vec![
        Route::get("/api/v1/facts", "List facts, newest first", Run::At(list))
            .query::<ListQuery>()
            .gives(&[("results", "array")]),
        Route::change(
            Method::POST,
            "/api/v1/facts",
            "Add a fact; the same sentence is stored once",
            Run::At(add),
        )
        .body::<NewBody>()
        .gives(CHANGED),
        Route::get(ONE, "One fact with its sources and earlier texts", Run::At(show)).gives(&[
            ("id", "string"),
            ("text", "string"),
            ("sources", "array"),
        ]),
        Route::change(
            Method::PATCH,
            ONE,
            "Change the text of a fact; the earlier text is kept",
            Run::At(edit),
        )
        .body::<TextBody>()
        .gives(CHANGED),
        Route::change(Method::DELETE, ONE, "Delete a fact; it can be restored", Run::At(retire))
            .query::<Retiring>()
            .gives(&[("id", "string"), ("text", "string")]),
        Route::change(
            Method::POST,
            "/api/v1/facts/{id}/supersede",
            "Replace a fact that is no longer true with a new one",
            Run::At(supersede),
        )
        .body::<TextBody>()
        .gives(CHANGED),
        Route::change(
            Method::POST,
            "/api/v1/facts/{id}/restore",
            "Restore a deleted fact",
            Run::At(restore),
        )
        .gives(CHANGED),
        Route::get(
            "/api/v1/facts/{id}/history",
            "The changes of a fact, and who made them",
            Run::At(history),
        )
        .gives(&[("id", "string"), ("results", "array")]),
    ]
}

fn list(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: ListQuery = call.query()?;
    let part = Part { limit: asked.limit, offset: asked.offset };
    let (app, home, memory) = seat.reader()?;
    let filter = FactFilter {
        kind: asked.kind.as_deref(),
        entity: asked.entity.as_deref(),
        since: app.moment(home, asked.since.as_deref())?,
        as_of: app.moment(home, asked.as_of.as_deref())?,
        with_retired: asked.all,
        limit: Some(part.needed()),
        ..FactFilter::default()
    };
    let scope = call.asker(&memory.store)?.scope;
    let found = memory.store.list_facts(scope, &filter, app.now)?;
    Reply::json(&part.of(found.iter().map(Shown::of).collect()))
}

fn add(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let body: NewBody = call.json()?;
    if body.shared {
        call.must_be_wide()?;
    }
    if body.origin == OriginBody::User && call.whom.is_narrow() {
        let what = "the origin comes from the token, and this token is for programs";
        return Err(Problem::new(Kind::Refused, what)
            .hint("omit `origin`, or use a token that is not bound to a user")
            .into());
    }
    let (app, home) = (&seat.app, &seat.home);
    let new = New {
        text: &body.text,
        kind: body.kind.as_deref(),
        entities: &body.entities,
        valid_from: app.moment(home, body.valid_from.as_deref())?,
        valid_to: app.moment(home, body.valid_until.as_deref())?,
        shared: body.shared,
        by_agent: body.origin == OriginBody::Agent,
    };
    new.check()?;
    let (app, home, memory) = seat.writer()?;
    let scope = call.writer(&mut memory.store, app.change())?;
    let added = Facts { app, home, memory, scope }.add(&new)?;
    let status = match added.change {
        Change::Known => StatusCode::OK,
        _ => StatusCode::CREATED,
    };
    Ok(Reply { status, ..Reply::json(&added)? })
}

fn show(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let (app, home, memory) = seat.reader()?;
    let scope = call.asker(&memory.store)?.scope;
    Reply::json(&facts::show(app, home, &memory.store, scope, call.param("id"))?)
}

fn history(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let (_, _, memory) = seat.reader()?;
    let scope = call.asker(&memory.store)?.scope;
    let (fact, results) = facts::history(&memory.store, scope, call.param("id"))?;
    Reply::json(&json!({ "id": name_of(fact.id), "text": fact.statement, "results": results }))
}

fn edit(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let body: TextBody = call.json()?;
    let scope = changer(seat, call)?;
    let (app, home, memory) = seat.writer()?;
    Reply::json(&Facts { app, home, memory, scope }.edit(call.param("id"), &body.text)?)
}

fn supersede(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let body: TextBody = call.json()?;
    let scope = changer(seat, call)?;
    let (app, home, memory) = seat.writer()?;
    Reply::json(&Facts { app, home, memory, scope }.supersede(call.param("id"), &body.text)?)
}

fn retire(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: Retiring = call.query()?;
    let why = Why::parse(asked.reason.as_deref().unwrap_or_default())?;
    let scope = changer(seat, call)?;
    let (app, home, memory) = seat.writer()?;
    let fact = Facts { app, home, memory, scope }.retire_because(call.param("id"), why.as_ref())?;
    Reply::json(&json!({ "id": name_of(fact.id), "text": fact.statement }))
}

fn restore(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let scope = changer(seat, call)?;
    let (app, home, memory) = seat.writer()?;
    Reply::json(&Facts { app, home, memory, scope }.restore(call.param("id"))?)
}

/// Who changes a fact that must be there, and be theirs to change.
fn changer(seat: &mut Seat, call: &Call) -> anyhow::Result<Scope> {
    let (_, _, memory) = seat.reader()?;
    call.whom.changer_of_fact(&memory.store, call.param("id"))
}
