//! What belongs to a task, and what answers a question.

use axum::http::Method;
use hermes_memory::record::turn::Identity;
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::route::{Needs, Route, Run};
use crate::call::{Call, Reply};
use hermes_app::context::{Handed, Request};
use hermes_app::pool::Seat;
use hermes_app::problem::Problem;
use hermes_app::recall::Recall;
use hermes_app::search::{self, Filter, Kind, Question, Source};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ContextBody {
    /// The task, as the user put it.
    task: String,
    /// The running session: it is left out of its own context.
    session_id: Option<String>,
    /// The folder or repository.
    project: Option<String>,
    /// Where the conversation takes place.
    channel: Option<String>,
    /// Who asks, as the channel knows them.
    identity: Option<Identity>,
    /// How many tokens it may have.
    budget_tokens: Option<u32>,
    /// Whether MEMORY.md and USER.md are in it; they are when nothing is said.
    files: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchQuery {
    /// What to look for, in plain words.
    #[serde(alias = "query")]
    q: String,
    /// Where to look.
    #[serde(default, rename = "type")]
    kind: Kind,
    /// At most so many; 10 when nothing is said, 200 at most.
    limit: Option<u16>,
    /// Only in this session.
    session: Option<String>,
    /// Only in conversations of this channel.
    channel: Option<String>,
    /// Only in conversations about this project: its folder, or the last part of it.
    project: Option<String>,
    /// Only what comes from there.
    source: Option<Source>,
    /// Only what mentions this name.
    entity: Option<String>,
    /// Only since this time: 2d, 1w, 2026-05-31.
    since: Option<String>,
    /// Only before this time.
    until: Option<String>,
    /// What held and was known at this time.
    as_of: Option<String>,
}

pub(super) fn routes() -> Vec<Route> {
    const FOUND: &[(&str, &str)] = &[("results", "array")];
    vec![
        Route::change(
            Method::POST,
            "/api/v1/context",
            "Build the context for a task",
            Run::At(give),
        )
        .needs(Needs::Reading)
        .body::<ContextBody>()
        .gives(&[("text", "string"), ("tokens", "integer"), ("sections", "array")]),
        Route::get("/api/v1/search", "Search the memory", Run::At(find_by_query))
            .query::<SearchQuery>()
            .gives(FOUND),
        Route::change(Method::POST, "/api/v1/search", "Search the memory", Run::At(find_by_body))
            .needs(Needs::Reading)
            .body::<SearchQuery>()
            .gives(FOUND),
    ]
}

fn give(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let body: ContextBody = call.json()?;
    if body.task.trim().is_empty() {
        return Err(Problem::usage("the task is empty").into());
    }
    let request = Request {
        task: &body.task,
        session: body.session_id.as_deref(),
        project: body.project.as_deref(),
        channel: body.channel.as_deref(),
        budget: body.budget_tokens.map(|tokens| tokens as usize),
        no_files: body.files == Some(false),
        ..Request::default()
    };
    let (app, home, memory) = seat.reader()?;
    let mode = app.config(home)?.config.users.mode;
    let asker = call.asker_of(&memory.store, mode, request.channel, body.identity.as_ref())?;
    let given = Recall { app, home, store: &memory.store, asker: &asker }.give(&request)?;
    let exists = memory.exists;
    let reply = Reply::json(&given)?;
    if exists && !call.grant.read_only {
        let handed = Handed::of(asker.scope, request.session, &given.context, app.now);
        seat.hand_out(handed)?;
    }
    Ok(reply)
}

fn find_by_query(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    find(seat, call, &call.query()?)
}

fn find_by_body(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    find(seat, call, &call.json()?)
}

fn find(seat: &mut Seat, call: &Call, asked: &SearchQuery) -> anyhow::Result<Reply> {
    if asked.q.trim().is_empty() {
        return Err(Problem::usage("the search text is empty").into());
    }
    let (app, home, memory) = seat.reader()?;
    let question = Question {
        text: &asked.q,
        kind: asked.kind,
        limit: usize::from(asked.limit.unwrap_or(10).clamp(1, 200)),
        filter: Filter {
            session: asked.session.as_deref(),
            except_session: None,
            channel: asked.channel.as_deref(),
            project: asked.project.as_deref(),
            source: asked.source.map(Source::word),
            entity: asked.entity.as_deref(),
            since: app.moment(home, asked.since.as_deref())?,
            until: app.moment(home, asked.until.as_deref())?,
            as_of: app.moment(home, asked.as_of.as_deref())?,
        },
    };
    search::must_be_short(&question)?;
    let asker = call.asker(&memory.store)?;
    Reply::json(&Recall { app, home, store: &memory.store, asker: &asker }.find(&question)?)
}
