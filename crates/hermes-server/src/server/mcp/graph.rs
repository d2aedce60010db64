//! The nine tools of the reference memory server: a graph of names and what is known about them.

use std::collections::HashSet;

use hermes_store::memory::Fact;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Scoped;
use super::tool::{
    ADDS, CHANGES, Entry, READS, Told, arguments, existing, facts_found, facts_listed, keep,
    schema, told,
};
use hermes_app::fact_view::name_of;
use hermes_app::facts::Facts;
use hermes_app::pool::Seat;
use hermes_app::problem::Problem;

/// How many facts a whole graph or list holds at most.
const MOST: usize = 1000;
/// How many sentences one call may keep or take out, and how many names it may ask for.
const MOST_SENTENCES: usize = 500;
const MOST_NAMES: usize = 100;

/// The tools in their order.
pub(super) const ALL: &[Entry] = &[
    Entry {
        name: "create_entities",
        title: "Create entities",
        about: "Keep what is known about names.",
        hints: ADDS,
        schema: schema::<CreateEntities>,
        run: create_entities,
    },
    Entry {
        name: "create_relations",
        title: "Create relations",
        about: "Keep how two names belong together.",
        hints: ADDS,
        schema: schema::<Relations>,
        run: create_relations,
    },
    Entry {
        name: "add_observations",
        title: "Add observations",
        about: "Keep more about names.",
        hints: ADDS,
        schema: schema::<Observations>,
        run: add_observations,
    },
    Entry {
        name: "delete_entities",
        title: "Delete entities",
        about: "Take out everything about names.",
        hints: CHANGES,
        schema: schema::<EntityNames>,
        run: delete_entities,
    },
    Entry {
        name: "delete_observations",
        title: "Delete observations",
        about: "Take out single sentences about names.",
        hints: CHANGES,
        schema: schema::<Deletions>,
        run: delete_observations,
    },
    Entry {
        name: "delete_relations",
        title: "Delete relations",
        about: "Take out how two names belong together.",
        hints: CHANGES,
        schema: schema::<Relations>,
        run: delete_relations,
    },
    Entry {
        name: "read_graph",
        title: "Read the graph",
        about: "Everything that is known, by name.",
        hints: READS,
        schema: schema::<Nothing>,
        run: read_graph,
    },
    Entry {
        name: "search_nodes",
        title: "Search nodes",
        about: "What is known that answers a question, by name.",
        hints: READS,
        schema: schema::<SearchNodes>,
        run: search_nodes,
    },
    Entry {
        name: "open_nodes",
        title: "Open nodes",
        about: "What is known about these names.",
        hints: READS,
        schema: schema::<Names>,
        run: open_nodes,
    },
];

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

/// Refuses more at a time than can be done in a moment; nothing was changed then.
fn at_most(count: usize, most: usize, what: &str) -> Result<(), Problem> {
    match count > most {
        false => Ok(()),
        true => {
            Err(Problem::usage(format!("{count} {what} in one call; at most {most} are allowed")))
        }
    }
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
    let count = entities.iter().map(|entity| entity.observations.len() + 1).sum();
    at_most(count, MOST_SENTENCES, "sentences")?;
    let mut made = Vec::new();
    for entity in &entities {
        seat.app.stop.check()?;
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
    at_most(relations.len(), MOST_SENTENCES, "relations")?;
    let mut made = Vec::new();
    for relation in &relations {
        seat.app.stop.check()?;
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
    let count = observations.iter().map(|one| one.contents.len() + 1).sum();
    at_most(count, MOST_SENTENCES, "sentences")?;
    let mut results = Vec::new();
    for Observation { entity_name, contents } in &observations {
        seat.app.stop.check()?;
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
    seat.app.stop.check()?;
    let found = facts_listed(seat, scoped, Some(entity), MOST)?;
    let found: Vec<&Fact> = found.iter().filter(|fact| is_meant(fact)).collect();
    // All or nothing: what is shared may be none of theirs to take out.
    found.iter().try_for_each(|fact| scoped.whom.may_change(fact.user))?;
    let mut count = 0;
    for fact in found {
        let id = name_of(fact.id);
        let scope = existing(seat, scoped, &id)?;
        let (app, home, memory) = seat.writer()?;
        Facts { app, home, memory, scope }.retire(&id)?;
        count += 1;
    }
    Ok(count)
}

fn delete_entities(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let EntityNames { entity_names } = arguments(value)?;
    at_most(entity_names.len(), MOST_NAMES, "names")?;
    let mut count = 0;
    for name in &entity_names {
        count += take_out(seat, scoped, name, |_| true)?;
    }
    Ok(told(json!({ "success": true, "forgotten": count })))
}

fn delete_observations(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Deletions { deletions } = arguments(value)?;
    at_most(deletions.len(), MOST_NAMES, "names")?;
    let mut count = 0;
    for Deletion { entity_name, observations } in &deletions {
        let meant: HashSet<String> = observations
            .iter()
            .flat_map(|text| [text.clone(), sentence(entity_name, text)])
            .collect();
        count += take_out(seat, scoped, entity_name, |fact| meant.contains(&fact.statement))?;
    }
    Ok(told(json!({ "success": true, "forgotten": count })))
}

fn delete_relations(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let Relations { relations } = arguments(value)?;
    at_most(relations.len(), MOST_NAMES, "relations")?;
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
    at_most(names.len(), MOST_NAMES, "names")?;
    let mut known: HashSet<i64> = HashSet::new();
    let mut found: Vec<Fact> = Vec::new();
    for name in &names {
        seat.app.stop.check()?;
        let facts = facts_listed(seat, scoped, Some(name), MOST)?;
        found.extend(facts.into_iter().filter(|fact| known.insert(fact.id)));
        if found.len() >= MOST {
            break;
        }
    }
    found.truncate(MOST);
    Ok(told(graph(&found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_observation_names_what_it_is_about() {
        assert_eq!(sentence("Rosa", "likes tea"), "Rosa: likes tea");
        assert_eq!(sentence("Rosa", "rosa likes tea"), "rosa likes tea");
    }
}
