//! The ten tools: what a model may ask of the memory.

use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file;
use hermes_store::memory::{
    Admin, Change, Scope, SqliteMemory, Upkeep as _, UserNumber, Users as _,
};
use hermes_store::sessions::Window;
use hermes_store::sqlite::Access;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::pool::Seat;
use super::Scoped;
use crate::clock;
use crate::desk::facts::{self, New};
use crate::desk::items::{self, Lesson, Wanted};
use crate::desk::search::{self, Kind, Wish};
use crate::desk::{Asker, context, rules};
use crate::failure::{Kind as Failed, Problem};
use crate::output::one_line;

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

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// What to look for, in plain words
    query: String,
    /// Where to look: all, facts, episodes, procedures, events, files or sessions
    #[serde(default)]
    types: Kind,
    /// At most so many (10)
    limit: Option<u16>,
    /// Only since: 2d, 1w, 2026-05-31
    since: Option<String>,
    /// Only before
    until: Option<String>,
    /// What held and was known at this time
    as_of: Option<String>,
    /// Only what mentions this name
    entity: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Context {
    /// The task, as the user put it
    task: String,
    /// How many tokens the answer may have
    budget_tokens: Option<u32>,
    /// The running session, to leave it out
    session_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// fact:042, episode:17, procedure:3, event:5 as memory_search gives them; at most 20
    ids: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Add {
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
struct Update {
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
struct One {
    /// fact:042, episode:17, procedure:3 or event:5
    id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sessions {
    /// What to look for
    query: Option<String>,
    /// Read this session instead
    session_id: Option<String>,
    /// Only around this message
    around: Option<i64>,
    /// At most so many (10)
    limit: Option<u16>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reflect {
    /// What was learned, in a sentence or two
    lesson: String,
    /// What the task was
    task: Option<String>,
    /// success, failure or unclear
    outcome: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// The tools in their order, which never changes: a model's cache depends on it.
pub(super) fn all() -> Vec<Entry> {
    let entry =
        |name, title, about, hints, schema, run| Entry { name, title, about, hints, schema, run };
    vec![
        entry(
            "memory_search",
            "Search memory",
            "Find facts, past conversations, lessons and events. Gives a short list with ids; read one in full with memory_get.",
            READS,
            schema::<Search>,
            search,
        ),
        entry(
            "memory_context",
            "Context for a task",
            "Everything remembered that belongs to a task, within a budget of tokens. Ask once when a task begins.",
            READS,
            schema::<Context>,
            give_context,
        ),
        entry(
            "memory_get",
            "Read memories",
            "The full text of memories by their ids, with where they come from.",
            READS,
            schema::<Get>,
            get,
        ),
        entry(
            "memory_add",
            "Remember a fact",
            "Keep a fact for later sessions. The same sentence twice is kept once.",
            ADDS,
            schema::<Add>,
            add,
        ),
        entry(
            "memory_update",
            "Change a fact",
            "Correct a fact, or say what holds in its place. The earlier text is kept.",
            CHANGES,
            schema::<Update>,
            update,
        ),
        entry(
            "memory_forget",
            "Forget",
            "Take a memory out of every answer. The user can bring it back.",
            CHANGES,
            schema::<One>,
            forget,
        ),
        entry(
            "memory_history",
            "History of a fact",
            "What happened to a fact: earlier texts, who changed it and when.",
            READS,
            schema::<One>,
            history,
        ),
        entry(
            "session_search",
            "Search conversations",
            "Find what was said in past conversations, or read one of them.",
            READS,
            schema::<Sessions>,
            sessions,
        ),
        entry(
            "memory_reflect",
            "Keep a lesson",
            "Keep what finished work taught, so that the next task of its kind goes better.",
            ADDS,
            schema::<Reflect>,
            reflect,
        ),
        entry(
            "memory_status",
            "Status of the memory",
            "How much is remembered.",
            READS,
            schema::<Nothing>,
            status,
        ),
    ]
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
        .map_err(|error| Problem::usage(format!("the arguments are not understood: {error}")))
}

/// Who reads.
pub(super) fn asker(store: &SqliteMemory, scoped: &Scoped) -> anyhow::Result<Asker> {
    let Some(id) = &scoped.user else { return Ok(Asker::owner()) };
    let number = store.user(id.as_str())?.map_or(UserNumber::SHARED, |user| user.number);
    let user = (number != UserNumber::OWNER).then(|| id.clone());
    Ok(Asker { scope: Scope::of(number), user })
}

/// Who writes; a new name becomes a user.
pub(super) fn writer(
    store: &mut SqliteMemory,
    scoped: &Scoped,
    change: Change<'_>,
) -> anyhow::Result<Scope> {
    match &scoped.user {
        None => Ok(Scope::of(UserNumber::OWNER)),
        Some(id) => Ok(Scope::of(store.user_or_new(id.as_str(), change)?)),
    }
}

fn search(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Search = arguments(value)?;
    let (app, home, memory) = seat.reader()?;
    let zone = app.zone(home)?;
    let moment = |text: &Option<String>| {
        text.as_deref().map(|text| clock::parse_moment(text, app.now, &zone)).transpose()
    };
    let wish = Wish {
        text: &asked.query,
        kind: asked.types,
        limit: usize::from(asked.limit.unwrap_or(10).clamp(1, 50)),
        session: None,
        channel: None,
        entity: asked.entity.as_deref(),
        since: moment(&asked.since)?,
        until: moment(&asked.until)?,
        as_of: moment(&asked.as_of)?,
    };
    found(app, home, (&memory.store, &asker(&memory.store, scoped)?), &wish)
}

/// A short list: what it is, when it was, and the part that answers.
fn found(
    app: &crate::app::App,
    home: &hermes_home::Home,
    (store, asker): (&SqliteMemory, &Asker),
    wish: &Wish<'_>,
) -> anyhow::Result<Told> {
    if wish.text.trim().is_empty() {
        return Err(Problem::usage("there is nothing to look for: the query is empty").into());
    }
    let answer = search::find(app, home, (store, asker), wish)?;
    let zone = app.zone_of(home, store, asker.scope.user())?;
    let mut lines: Vec<String> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for hit in &answer.results {
        let at = hit.at.map(|at| clock::minute(at, &zone)).unwrap_or_default();
        let outdated = hit.superseded_by.as_ref().map(|by| format!(" [superseded by {by}]"));
        let place = [Some(at), hit.session_id.clone()].into_iter().flatten();
        let place: Vec<String> = place.filter(|part| !part.is_empty() && *part != hit.id).collect();
        lines.push(format!(
            "{} ({}){}: {}",
            hit.id,
            place.join(", "),
            outdated.unwrap_or_default(),
            one_line(&hit.snippet, 300)
        ));
        results.push(json!({
            "id": hit.id, "kind": hit.kind, "text": one_line(&hit.snippet, 300), "at": hit.at,
            "relevance": hit.relevance, "session_id": hit.session_id, "superseded_by": hit.superseded_by,
        }));
    }
    lines.extend(answer.notes.iter().map(|note| format!("({note})")));
    if results.is_empty() {
        lines.insert(0, "nothing found".to_owned());
    }
    Ok(Told { text: lines.join("\n"), value: json!({ "results": results, "notes": answer.notes }) })
}

fn give_context(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Context = arguments(value)?;
    if asked.task.trim().is_empty() {
        return Err(Problem::usage("the task is empty").into());
    }
    let wish = context::Wish {
        task: &asked.task,
        session: asked.session_id.as_deref(),
        project: scoped.project.as_deref(),
        channel: None,
        budget: asked.budget_tokens.map(|tokens| tokens as usize),
        no_files: false,
    };
    let (app, home, memory) = seat.reader()?;
    let asker = asker(&memory.store, scoped)?;
    let given = context::give(app, home, (&memory.store, &asker), &wish)?;
    if memory.exists && !scoped.read_only {
        let (app, _, memory) = seat.writer()?;
        context::note(&mut memory.store, (asker.scope, wish.session), &given.context, app.now);
    }
    let tokens = given.context.tokens;
    let text = match given.text.trim().is_empty() {
        true => "nothing is remembered that belongs to this task".to_owned(),
        false => given.text,
    };
    let notes = given.context.notes;
    Ok(Told { value: json!({ "text": text, "tokens": tokens, "notes": notes }), text })
}

fn get(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    const MOST: usize = 20;
    let asked: Get = arguments(value)?;
    if asked.ids.len() > MOST {
        return Err(Problem::usage(format!("{MOST} memories at a time")).into());
    }
    let (app, home, memory) = seat.reader()?;
    let scope = asker(&memory.store, scoped)?.scope;
    let (mut results, mut lines) = (Vec::new(), Vec::new());
    for id in &asked.ids {
        let shown = match Wanted::parse(id) {
            Some(wanted) => items::show(&memory.store, scope, wanted),
            None => facts::show(app, home, (&memory.store, scope), id)
                .and_then(|detail| Ok(serde_json::to_value(detail)?)),
        };
        match shown {
            Ok(value) => {
                let text = value["text"].as_str().unwrap_or_default();
                lines.push(format!("{}: {text}", value["id"].as_str().unwrap_or(id)));
                results.push(value);
            }
            Err(error) => {
                let message = crate::failure::message(&error);
                lines.push(format!("{id}: {message}"));
                results.push(json!({ "id": id, "error": message }));
            }
        }
    }
    Ok(Told { text: lines.join("\n\n"), value: json!({ "results": results }) })
}

fn add(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Add = arguments(value)?;
    let (app, home, memory) = seat.writer()?;
    let zone = app.zone(home)?;
    let moment = |text: &Option<String>| {
        text.as_deref().map(|text| clock::parse_moment(text, app.now, &zone)).transpose()
    };
    let new = New {
        text: &asked.text,
        kind: asked.kind.as_deref(),
        entities: &asked.entities,
        valid_from: moment(&asked.valid_from)?,
        valid_to: moment(&asked.valid_until)?,
        shared: false,
        by_agent: true,
    };
    let scope = writer(&mut memory.store, scoped, app.change())?;
    let added = facts::add(app, home, (memory, scope), &new)?;
    let value = serde_json::to_value(&added)?;
    let how = if value["change"] == "known" { "is known already" } else { "is kept" };
    Ok(Told { text: format!("{} \"{}\" {how}", added.id, added.text), value })
}

fn update(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Update = arguments(value)?;
    let scope = existing(seat, scoped, &asked.id)?;
    let (app, home, memory) = seat.writer()?;
    let wanted = (asked.id.as_str(), asked.text.as_str());
    let (changed, text) = match asked.superseded {
        true => {
            let changed = facts::supersede(app, home, (memory, scope), wanted)?;
            let old = changed.replaced.clone().unwrap_or_default();
            let text = format!("{} \"{}\" takes the place of {old}", changed.id, changed.text);
            (changed, text)
        }
        false => {
            let changed = facts::edit(app, home, (memory, scope), wanted)?;
            let text = format!("{} says now \"{}\"", changed.id, changed.text);
            (changed, text)
        }
    };
    Ok(Told { text, value: serde_json::to_value(&changed)? })
}

fn forget(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let One { id } = arguments(value)?;
    let name = match Wanted::parse(&id) {
        Some(wanted) => {
            let (_, _, memory) = seat.reader()?;
            let scope = asker(&memory.store, scoped)?.scope;
            items::show(&memory.store, scope, wanted)?;
            let (app, _, memory) = seat.writer()?;
            items::retire(&mut memory.store, scope, wanted, app.change())?;
            wanted.name()
        }
        None => {
            let scope = existing(seat, scoped, &id)?;
            let (app, home, memory) = seat.writer()?;
            let fact = facts::retire(app, home, (memory, scope), &id)?;
            crate::desk::fact_view::name_of(fact.id)
        }
    };
    let text = format!("{name} is forgotten; the user can bring it back");
    Ok(Told { text, value: json!({ "id": name, "forgotten": true }) })
}

/// The scope of a fact that must be there: nothing is made only to find nothing.
pub(super) fn existing(seat: &mut Seat, scoped: &Scoped, id: &str) -> anyhow::Result<Scope> {
    use hermes_store::memory::Facts as _;
    let (_, _, memory) = seat.reader()?;
    let scope = asker(&memory.store, scoped)?.scope;
    memory.store.find_fact(scope, id)?;
    Ok(scope)
}

fn history(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let One { id } = arguments(value)?;
    let (app, home, memory) = seat.reader()?;
    let asker = asker(&memory.store, scoped)?;
    let (fact, changes) = facts::history(&memory.store, asker.scope, &id)?;
    let zone = app.zone_of(home, &memory.store, asker.scope.user())?;
    let name = crate::desk::fact_view::name_of(fact.id);
    let mut lines = vec![format!("{name}: {}", fact.statement)];
    for change in &changes {
        let text = change.text.as_deref().map(|text| format!(": {}", one_line(text, 200)));
        let at = clock::minute(change.at, &zone);
        lines.push(format!(
            "{at} {} by {}{}",
            change.action,
            change.actor,
            text.unwrap_or_default()
        ));
    }
    Ok(Told {
        text: lines.join("\n"),
        value: json!({ "id": name, "text": fact.statement, "results": changes }),
    })
}

fn sessions(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Sessions = arguments(value)?;
    let limit = usize::from(asked.limit.unwrap_or(10).clamp(1, 50));
    let Some(id) = &asked.session_id else {
        let query = asked.query.as_deref().unwrap_or_default();
        let (app, home, memory) = seat.reader()?;
        let wish = Wish { text: query, kind: Kind::Sessions, limit, ..Wish::default() };
        return found(app, home, (&memory.store, &asker(&memory.store, scoped)?), &wish);
    };
    let (app, home) = (&seat.app, &seat.home);
    let store = app.sessions(home, Access::Read)?;
    let id = store.find(id)?;
    let session = store.session(&id)?;
    let own = scoped.user.as_ref().map(|user| user.as_str().to_owned());
    if own.is_some() && session.user_id != own {
        return Err(Problem::new(Failed::NotFound, "could not find the session").into());
    }
    let window = match asked.around {
        Some(message) => Window::Around { message, before: limit / 2, after: limit / 2 },
        None => Window::Last(limit),
    };
    let messages = store.messages(&id, window)?;
    let value = json!({ "session": session, "results": messages });
    let lines: Vec<String> = value["results"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|message| {
            let text = message["text"].as_str().unwrap_or_default();
            format!("{}: {}", message["role"].as_str().unwrap_or("?"), one_line(text, 1000))
        })
        .collect();
    Ok(Told { text: lines.join("\n"), value })
}

fn reflect(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Reflect = arguments(value)?;
    let (app, _, memory) = seat.writer()?;
    let scope = writer(&mut memory.store, scoped, app.change())?;
    let lesson = Lesson {
        text: &asked.lesson,
        task: asked.task.as_deref(),
        outcome: asked.outcome.as_deref(),
    };
    let value = items::keep_lesson(app, &mut memory.store, scope, &lesson)?;
    Ok(Told { text: format!("{} is kept", value["id"].as_str().unwrap_or_default()), value })
}

fn status(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Nothing {} = arguments(value)?;
    let (app, home, memory) = seat.reader()?;
    let background = crate::daemon::models_line(app, home);
    if scoped.user.is_some() {
        let text = format!("profile {}; {background}", home.profile_name());
        let value = json!({ "profile": home.profile_name(), "background": background });
        return Ok(Told { text, value });
    }
    let counts = memory.store.counts(Admin)?;
    let episodes = counts.raw_episodes + counts.compressed_episodes;
    let text = format!(
        "profile {}: {} facts, {episodes} episodes, {} lessons and procedures, {} events; {background}",
        home.profile_name(),
        counts.facts,
        counts.procedures,
        counts.events
    );
    let value = json!({
        "profile": home.profile_name(), "facts": counts.facts, "episodes": episodes,
        "procedures": counts.procedures, "events": counts.events, "background": background,
    });
    Ok(Told { text, value })
}

/// The text of `memory://…`.
pub(super) fn resource(seat: &mut Seat, scoped: &Scoped, uri: &str) -> anyhow::Result<String> {
    let missing = || Problem::new(Failed::NotFound, format!("there is no resource {uri}"));
    let path = uri.strip_prefix("memory://").ok_or_else(missing)?;
    let target = match path {
        "soul" => Some(MemoryTarget::Soul),
        "memory" => Some(MemoryTarget::Memory),
        "user" => Some(MemoryTarget::User(scoped.user.clone())),
        _ => None,
    };
    if let Some(target) = target {
        let (app, home) = (&seat.app, &seat.home);
        let read = memory_file::read(home, &target, rules::of_file(app, home, &target)?)?;
        return Ok(read.document.text().to_owned());
    }
    let (kind, id) = path.split_once('/').ok_or_else(missing)?;
    let told = get(seat, scoped, json!({ "ids": [format!("{kind}:{id}")] }))?;
    match told.value["results"][0].get("error") {
        Some(_) => Err(missing().into()),
        None => Ok(told.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_tools_in_their_order_and_short() {
        let names: Vec<&str> = all().iter().map(|entry| entry.name).collect();
        let order = [
            "memory_search",
            "memory_context",
            "memory_get",
            "memory_add",
            "memory_update",
            "memory_forget",
            "memory_history",
            "session_search",
            "memory_reflect",
            "memory_status",
        ];
        assert_eq!(names, order);
        let size: usize = all()
            .iter()
            .map(|entry| {
                entry.about.len() + serde_json::to_string(&(entry.schema)()).unwrap().len()
            })
            .sum();
        assert!(size < 6_000, "{size}");
    }

    #[test]
    fn a_schema_says_what_must_be_given() {
        let schema = schema::<Search>();
        assert_eq!(schema["required"], json!(["query"]));
        assert_eq!(schema["properties"]["limit"]["type"], "integer");
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(super::schema::<Nothing>()["type"], "object");
    }
}
