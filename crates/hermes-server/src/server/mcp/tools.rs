//! The ten tools: what a model may ask of the memory.

use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file;
use hermes_store::memory::Admin;
use hermes_store::sessions::Window;
use hermes_store::sqlite::Access;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Scoped;
use super::tool::{ADDS, CHANGES, Entry, One, READS, Told, arguments, schema};
use super::writing::{Add, Reflect, Update, add, forget, reflect, update};
use hermes_app::clock;
use hermes_app::context::{Handed, Request};
use hermes_app::fact_view::name_of;
use hermes_app::facts;
use hermes_app::items::{self, Wanted};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind as Failed, Problem};
use hermes_app::recall::Recall;
use hermes_app::rules;
use hermes_app::search::{self, Filter, Kind, Question};
use hermes_app::text::one_line;

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
struct Nothing {}

/// The tools in their order, which never changes: a model's cache depends on it.
pub(super) const ALL: &[Entry] = &[
    Entry {
        name: "memory_search",
        title: "Search memory",
        about: "Find facts, past conversations, lessons and events. Gives a short list with ids; read one in full with memory_get.",
        hints: READS,
        schema: schema::<Search>,
        run: search,
    },
    Entry {
        name: "memory_context",
        title: "Context for a task",
        about: "Everything remembered that belongs to a task, within a budget of tokens. Ask once when a task begins.",
        hints: READS,
        schema: schema::<Context>,
        run: give_context,
    },
    Entry {
        name: "memory_get",
        title: "Read memories",
        about: "The full text of memories by their ids, with where they come from.",
        hints: READS,
        schema: schema::<Get>,
        run: get,
    },
    Entry {
        name: "memory_add",
        title: "Remember a fact",
        about: "Keep a fact for later sessions. The same sentence twice is kept once.",
        hints: ADDS,
        schema: schema::<Add>,
        run: add,
    },
    Entry {
        name: "memory_update",
        title: "Change a fact",
        about: "Correct a fact, or say what holds in its place. The earlier text is kept.",
        hints: CHANGES,
        schema: schema::<Update>,
        run: update,
    },
    Entry {
        name: "memory_forget",
        title: "Forget",
        about: "Take a memory out of every answer. The user can bring it back.",
        hints: CHANGES,
        schema: schema::<One>,
        run: forget,
    },
    Entry {
        name: "memory_history",
        title: "History of a fact",
        about: "What happened to a fact: earlier texts, who changed it and when.",
        hints: READS,
        schema: schema::<One>,
        run: history,
    },
    Entry {
        name: "session_search",
        title: "Search conversations",
        about: "Find what was said in past conversations, or read one of them.",
        hints: READS,
        schema: schema::<Sessions>,
        run: sessions,
    },
    Entry {
        name: "memory_reflect",
        title: "Keep a lesson",
        about: "Keep what finished work taught, so that the next task of its kind goes better.",
        hints: ADDS,
        schema: schema::<Reflect>,
        run: reflect,
    },
    Entry {
        name: "memory_status",
        title: "Status of the memory",
        about: "How much is remembered.",
        hints: READS,
        schema: schema::<Nothing>,
        run: status,
    },
];

fn search(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: Search = arguments(value)?;
    let (app, home, memory) = seat.reader()?;
    let question = Question {
        text: &asked.query,
        kind: asked.types,
        limit: usize::from(asked.limit.unwrap_or(10).clamp(1, 50)),
        filter: Filter {
            entity: asked.entity.as_deref(),
            since: app.moment(home, asked.since.as_deref())?,
            until: app.moment(home, asked.until.as_deref())?,
            as_of: app.moment(home, asked.as_of.as_deref())?,
            ..Filter::default()
        },
    };
    let asker = &scoped.whom.asker(&memory.store)?;
    found(&Recall { app, home, store: &memory.store, asker }, &question)
}

/// A short list: what it is, when it was, and the part that answers.
fn found(recall: &Recall<'_>, question: &Question<'_>) -> anyhow::Result<Told> {
    if question.text.trim().is_empty() {
        return Err(Problem::usage("the query is empty").into());
    }
    search::must_be_short(question)?;
    let answer = recall.find(question)?;
    let Recall { app, home, store, asker } = *recall;
    let zone = app.zone_of(home, store, asker.scope.user())?;
    let mut lines: Vec<String> = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for hit in &answer.results {
        lines.push(hit.line(&zone));
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
    let request = Request {
        task: &asked.task,
        session: asked.session_id.as_deref(),
        project: scoped.project.as_deref(),
        channel: None,
        budget: asked.budget_tokens.map(|tokens| tokens as usize),
        ..Request::default()
    };
    let (app, home, memory) = seat.reader()?;
    let asker = scoped.whom.asker(&memory.store)?;
    let given = Recall { app, home, store: &memory.store, asker: &asker }.give(&request)?;
    if memory.exists && !scoped.read_only {
        let handed = Handed::of(asker.scope, request.session, &given.context, app.now);
        seat.hand_out(handed)?;
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
        return Err(Problem::usage(format!("at most {MOST} memories can be read at a time")).into());
    }
    let (app, home, memory) = seat.reader()?;
    let scope = scoped.whom.asker(&memory.store)?.scope;
    let (mut results, mut lines) = (Vec::new(), Vec::new());
    for id in &asked.ids {
        let shown = match Wanted::parse(id) {
            Some(wanted) => items::show(&memory.store, scope, wanted),
            None => facts::show(app, home, &memory.store, scope, id)
                .and_then(|detail| Ok(serde_json::to_value(detail)?)),
        };
        match shown {
            Ok(value) => {
                let text = value["text"].as_str().unwrap_or_default();
                lines.push(format!("{}: {text}", value["id"].as_str().unwrap_or(id)));
                results.push(value);
            }
            Err(error) => {
                let message = hermes_app::problem::message(&error);
                lines.push(format!("{id}: {message}"));
                results.push(json!({ "id": id, "error": message }));
            }
        }
    }
    Ok(Told { text: lines.join("\n\n"), value: json!({ "results": results }) })
}

fn history(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let One { id } = arguments(value)?;
    let (app, home, memory) = seat.reader()?;
    let asker = scoped.whom.asker(&memory.store)?;
    let (fact, changes) = facts::history(&memory.store, asker.scope, &id)?;
    let zone = app.zone_of(home, &memory.store, asker.scope.user())?;
    let name = name_of(fact.id);
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
        let (app, home, memory) = seat.reader()?;
        let asker = &scoped.whom.asker(&memory.store)?;
        let (text, kind) = (asked.query.as_deref().unwrap_or_default(), Kind::Sessions);
        let question = Question { text, kind, limit, ..Question::default() };
        return found(&Recall { app, home, store: &memory.store, asker }, &question);
    };
    let (app, home, memory) = seat.reader()?;
    let store = app.sessions(home, Access::Read)?;
    let whose = scoped.whom.asker(&memory.store)?.sessions(&memory.store)?;
    let id = store.find_of(id, whose.as_ref())?;
    let session = store.session(&id)?;
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

fn status(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Nothing {} = arguments(value)?;
    let (app, home, memory) = seat.reader()?;
    let background = hermes_app::daemon::models_line(app, home);
    if scoped.whom.is_narrow() {
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
        "user" => Some(scoped.whom.user_file()),
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
        let names: Vec<&str> = ALL.iter().map(|entry| entry.name).collect();
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
        let size: usize = ALL
            .iter()
            .map(|entry| {
                entry.about.len() + serde_json::to_string(&(entry.schema)()).unwrap().len()
            })
            .sum();
        assert!(size < 6_000, "{size}");
    }

    #[test]
    fn a_schema_says_what_must_be_given() {
        let search = schema::<Search>();
        assert_eq!(search["required"], json!(["query"]));
        assert_eq!(search["properties"]["limit"]["type"], "integer");
        assert_eq!(search["additionalProperties"], json!(false));
        assert_eq!(schema::<Nothing>()["type"], "object");
    }
}
