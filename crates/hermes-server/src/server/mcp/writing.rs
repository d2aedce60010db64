//! The tools that change something: keep, correct, forget, learn.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Scoped;
use super::tool::{One, Told, arguments, existing};
use hermes_app::fact_view::name_of;
use hermes_app::facts::{Facts, New};
use hermes_app::items::{self, Lesson, Wanted};
use hermes_app::pool::Seat;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Add {
    /// One plain sentence that will still be understood in a year
    text: String,
    /// fact, preference, decision, identity, deadline, tool
    kind: Option<String>,
    /// Names it is about
    #[serde(default)]
    entities: Vec<String>,
    /// Since when it is true
    valid_from: Option<String>,
    /// Until when it is true
    valid_until: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Update {
    /// The fact: fact:042
    id: String,
    /// The new sentence
    text: String,
    /// true: the world changed, the old fact was true until now; false: it was said wrongly
    #[serde(default)]
    superseded: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reflect {
    /// What was learned, in a sentence or two
    lesson: String,
    /// What the task was
    task: Option<String>,
    /// success, failure or unclear
    outcome: Option<String>,
}

pub(super) fn add(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Add = arguments(value)?;
    let (app, home) = (&seat.app, &seat.home);
    let new = New {
        text: &asked.text,
        kind: asked.kind.as_deref(),
        entities: &asked.entities,
        valid_from: app.moment(home, asked.valid_from.as_deref())?,
        valid_to: app.moment(home, asked.valid_until.as_deref())?,
        shared: false,
        by_agent: true,
    };
    new.check()?;
    let (app, home, memory) = seat.writer()?;
    let scope = scoped.whom.writer(&mut memory.store, app.change())?;
    let added = Facts { app, home, memory, scope }.add(&new)?;
    let value = serde_json::to_value(&added)?;
    let how = if value["change"] == "known" { "is known already" } else { "is kept" };
    Ok(Told { text: format!("{} \"{}\" {how}", added.id, added.text), value })
}

pub(super) fn update(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Update = arguments(value)?;
    let scope = existing(seat, scoped, &asked.id)?;
    let (app, home, memory) = seat.writer()?;
    let (changed, text) = match asked.superseded {
        true => {
            let changed = Facts { app, home, memory, scope }.supersede(&asked.id, &asked.text)?;
            let old = changed.replaced.clone().unwrap_or_default();
            let text = format!("{} \"{}\" takes the place of {old}", changed.id, changed.text);
            (changed, text)
        }
        false => {
            let changed = Facts { app, home, memory, scope }.edit(&asked.id, &asked.text)?;
            let text = format!("{} says now \"{}\"", changed.id, changed.text);
            (changed, text)
        }
    };
    Ok(Told { text, value: serde_json::to_value(&changed)? })
}

pub(super) fn forget(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let One { id } = arguments(value)?;
    let name = match Wanted::parse(&id) {
        Some(wanted) => {
            let (_, _, memory) = seat.reader()?;
            let scope = scoped.whom.changer_of(&memory.store, wanted)?;
            let (app, _, memory) = seat.writer()?;
            items::retire(&mut memory.store, scope, wanted, app.change())?;
            wanted.name()
        }
        None => {
            let scope = existing(seat, scoped, &id)?;
            let (app, home, memory) = seat.writer()?;
            let fact = Facts { app, home, memory, scope }.retire(&id)?;
            name_of(fact.id)
        }
    };
    let text = format!("{name} is forgotten; the user can bring it back");
    Ok(Told { text, value: json!({ "id": name, "forgotten": true }) })
}

pub(super) fn reflect(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Reflect = arguments(value)?;
    let (app, home, memory) = seat.writer()?;
    let scope = scoped.whom.writer(&mut memory.store, app.change())?;
    let lesson = Lesson {
        text: &asked.lesson,
        task: asked.task.as_deref(),
        outcome: asked.outcome.as_deref(),
    };
    let value = items::keep_lesson(app, home, &mut memory.store, scope, &lesson)?;
    Ok(Told { text: format!("{} is kept", value["id"].as_str().unwrap_or_default()), value })
}
