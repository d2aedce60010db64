//! Skills: how kinds of tasks are done.

use hermes_home::skill::{Catalog, Skill};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::route::{Route, Run};
use crate::call::{Call, Reply};
use hermes_app::pool::Seat;

#[derive(Debug, Deserialize, JsonSchema)]
struct ListQuery {
    /// Those that wait for the user's word, in the place of those in use.
    #[serde(default)]
    pending: bool,
}

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "/api/v1/skills",
            "Skills in use, or skills waiting for approval",
            Run::At(list),
        )
        .query::<ListQuery>()
        .gives(&[("results", "array")]),
        Route::get("/api/v1/skills/{name}", "One skill with its text", Run::At(show)).gives(&[
            ("name", "string"),
            ("description", "string"),
            ("text", "string"),
        ]),
    ]
}

fn list(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let asked: ListQuery = call.query()?;
    if asked.pending {
        // A draft is made of one user's work, and nobody let it in yet.
        call.must_be_wide()?;
    }
    let catalog = match asked.pending {
        true => Catalog::pending(&seat.home)?,
        false => Catalog::read(&seat.home)?,
    };
    let results: Vec<Value> = catalog.skills.iter().map(of_skill).collect();
    Reply::json(&json!({ "results": results }))
}

fn show(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let skill = match call.whom.is_narrow() {
        true => Catalog::find(&seat.home, call.param("name"))?,
        false => Catalog::find_any(&seat.home, call.param("name"))?,
    };
    let mut shown = of_skill(&skill);
    shown["text"] = Value::from(skill.content.body);
    Reply::json(&shown)
}

fn of_skill(skill: &Skill) -> Value {
    json!({
        "name": skill.name(),
        "description": skill.content.description,
        "state": skill.state,
        "origin": skill.origin(),
        "locked": skill.content.is_locked,
        "category": skill.category,
    })
}
