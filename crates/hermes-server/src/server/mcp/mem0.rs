//! The memory under the names of Mem0.

use hermes_store::memory::Fact;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Scoped;
use super::tool::{
    ADDS, CHANGES, Entry, READS, Told, arguments, existing, facts_found, facts_listed, keep,
    schema, told,
};
use hermes_app::fact_view::name_of;
use hermes_app::facts::Facts;
use hermes_app::pool::Seat;

/// The names of Mem0.
pub(super) const ALL: &[Entry] = &[
    Entry {
        name: "add_memory",
        title: "Add a memory",
        about: "Keep a fact for later sessions.",
        hints: ADDS,
        schema: schema::<AddMemory>,
        run: add_memory,
    },
    Entry {
        name: "search_memories",
        title: "Search memories",
        about: "Find memories by meaning.",
        hints: READS,
        schema: schema::<SearchMemories>,
        run: search_memories,
    },
    Entry {
        name: "get_memories",
        title: "List memories",
        about: "List memories, newest first.",
        hints: READS,
        schema: schema::<ListMemories>,
        run: get_memories,
    },
    Entry {
        name: "get_memory",
        title: "Get a memory",
        about: "One memory by its id.",
        hints: READS,
        schema: schema::<MemoryId>,
        run: get_memory,
    },
    Entry {
        name: "update_memory",
        title: "Update a memory",
        about: "Give a memory another text; the earlier one is kept.",
        hints: CHANGES,
        schema: schema::<UpdateMemory>,
        run: update_memory,
    },
    Entry {
        name: "delete_memory",
        title: "Delete a memory",
        about: "Take a memory out of every answer; the user can bring it back.",
        hints: CHANGES,
        schema: schema::<MemoryId>,
        run: delete_memory,
    },
];

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

fn add_memory(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let AddMemory { text } = arguments(value)?;
    let id = keep(seat, scoped, &text, &[])?;
    Ok(told(json!({ "results": [{ "id": id, "memory": text, "event": "ADD" }] })))
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
    let scope = scoped.whom.asker(&memory.store)?.scope;
    Ok(told(memory_of(&memory.store.find_fact(scope, &memory_id)?)))
}

fn update_memory(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let UpdateMemory { memory_id, text } = arguments(value)?;
    let scope = existing(seat, scoped, &memory_id)?;
    let (app, home, memory) = seat.writer()?;
    let changed = Facts { app, home, memory, scope }.edit(&memory_id, &text)?;
    Ok(told(json!({ "id": changed.id, "memory": changed.text, "event": "UPDATE" })))
}

fn delete_memory(seat: &mut Seat, scoped: &Scoped, value: Value) -> anyhow::Result<Told> {
    let MemoryId { memory_id } = arguments(value)?;
    let scope = existing(seat, scoped, &memory_id)?;
    let (app, home, memory) = seat.writer()?;
    let fact = Facts { app, home, memory, scope }.retire(&memory_id)?;
    Ok(told(json!({ "id": name_of(fact.id), "event": "DELETE" })))
}
