//! The tool `memory`: entries of MEMORY.md and USER.md are added, replaced and removed; all that is remembered is searched.

use std::path::PathBuf;

use hermes_agent::approval::{Kind, Request, Verdict};
use hermes_agent::toolbox::{Ask, Outcome};
use hermes_agent::window::Window;
use hermes_home::Error as HomeError;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, Document, MemoryText, Selector, edit};
use hermes_llm::chat::Tool;
use hermes_memory::remember::{self, Remembered, Target, Wish as Wanted, suspicion};
use hermes_store::memory::Trust;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Tools, lines_of};
use hermes_app::fact_view::name_of;
use hermes_app::facts::Facts;
use hermes_app::problem;
use hermes_app::recall::Recall;
use hermes_app::search::Question;
use hermes_app::text::one_line;
use hermes_app::{later, rules};

/// Its name.
pub(super) const NAME: &str = "memory";
/// After so many calls that failed in one turn it is of no use to try again.
const MOST_FAILURES: u32 = 3;
/// How many things a search shows.
const FOUND: usize = 8;
/// What a model is told after a change.
const SAVED: &str = "It is saved; do not write it again.";

#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct Arguments {
    action: Option<String>,
    target: Option<String>,
    content: Option<String>,
    old_text: Option<String>,
    operations: Option<Vec<Operation>>,
    query: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Operation {
    action: String,
    content: Option<String>,
    old_text: Option<String>,
}

/// A change that is fit to be made.
enum Step {
    Add(String),
    Replace { old: String, new: String },
    Remove(String),
}

/// Why nothing was changed, and what helps.
struct Refused {
    error: String,
    matches: Vec<String>,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: NAME.to_owned(),
        description: "Keep short facts for every later session, or search all that is remembered. target `user`: who the person is and how they like things; target `memory`: everything else. To correct something use replace, with old_text a piece of the old entry. `operations` makes several changes at once, all or none.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["add", "replace", "remove", "search"]},
                "target": {"type": "string", "enum": ["memory", "user"]},
                "content": {"type": "string", "description": "the entry, one plain sentence that will still be understood in a year"},
                "old_text": {"type": "string", "description": "a piece of the entry to replace or remove that no other entry has"},
                "operations": {"type": "array", "items": {"type": "object", "properties": {
                    "action": {"type": "string", "enum": ["add", "replace", "remove"]},
                    "content": {"type": "string"}, "old_text": {"type": "string"}},
                    "required": ["action"]}},
                "query": {"type": "string", "description": "what to search for, in plain words"},
            },
        }),
    }
}

/// What a call would do, in one line.
pub(super) fn describe(input: &Value) -> String {
    let text = |key: &str| one_line(input[key].as_str().unwrap_or_default(), 80);
    match input["action"].as_str() {
        Some("add") => format!("remember \"{}\"", text("content")),
        Some("replace") => {
            format!("remember \"{}\" instead of \"{}\"", text("content"), text("old_text"))
        }
        Some("remove") => format!("forget \"{}\"", text("old_text")),
        Some("search") => format!("search memory for \"{}\"", text("query")),
        _ => "change memory".to_owned(),
    }
}

pub(super) fn call(
    tools: &mut Tools,
    input: &Value,
    window: &Window,
    ask: &mut Ask<'_>,
) -> Outcome {
    let asked: Arguments = match serde_json::from_value(input.clone()) {
        Ok(asked) => asked,
        Err(error) => {
            return Outcome::failed(&format!("the arguments are not understood: {error}"));
        }
    };
    if asked.action.as_deref() == Some("search") {
        return searched(tools, asked.query.as_deref().or(asked.content.as_deref()));
    }
    match change(tools, &asked, window, ask) {
        Ok(outcome) => outcome,
        Err(error) => failed(tools, &Refused::plain(problem::message(&error)), None),
    }
}

fn searched(tools: &mut Tools, query: Option<&str>) -> Outcome {
    let Some(query) = query.filter(|query| !query.trim().is_empty()) else {
        return Outcome::failed("`search` needs a query");
    };
    let mut found = || -> anyhow::Result<Outcome> {
        let asker = tools.asker.clone();
        let (app, home, memory) = tools.seat.reader()?;
        let question = Question { text: query, limit: FOUND, ..Question::default() };
        let recall = Recall { app, home, store: &memory.store, asker: &asker };
        let answer = recall.find(&question)?;
        let zone = app.zone_of(home, &memory.store, asker.scope.user())?;
        Ok(Outcome {
            text: lines_of(&answer, &zone),
            is_error: false,
            shown: Some(format!("{} found", answer.results.len())),
            ends_turn: false,
            is_outside: answer.results.iter().any(|hit| hit.is_outside),
        })
    };
    found().unwrap_or_else(|error| Outcome::failed(&problem::message(&error)))
}

fn change(
    tools: &mut Tools,
    asked: &Arguments,
    window: &Window,
    ask: &mut Ask<'_>,
) -> anyhow::Result<Outcome> {
    let target = match asked.target.as_deref() {
        Some("user") => Target::User,
        None | Some("memory" | "") => Target::Memory,
        Some(other) => {
            let why = format!("there is no target {other}: use memory or user");
            return Ok(failed(tools, &Refused::plain(why), None));
        }
    };
    let scope = tools.asker.scope;
    let (app, home, memory) = tools.seat.writer()?;
    let file = remember::file_of(&memory.store, scope, target)?;
    let before = memory_file::read(home, &file, rules::of_file(app, home, &file)?)?;
    let today = app.today(home)?;
    let is_batch = asked.operations.is_some();
    let steps = match planned(asked, &before.document, today) {
        Ok(steps) => steps,
        Err(refused) => return Ok(failed(tools, &refused, Some(&before))),
    };
    if let Some(outcome) = held_back(tools, &steps, target, window, ask)? {
        return Ok(outcome);
    }
    let mut done = Vec::new();
    for step in &steps {
        match carry_out(tools, target, &file, step)? {
            Ok(message) => done.push(message),
            Err(refused) => return Ok(failed(tools, &refused, Some(&before))),
        }
    }
    let (app, home, memory) = tools.seat.writer()?;
    later::fill_in(home, app, &mut memory.store)?;
    let after = memory_file::read(home, &file, rules::of_file(app, home, &file)?)?;
    let message = match is_batch {
        true => format!("Applied {} operation(s).", steps.len()),
        false => done.first().map(|one| one.message.to_owned()).unwrap_or_default(),
    };
    let shown: Vec<String> = done.into_iter().filter_map(|one| one.shown).collect();
    Ok(saved(target, &after, &message, &shown))
}

/// A change that was made.
struct Made {
    message: &'static str,
    shown: Option<String>,
}

/// What is to be done, checked against the file as it is: all of it can be done, or nothing is.
fn planned(
    asked: &Arguments,
    document: &Document,
    today: jiff::civil::Date,
) -> Result<Vec<Step>, Refused> {
    let single = Operation {
        action: asked.action.clone().unwrap_or_default(),
        content: asked.content.clone(),
        old_text: asked.old_text.clone(),
    };
    let operations = asked.operations.clone().unwrap_or_else(|| vec![single]);
    if operations.is_empty() {
        return Err(Refused::plain("there are no operations".to_owned()));
    }
    let mut document = document.clone();
    let mut steps = Vec::new();
    for (number, operation) in operations.iter().enumerate() {
        let place = |refused: Refused| match &asked.operations {
            None => refused,
            Some(_) => Refused {
                error: format!(
                    "Operation {} ({}): {}. Nothing was changed.",
                    number + 1,
                    operation.action,
                    refused.error.trim_end_matches('.')
                ),
                ..refused
            },
        };
        let step = step_of(operation).map_err(place)?;
        let edited = match &step {
            Step::Add(text) => edit::add(&document, text, None, today),
            Step::Replace { old, new } => {
                edit::replace(&document, &Selector::Text(old.clone()), new, today)
            }
            Step::Remove(old) => edit::remove(&document, &Selector::Text(old.clone())),
        };
        document = edited.map_err(|error| place(Refused::of(&error)))?.document;
        steps.push(step);
    }
    Ok(steps)
}

fn step_of(operation: &Operation) -> Result<Step, Refused> {
    let content = || {
        let text = operation.content.as_deref().map(str::trim).filter(|text| !text.is_empty());
        text.ok_or_else(|| Refused::plain(format!("'{}' needs content", operation.action)))
    };
    let old = || {
        let text = operation.old_text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        text.map(str::to_owned).ok_or_else(|| {
            Refused::plain(format!(
                "'{}' needs old_text: a piece of the entry that is meant",
                operation.action
            ))
        })
    };
    let step = match operation.action.as_str() {
        "add" => Step::Add(content()?.to_owned()),
        "replace" => Step::Replace { old: old()?, new: content()?.to_owned() },
        "remove" => Step::Remove(old()?),
        other => {
            let why = format!("there is no action {other:?}: use add, replace, remove or search");
            return Err(Refused::plain(why));
        }
    };
    match step.text().and_then(suspicion) {
        Some(why) => Err(Refused::plain(format!(
            "Blocked: {why}. What is kept is read in every session, so it is not written."
        ))),
        None => Ok(step),
    }
}

impl Step {
    /// The new words.
    fn text(&self) -> Option<&str> {
        match self {
            Step::Add(text) | Step::Replace { new: text, .. } => Some(text),
            Step::Remove(_) => None,
        }
    }

    fn told(&self) -> String {
        match self {
            Step::Add(text) => format!("+ {text}"),
            Step::Replace { old, new } => format!("- {old}\n+ {new}"),
            Step::Remove(old) => format!("- {old}"),
        }
    }
}

/// A person decides where memory is not written without asking, and as long as the window holds words that are not
/// theirs; without a person it waits as a proposal.
fn held_back(
    tools: &mut Tools,
    steps: &[Step],
    target: Target,
    window: &Window,
    ask: &mut Ask<'_>,
) -> anyhow::Result<Option<Outcome>> {
    let (app, home) = (&tools.seat.app, &tools.seat.home);
    let why = match (app.config(home)?.config.auto_writes(), window.has_outside()) {
        (false, _) => "memory is not written without asking here",
        (true, true) => "this conversation holds text that is not yours",
        (true, false) => return Ok(None),
    };
    let request = Request {
        kind: Kind::Forget,
        title: format!("change the memory: {why}"),
        detail: steps.iter().map(Step::told).collect::<Vec<_>>().join("\n"),
        folder: PathBuf::from(home.folder()),
        always: None,
        editable: None,
        confinement: None,
    };
    match ask(&request) {
        Verdict::Once | Verdict::Always | Verdict::Edited(_) => return Ok(None),
        Verdict::No { .. } => {}
    }
    let scope = tools.asker.scope;
    let (app, home, memory) = tools.seat.writer()?;
    let rules = rules::of_learning(app, home, &memory.store)?;
    let mut ids = Vec::new();
    for step in steps {
        let Step::Add(text) = step else { continue };
        let wanted = Wanted { trust: Trust::Agent, ..wanted(text, target, app.now) };
        let change = app.change();
        if let Remembered::Proposed { proposal, .. } =
            remember::remember(&mut memory.store, scope, &wanted, &rules, change)?
        {
            ids.push(proposal);
        }
    }
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    let value = match ids.is_empty() {
        true => {
            json!({"success": false, "error": "The person did not agree: nothing was changed."})
        }
        false => json!({
            "success": true, "staged": true, "pending_id": ids.join(","),
            "message": match ids.len() == steps.len() {
                true => "It waits until the person agrees.",
                false => "What was to be added waits until the person agrees; nothing was replaced or removed.",
            },
        }),
    };
    let shown = (!ids.is_empty())
        .then(|| format!("waits for your word: `hermes memory approve {}`", ids.join(" ")));
    Ok(Some(Outcome {
        text: value.to_string(),
        is_error: ids.is_empty(),
        shown,
        ends_turn: false,
        is_outside: false,
    }))
}

fn wanted(text: &str, target: Target, now: jiff::Timestamp) -> Wanted<'_> {
    Wanted {
        text,
        target,
        fact: None,
        kind: match target {
            Target::User => "preference",
            Target::Memory => "fact",
        },
        predicate: None,
        sources: &[],
        said_at: now,
        trust: Trust::User,
        is_explicit: false,
        origin: "agent",
    }
}

/// Makes one change: an entry that was written with a fact changes with it.
fn carry_out(
    tools: &mut Tools,
    target: Target,
    file: &MemoryTarget,
    step: &Step,
) -> anyhow::Result<Result<Made, Refused>> {
    let scope = tools.asker.scope;
    let (app, home, memory) = tools.seat.writer()?;
    let (old, new) = match step {
        Step::Add(text) => return add(tools, target, text),
        Step::Replace { old, new } => (old, Some(new)),
        Step::Remove(old) => (old, None),
    };
    let context = rules::of_change(app, home, file, "memory tool")?;
    let document = memory_file::read(home, file, context.rules)?.document;
    let selector = Selector::Text(old.clone());
    let entry = match edit::remove(&document, &selector) {
        Ok(edited) => edited.entry.map(|entry| entry.text).unwrap_or_default(),
        Err(error) => return Ok(Err(Refused::of(&error))),
    };
    let fact = remember::fact_of_entry(&memory.store, scope, target, &entry)?;
    let shown = match (fact, new) {
        (Some(fact), Some(new)) => {
            let changed = Facts { app, home, memory, scope }.supersede(&name_of(fact), new)?;
            Some(format!("+ remembered {} \"{}\" (/undo)", changed.id, one_line(new, 100)))
        }
        (Some(fact), None) => {
            Facts { app, home, memory, scope }.retire(&name_of(fact))?;
            Some(format!("- forgot {} \"{}\" (/undo)", name_of(fact), one_line(&entry, 100)))
        }
        (None, Some(new)) => {
            let today = app.today(home)?;
            memory_file::change(home, file, &context, |document| {
                edit::replace(document, &selector, new, today)
            })?;
            Some(format!("+ remembered \"{}\"", one_line(new, 100)))
        }
        (None, None) => {
            memory_file::change(home, file, &context, |document| {
                edit::remove(document, &selector)
            })?;
            Some(format!("- forgot \"{}\"", one_line(&entry, 100)))
        }
    };
    let message = if new.is_some() { "Entry replaced." } else { "Entry removed." };
    Ok(Ok(Made { message, shown }))
}

fn add(tools: &mut Tools, target: Target, text: &str) -> anyhow::Result<Result<Made, Refused>> {
    let scope = tools.asker.scope;
    let (app, home, memory) = tools.seat.writer()?;
    let rules = rules::of_learning(app, home, &memory.store)?;
    let wanted = wanted(text, target, app.now);
    let became = remember::remember(&mut memory.store, scope, &wanted, &rules, app.change())?;
    Ok(match became {
        Remembered::Written(written) if written.is_new => {
            let (id, entry) = (name_of(written.fact), one_line(&written.entry, 100));
            let shown = Some(format!("+ remembered {id} \"{entry}\" (/undo)"));
            Ok(Made { message: "Entry added.", shown })
        }
        Remembered::Written(_) => {
            Ok(Made { message: "Entry already exists (no duplicate added).", shown: None })
        }
        Remembered::Proposed { proposal, why, .. } => Err(Refused::plain(format!(
            "Not written, {why}. It waits as proposal {proposal} until the person agrees."
        ))),
        Remembered::Buried => Err(Refused::plain(
            "Not written: the person took this back before. Ask them first.".to_owned(),
        )),
    })
}

/// What a model is told after a change, with the file read back.
fn saved(target: Target, after: &MemoryText, message: &str, shown: &[String]) -> Outcome {
    let value = json!({
        "success": true, "done": true, "target": word(target), "usage": after.usage.with_percent(),
        "entry_count": after.document.entries().len(), "message": message, "note": SAVED,
    });
    let shown = (!shown.is_empty()).then(|| shown.join("\n"));
    Outcome { text: value.to_string(), is_error: false, shown, ends_turn: false, is_outside: false }
}

/// What a model is told when nothing was changed.
fn failed(tools: &mut Tools, refused: &Refused, file: Option<&MemoryText>) -> Outcome {
    tools.memory_failures += 1;
    let mut value = json!({"success": false, "error": refused.error});
    if !refused.matches.is_empty() {
        value["matches"] = json!(refused.matches);
    }
    if let Some(file) = file {
        let entries: Vec<&str> =
            file.document.entries().iter().map(|entry| entry.text.as_str()).collect();
        value["current_entries"] = json!(entries);
        value["usage"] = json!(file.usage.to_string().trim_end_matches(" chars"));
    }
    if tools.memory_failures >= MOST_FAILURES {
        value["done"] = json!(true);
        value["note"] = json!("Do not try again in this turn.");
    }
    let shown = Some(format!("nothing was changed: {}", one_line(&refused.error, 120)));
    Outcome { text: value.to_string(), is_error: true, shown, ends_turn: false, is_outside: false }
}

fn word(target: Target) -> &'static str {
    match target {
        Target::Memory => "memory",
        Target::User => "user",
    }
}

impl Refused {
    fn plain(error: String) -> Refused {
        Refused { error, matches: Vec::new() }
    }

    fn of(error: &HomeError) -> Refused {
        match error {
            HomeError::NoEntry { wanted, .. } => Refused::plain(format!(
                "No entry matches {wanted}. Take the exact words of one of current_entries."
            )),
            HomeError::AmbiguousEntry { matches, .. } => Refused {
                error: "Several entries match: give a longer piece of the one that is meant."
                    .into(),
                matches: matches.clone(),
            },
            other => Refused::plain(other.to_string()),
        }
    }
}
