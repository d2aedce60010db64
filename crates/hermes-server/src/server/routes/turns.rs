//! Finished turns are recorded, sessions end.

use axum::http::Method;
use hermes_memory::record::turn::{Turn, is_of_another};
use hermes_store::memory::{Admin, Memory, Scope};
use hermes_store::sessions::SessionStore;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::route::{Route, Run};
use crate::call::{Call, Reply};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::turn::{self, Databases, Told, Transcripts};

/// One turn, or several in `turns`.
#[derive(Debug, Deserialize, JsonSchema)]
struct TurnBody {
    #[serde(flatten)]
    #[schemars(with = "Turn")]
    one: Map<String, Value>,
    /// Several turns in the place of one.
    turns: Option<Vec<Value>>,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            Method::POST,
            "/api/v1/turns",
            "Record a finished turn, or several",
            Run::At(record),
        )
        .body::<TurnBody>()
        .gives(&[("results", "array")]),
        Route::change(Method::POST, "/api/v1/sessions/{id}/end", "End a session", Run::At(end))
            .gives(&[("ended", "boolean")]),
    ]
}

/// How many turns may come in one request.
const MOST: usize = 1000;

fn record(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let TurnBody { one, turns } = call.json()?;
    let values = turns.unwrap_or_else(|| vec![Value::Object(one)]);
    if values.len() > MOST {
        return Err(Problem::usage(format!("more than {MOST} turns in one request")).into());
    }
    let (app, home) = (&seat.app, &seat.home);
    let zone = app.zone(home)?;
    let named = call.whom.user().map(ToString::to_string);
    let (mut turns, mut problems) = (Vec::new(), Vec::new());
    for (number, value) in values.into_iter().enumerate() {
        let read =
            Turn::from_json(&value, &zone).and_then(|turn| turn.fault().map_or(Ok(turn), Err));
        match read {
            Err(reason) => problems.push(json!({ "turn": number + 1, "reason": reason })),
            Ok(mut turn) => {
                if named.is_some() {
                    turn.user.clone_from(&named);
                    turn.identity = None;
                }
                turns.push((number + 1, turn));
            }
        }
    }
    if let (true, Some(first)) = (turns.is_empty(), problems.first()) {
        let reason = first.get("reason").and_then(Value::as_str).unwrap_or_default();
        return Err(Problem::usage(format!("the turn is not valid: {reason}")).into());
    }
    let mut sessions = seat.take_transcripts();
    let mut results = Vec::new();
    for (number, one) in turns {
        let done = record_one(seat, &one, &mut sessions);
        match done {
            Ok(told) => results.push(told),
            // What was stored before it is told, so that nobody sends all of it again.
            Err(error) if !results.is_empty() => {
                problems.push(json!({ "turn": number, "reason": format!("{error:#}") }));
            }
            Err(error) => return Err(error),
        }
    }
    seat.put_transcripts(sessions);
    Reply::json(&json!({ "results": results, "problems": problems }))
}

/// Records one turn, unless its request ran out of time before it.
fn record_one(seat: &mut Seat, turn: &Turn, sessions: &mut Transcripts) -> anyhow::Result<Told> {
    seat.app.stop.check()?;
    must_be_own(seat, turn, sessions.as_ref().ok().and_then(Option::as_ref))?;
    let (app, home, memory) = seat.parts();
    turn::record(app, home, turn, Databases { sessions, memory, wait: turn::PATIENCE })
}

/// Nobody adds to the conversation of another. Where the transcript cannot be read now, the memory says whose it is.
fn must_be_own(
    seat: &mut Seat,
    turn: &Turn,
    sessions: Option<&SessionStore>,
) -> anyhow::Result<()> {
    let Some(id) = &turn.session_id else { return Ok(()) };
    // A memory that cannot be opened now keeps nobody from being heard: what is said waits.
    let memory = seat.reader().ok().map(|(_, _, memory)| &memory.store);
    let is_anothers = match (sessions, memory) {
        (Some(sessions), memory) => {
            is_of_another(sessions, memory.map(|store| store as &Memory), turn)?
        }
        (None, Some(store)) => is_known_of_others(store, id, turn.user.as_deref())?,
        (None, None) => false,
    };
    match is_anothers {
        false => Ok(()),
        true => Err(Problem::new(Kind::Refused, "the session belongs to another user")
            .hint("omit `session_id` to start a new session")
            .into()),
    }
}

/// Whether the memory knows a session as others' alone, and not as that of the user who is named.
fn is_known_of_others(store: &Memory, id: &str, own: Option<&str>) -> anyhow::Result<bool> {
    let mut whose = Vec::new();
    for user in store.users(Admin)? {
        if !store.sessions_named(Scope::of(user.number), id)?.is_empty() {
            whose.push(user.name);
        }
    }
    Ok(own.is_some_and(|own| !whose.is_empty() && whose.iter().all(|name| name != own)))
}

fn end(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let (app, _, memory) = seat.writer()?;
    let scope = call.writer(&mut memory.store, app.change())?;
    let ended = memory.store.end_session(scope, call.param("id"), app.now)?;
    Reply::json(&json!({ "ended": ended }))
}
