//! The same memory under names that users of other programs know.

use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, WholeText};
use hermes_store::memory::{Fact, FactFilter, Facts as _};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::pool::Seat;
use super::Scoped;
use super::tools::{ADDS, CHANGES, Entry, READS, Told, arguments, asker, existing, schema, writer};
use crate::desk::fact_view::name_of;
use crate::desk::facts::{self, New};
use crate::desk::rules;
use crate::desk::search::{self, Kind, Wish};
use crate::failure::{Kind as Failed, Problem};

/// How many facts a whole graph or list holds at most.
const MOST: usize = 1000;

/// The names of Mem0.
pub(super) fn mem0() -> Vec<Entry> {
    let entry =
        |name, title, about, hints, schema, run| Entry { name, title, about, hints, schema, run };
    vec![
        entry(
            "add_memory",
            "Add a memory",
            "Keep a fact for later sessions.",
            ADDS,
            schema::<AddMemory>,
            add_memory,
        ),
        entry(
            "search_memories",
            "Search memories",
            "Find memories by meaning.",
            READS,
            schema::<SearchMemories>,
            search_memories,
        ),
        entry(
            "get_memories",
            "List memories",
            "List memories, newest first.",
            READS,
            schema::<ListMemories>,
            get_memories,
        ),
        entry(
            "get_memory",
            "Get a memory",
            "One memory by its id.",
            READS,
            schema::<MemoryId>,
            get_memory,
        ),
        entry(
            "update_memory",
            "Update a memory",
            "Give a memory another text; the earlier one is kept.",
            CHANGES,
            schema::<UpdateMemory>,
            update_memory,
        ),
        entry(
            "delete_memory",
            "Delete a memory",
            "Take a memory out of every answer; the user can bring it back.",
            CHANGES,
            schema::<MemoryId>,
            delete_memory,
        ),
    ]
}

/// The nine tools of the reference memory server: a graph of names and what is known about them.
pub(super) fn reference() -> Vec<Entry> {
    let entry =
        |name, title, about, hints, schema, run| Entry { name, title, about, hints, schema, run };
    vec![
        entry(
            "create_entities",
            "Create entities",
            "Keep what is known about names.",
            ADDS,
            schema::<CreateEntities>,
            create_entities,
        ),
        entry(
            "create_relations",
            "Create relations",
            "Keep how two names belong together.",
            ADDS,
            schema::<Relations>,
            create_relations,
        ),
        entry(
            "add_observations",
            "Add observations",
            "Keep more about names.",
            ADDS,
            schema::<Observations>,
            add_observations,
        ),
        entry(
            "delete_entities",
            "Delete entities",
            "Take out everything about names.",
            CHANGES,
            schema::<EntityNames>,
            delete_entities,
        ),
        entry(
            "delete_observations",
            "Delete observations",
            "Take out single sentences about names.",
            CHANGES,
            schema::<Deletions>,
            delete_observations,
        ),
        entry(
            "delete_relations",
            "Delete relations",
            "Take out how two names belong together.",
            CHANGES,
            schema::<Relations>,
            delete_relations,
        ),
        entry(
            "read_graph",
            "Read the graph",
            "Everything that is known, by name.",
            READS,
            schema::<Nothing>,
            read_graph,
        ),
        entry(
            "search_nodes",
            "Search nodes",
            "What is known that answers a question, by name.",
            READS,
            schema::<SearchNodes>,
            search_nodes,
        ),
        entry(
            "open_nodes",
            "Open nodes",
            "What is known about these names.",
            READS,
            schema::<Names>,
            open_nodes,
        ),
    ]
}

/// Anthropic's memory tool, over the memory files.
pub(super) fn anthropic() -> Vec<Entry> {
    vec![Entry {
        name: "memory",
        title: "Memory files",
        about: "Read and change the files /memories/MEMORY.md and /memories/USER.md: view, create, str_replace, insert.",
        hints: CHANGES,
        schema: schema::<FileCommand>,
        run: file_command,
    }]
}

#[derive(Debug, Deserialize, JsonSchema)]
struct AddMemory {
    /// What to keep
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchMemories {
    /// What to look for
    query: String,
    /// At most so many
    limit: Option<u16>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListMemories {
    /// At most so many
    limit: Option<u16>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct MemoryId {
    /// The id of the memory
    memory_id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct UpdateMemory {
    /// The id of the memory
    memory_id: String,
    /// The new text
    text: String,
}

fn memory_of(fact: &Fact) -> Value {
    json!({
        "id": name_of(fact.id), "memory": fact.statement, "created_at": fact.recorded_at,
        "categories": [fact.kind], "metadata": { "entities": fact.entities },
    })
}

fn told(value: Value) -> Told {
    Told { text: value.to_string(), value }
}

fn keep(
    seat: &mut Seat,
    scoped: &Scoped,
    text: &str,
    entities: &[String],
) -> anyhow::Result<String> {
    let (app, home, memory) = seat.writer()?;
    let scope = writer(&mut memory.store, scoped, app.change())?;
    let new = New { text, entities, by_agent: true, ..New::default() };
    Ok(facts::add(app, home, (memory, scope), &new)?.id)
}

fn add_memory(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let AddMemory { text } = arguments(value)?;
    let id = keep(seat, scoped, &text, &[])?;
    Ok(told(json!({ "results": [{ "id": id, "memory": text, "event": "ADD" }] })))
}

fn facts_found(
    seat: &mut Seat,
    scoped: &Scoped,
    query: &str,
    limit: usize,
) -> anyhow::Result<Vec<Fact>> {
    let (app, home, memory) = seat.reader()?;
    let asker = asker(&memory.store, scoped)?;
    let wish = Wish { text: query, kind: Kind::Facts, limit, ..Wish::default() };
    let answer = search::find(app, home, (&memory.store, &asker), &wish)?;
    let mut found = Vec::new();
    for hit in answer.results {
        found.push(memory.store.find_fact(asker.scope, &hit.id)?);
    }
    Ok(found)
}

fn facts_listed(
    seat: &mut Seat,
    scoped: &Scoped,
    entity: Option<&str>,
    limit: usize,
) -> anyhow::Result<Vec<Fact>> {
    let (app, _, memory) = seat.reader()?;
    let scope = asker(&memory.store, scoped)?.scope;
    let filter = FactFilter {
        kind: None,
        entity,
        since: None,
        as_of: None,
        with_retired: false,
        limit: Some(limit),
    };
    Ok(memory.store.list_facts(scope, &filter, app.now)?)
}

fn search_memories(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let SearchMemories { query, limit } = arguments(value)?;
    let limit = usize::from(limit.unwrap_or(10).clamp(1, 100));
    let found = facts_found(seat, scoped, &query, limit)?;
    Ok(told(json!({ "results": found.iter().map(memory_of).collect::<Vec<_>>() })))
}

fn get_memories(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let ListMemories { limit } = arguments(value)?;
    let limit = usize::from(limit.unwrap_or(50).clamp(1, 500));
    let found = facts_listed(seat, scoped, None, limit)?;
    Ok(told(json!({ "results": found.iter().map(memory_of).collect::<Vec<_>>() })))
}

fn get_memory(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let MemoryId { memory_id } = arguments(value)?;
    let (_, _, memory) = seat.reader()?;
    let scope = asker(&memory.store, scoped)?.scope;
    Ok(told(memory_of(&memory.store.find_fact(scope, &memory_id)?)))
}

fn update_memory(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let UpdateMemory { memory_id, text } = arguments(value)?;
    let scope = existing(seat, scoped, &memory_id)?;
    let (app, home, memory) = seat.writer()?;
    let changed = facts::edit(app, home, (memory, scope), (&memory_id, &text))?;
    Ok(told(json!({ "id": changed.id, "memory": changed.text, "event": "UPDATE" })))
}

fn delete_memory(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let MemoryId { memory_id } = arguments(value)?;
    let scope = existing(seat, scoped, &memory_id)?;
    let (app, home, memory) = seat.writer()?;
    let fact = facts::retire(app, home, (memory, scope), &memory_id)?;
    Ok(told(json!({ "id": name_of(fact.id), "event": "DELETE" })))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Entity {
    name: String,
    entity_type: String,
    observations: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CreateEntities {
    entities: Vec<Entity>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Relation {
    from: String,
    to: String,
    relation_type: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Relations {
    relations: Vec<Relation>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Observation {
    entity_name: String,
    contents: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Observations {
    observations: Vec<Observation>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntityNames {
    entity_names: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Deletion {
    entity_name: String,
    observations: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Deletions {
    deletions: Vec<Deletion>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchNodes {
    query: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Names {
    names: Vec<String>,
}

/// An observation as a sentence that is understood without its graph.
fn sentence(name: &str, observation: &str) -> String {
    match observation.to_lowercase().contains(&name.to_lowercase()) {
        true => observation.to_owned(),
        false => format!("{name}: {observation}"),
    }
}

fn related(relation: &Relation) -> String {
    format!("{} {} {}", relation.from, relation.relation_type.replace('_', " "), relation.to)
}

fn create_entities(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let CreateEntities { entities } = arguments(value)?;
    let mut made = Vec::new();
    for entity in &entities {
        let name = std::slice::from_ref(&entity.name);
        if !entity.entity_type.is_empty() {
            keep(seat, scoped, &format!("{} is a {}", entity.name, entity.entity_type), name)?;
        }
        for observation in &entity.observations {
            keep(seat, scoped, &sentence(&entity.name, observation), name)?;
        }
        made.push(json!({
            "name": entity.name, "entityType": entity.entity_type, "observations": entity.observations,
        }));
    }
    Ok(told(json!({ "entities": made })))
}

fn create_relations(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Relations { relations } = arguments(value)?;
    let mut made = Vec::new();
    for relation in &relations {
        let names = [relation.from.clone(), relation.to.clone()];
        keep(seat, scoped, &related(relation), &names)?;
        made.push(json!({
            "from": relation.from, "to": relation.to, "relationType": relation.relation_type,
        }));
    }
    Ok(told(json!({ "relations": made })))
}

fn add_observations(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Observations { observations } = arguments(value)?;
    let mut results = Vec::new();
    for Observation { entity_name, contents } in &observations {
        for text in contents {
            keep(seat, scoped, &sentence(entity_name, text), std::slice::from_ref(entity_name))?;
        }
        results.push(json!({ "entityName": entity_name, "addedObservations": contents }));
    }
    Ok(told(json!({ "results": results })))
}

fn take_out(
    seat: &mut Seat,
    scoped: &Scoped,
    entity: &str,
    is_meant: impl Fn(&Fact) -> bool,
) -> anyhow::Result<usize> {
    let found = facts_listed(seat, scoped, Some(entity), MOST)?;
    let mut count = 0;
    for fact in found.iter().filter(|fact| is_meant(fact)) {
        let id = name_of(fact.id);
        let scope = existing(seat, scoped, &id)?;
        let (app, home, memory) = seat.writer()?;
        facts::retire(app, home, (memory, scope), &id)?;
        count += 1;
    }
    Ok(count)
}

fn delete_entities(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let EntityNames { entity_names } = arguments(value)?;
    let mut count = 0;
    for name in &entity_names {
        count += take_out(seat, scoped, name, |_| true)?;
    }
    Ok(told(json!({ "success": true, "forgotten": count })))
}

fn delete_observations(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Deletions { deletions } = arguments(value)?;
    let mut count = 0;
    for Deletion { entity_name, observations } in &deletions {
        let meant: Vec<String> = observations
            .iter()
            .flat_map(|text| [text.clone(), sentence(entity_name, text)])
            .collect();
        count += take_out(seat, scoped, entity_name, |fact| meant.contains(&fact.statement))?;
    }
    Ok(told(json!({ "success": true, "forgotten": count })))
}

fn delete_relations(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Relations { relations } = arguments(value)?;
    let mut count = 0;
    for relation in &relations {
        let text = related(relation);
        count += take_out(seat, scoped, &relation.from, |fact| fact.statement == text)?;
    }
    Ok(told(json!({ "success": true, "forgotten": count })))
}

/// Facts by the names they mention; one without a name stands under its kind.
fn graph(found: &[Fact]) -> Value {
    let mut names: Map<String, Value> = Map::new();
    for fact in found {
        let known = fact.entities.first().cloned().unwrap_or_else(|| fact.kind.clone());
        let place = names.entry(known).or_insert_with(|| json!([]));
        if let Some(list) = place.as_array_mut() {
            list.push(Value::from(fact.statement.clone()));
        }
    }
    let entities: Vec<Value> = names
        .into_iter()
        .map(|(name, observations)| {
            json!({ "name": name, "entityType": "name", "observations": observations })
        })
        .collect();
    json!({ "entities": entities, "relations": [] })
}

fn read_graph(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Nothing {} = arguments(value)?;
    Ok(told(graph(&facts_listed(seat, scoped, None, MOST)?)))
}

fn search_nodes(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let SearchNodes { query } = arguments(value)?;
    Ok(told(graph(&facts_found(seat, scoped, &query, 20)?)))
}

fn open_nodes(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Names { names } = arguments(value)?;
    let mut found: Vec<Fact> = Vec::new();
    for name in &names {
        for fact in facts_listed(seat, scoped, Some(name), MOST)? {
            if found.iter().all(|known| known.id != fact.id) {
                found.push(fact);
            }
        }
    }
    Ok(told(graph(&found)))
}

#[derive(Debug, Deserialize, JsonSchema)]
struct FileCommand {
    /// view, create, str_replace or insert
    command: String,
    /// /memories, /memories/MEMORY.md or /memories/USER.md
    path: String,
    /// create: the whole text
    file_text: Option<String>,
    /// str_replace: what stands there, exactly once
    old_str: Option<String>,
    /// str_replace: what is to stand there
    new_str: Option<String>,
    /// insert: after which line; 0 is the beginning
    insert_line: Option<usize>,
    /// insert: what
    insert_text: Option<String>,
}

fn file_command(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let asked: FileCommand = arguments(value)?;
    if asked.path.trim_end_matches('/') == "/memories" && asked.command == "view" {
        let text = "/memories/MEMORY.md\n/memories/USER.md".to_owned();
        return Ok(Told { value: json!({ "text": text }), text });
    }
    let target = match asked.path.as_str() {
        "/memories/MEMORY.md" => MemoryTarget::Memory,
        "/memories/USER.md" => MemoryTarget::User(scoped.user.clone()),
        other => {
            return Err(Problem::new(Failed::NotFound, format!("there is no file {other}"))
                .hint("the files are /memories/MEMORY.md and /memories/USER.md")
                .into());
        }
    };
    let (app, home) = (&seat.app, &seat.home);
    let context = rules::of_change(app, home, &target, "mcp")?;
    let read = memory_file::read(home, &target, context.rules)?;
    let before = read.document.text().to_owned();
    let text = match asked.command.as_str() {
        "view" => return Ok(Told { value: json!({ "text": before }), text: before }),
        "create" => asked.file_text.unwrap_or_default(),
        "str_replace" => replaced(&before, asked.old_str.as_deref(), asked.new_str.as_deref())?,
        "insert" => inserted(&before, asked.insert_line, asked.insert_text.as_deref())?,
        other => {
            return Err(Problem::usage(format!("{other:?} is not done here"))
                .hint("view, create, str_replace or insert; files are not deleted or renamed")
                .into());
        }
    };
    let whole = WholeText { text: &text, expected_hash: &read.hash };
    memory_file::replace_whole(home, &target, &context, &whole)?;
    let said = format!("{} is changed; the earlier text is kept", asked.path);
    Ok(Told { value: json!({ "text": said }), text: said })
}

fn replaced(before: &str, old: Option<&str>, new: Option<&str>) -> Result<String, Problem> {
    let old = old.filter(|old| !old.is_empty());
    let old = old.ok_or_else(|| Problem::usage("old_str is missing"))?;
    match before.matches(old).count() {
        1 => Ok(before.replacen(old, new.unwrap_or_default(), 1)),
        0 => Err(Problem::new(Failed::NotFound, "old_str does not stand in the file")),
        count => Err(Problem::usage(format!("old_str stands {count} times in the file"))),
    }
}

fn inserted(before: &str, line: Option<usize>, text: Option<&str>) -> Result<String, Problem> {
    let (line, text) =
        line.zip(text).ok_or_else(|| Problem::usage("insert_line or insert_text is missing"))?;
    let mut lines: Vec<&str> = before.lines().collect();
    if line > lines.len() {
        return Err(Problem::usage(format!("the file has {} lines", lines.len())));
    }
    lines.insert(line, text.trim_end_matches('\n'));
    Ok(lines.join("\n") + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_replaced_where_it_stands_exactly_once() {
        assert_eq!(replaced("a b c", Some("b"), Some("x")).unwrap(), "a x c");
        assert!(replaced("a b b", Some("b"), Some("x")).is_err());
        assert!(replaced("a", Some("b"), None).is_err() && replaced("a", None, None).is_err());
    }

    #[test]
    fn text_is_inserted_after_a_line() {
        assert_eq!(inserted("a\nb\n", Some(1), Some("x\n")).unwrap(), "a\nx\nb\n");
        assert_eq!(inserted("", Some(0), Some("x")).unwrap(), "x\n");
        assert!(
            inserted("a\n", Some(5), Some("x")).is_err() && inserted("a\n", None, None).is_err()
        );
    }

    #[test]
    fn an_observation_names_what_it_is_about() {
        assert_eq!(sentence("Rosa", "likes tea"), "Rosa: likes tea");
        assert_eq!(sentence("Rosa", "rosa likes tea"), "rosa likes tea");
    }
}
