//! What a tool is: its name, what a client may think of it, its arguments, and who answers.

use hermes_store::memory::{Fact, FactFilter, Scope};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Scoped;
use hermes_app::facts::{Facts, New};
use hermes_app::pool::Seat;
use hermes_app::problem::Problem;
use hermes_app::recall::Recall;
use hermes_app::search::{self, Kind, Question};

/// One tool.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    pub(super) hints: Hints,
    pub(super) schema: fn() -> JsonObject,
    pub(super) run: fn(&mut Seat, &Scoped, Value) -> anyhow::Result<Told>,
}

/// What a client may think of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hints {
    pub(super) is_read_only: bool,
    pub(super) is_destructive: bool,
    pub(super) is_idempotent: bool,
}

pub(super) const READS: Hints =
    Hints { is_read_only: true, is_destructive: false, is_idempotent: true };
pub(super) const ADDS: Hints =
    Hints { is_read_only: false, is_destructive: false, is_idempotent: true };
/// Nothing is lost by it, but something is no longer found.
pub(super) const CHANGES: Hints =
    Hints { is_read_only: false, is_destructive: true, is_idempotent: true };

/// What a tool answers: text for a model, and the same for a program.
pub(super) struct Told {
    pub(super) text: String,
    pub(super) value: Value,
}

/// The schema of the arguments, as short as it can be: it costs tokens in every session.
pub(super) fn schema<T: JsonSchema>() -> JsonObject {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.remove("title");
    schema.remove("$schema");
    let mut object = schema.as_object().cloned().unwrap_or_default();
    if let Some(properties) = object.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(shorten);
    } else {
        object.insert("properties".to_owned(), json!({}));
    }
    object
}

/// An argument that may be left out need not be null, and its bounds are checked here anyway.
fn shorten(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    for word in ["format", "minimum", "maximum", "default"] {
        object.remove(word);
    }
    if let Some(kinds) = object.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            object.insert("type".to_owned(), kind);
        }
    }
}

/// The arguments of a call.
pub(super) fn arguments<T: DeserializeOwned>(value: Value) -> Result<T, Problem> {
    serde_json::from_value(value)
        .map_err(|error| Problem::usage(format!("the arguments are not valid: {error}")))
}

/// Who changes a fact that must be there, and be theirs to change.
pub(super) fn existing(seat: &mut Seat, scoped: &Scoped, id: &str) -> anyhow::Result<Scope> {
    let (_, _, memory) = seat.reader()?;
    scoped.whom.changer_of_fact(&memory.store, id)
}

/// A value that is its own text.
pub(super) fn told(value: Value) -> Told {
    Told { text: value.to_string(), value }
}

/// Keeps a fact that an agent noted.
pub(super) fn keep(
    seat: &mut Seat,
    scoped: &Scoped,
    text: &str,
    entities: &[String],
) -> anyhow::Result<String> {
    let (app, home, memory) = seat.writer()?;
    let scope = scoped.whom.writer(&mut memory.store, app.change())?;
    let new = New { text, entities, by_agent: true, ..New::default() };
    Ok(Facts { app, home, memory, scope }.add(&new)?.id)
}

/// The facts that answer a question, best first.
pub(super) fn facts_found(
    seat: &mut Seat,
    scoped: &Scoped,
    query: &str,
    limit: usize,
) -> anyhow::Result<Vec<Fact>> {
    let (app, home, memory) = seat.reader()?;
    let asker = scoped.whom.asker(&memory.store)?;
    let question = Question { text: query, kind: Kind::Facts, limit, ..Question::default() };
    search::must_be_short(&question)?;
    let answer = Recall { app, home, store: &memory.store, asker: &asker }.find(&question)?;
    let mut found = Vec::new();
    for hit in answer.results {
        found.push(memory.store.find_fact(asker.scope, &hit.id)?);
    }
    Ok(found)
}

/// Facts, newest first; those about a name where one is given.
pub(super) fn facts_listed(
    seat: &mut Seat,
    scoped: &Scoped,
    entity: Option<&str>,
    limit: usize,
) -> anyhow::Result<Vec<Fact>> {
    let (app, _, memory) = seat.reader()?;
    let scope = scoped.whom.asker(&memory.store)?.scope;
    let filter = FactFilter {
        kind: None,
        entity,
        since: None,
        as_of: None,
        with_retired: false,
        limit: Some(limit),
        ..FactFilter::default()
    };
    Ok(memory.store.list_facts(scope, &filter, app.now)?)
}

/// One memory by its name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct One {
    /// fact:042, episode:17, procedure:3 or event:5
    pub(super) id: String,
}
