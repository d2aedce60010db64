//! The memory.jsonl of the MCP reference server: observations and relations become facts about their names.

use std::path::Path;

use serde_json::{Map, Value};

use crate::item::Fact;
use crate::reading::Reading;
use crate::value::{self, text};
use crate::{Result, files, lines};

/// Reads a memory.jsonl.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let mut input = files::open(path)?;
    lines::each(path, &mut input, reading, &mut |reading, (line, object)| {
        let taken = match text(&object, "type") {
            Some("entity") => entity(reading, &object)?,
            Some("relation") => relation(reading, &object)?,
            _ => false,
        };
        if !taken {
            reading.tally.problem(path, Some(line), "neither an entity nor a relation");
        }
        Ok(())
    })
}

fn entity(reading: &mut Reading<'_>, object: &Map<String, Value>) -> Result<bool> {
    let Some(name) = text(object, "name") else { return Ok(false) };
    let empty = Vec::new();
    let observations = object.get("observations").and_then(Value::as_array).unwrap_or(&empty);
    for said in observations.iter().filter_map(Value::as_str) {
        let said = said.trim();
        let names_it = said.to_lowercase().contains(&name.to_lowercase());
        let sentence = if names_it { said.to_owned() } else { format!("{name}: {said}") };
        reading.fact(Fact {
            id: format!("{:016x}", value::print(&format!("{name}\n{said}"))),
            text: if said.is_empty() { String::new() } else { sentence },
            subject: Some(name.to_owned()),
            names: vec![name.to_owned()],
            ..Fact::default()
        })?;
    }
    Ok(true)
}

fn relation(reading: &mut Reading<'_>, object: &Map<String, Value>) -> Result<bool> {
    let parts = ["from", "relationType", "to"].map(|key| text(object, key));
    let [Some(from), Some(relation), Some(to)] = parts else { return Ok(false) };
    reading.fact(Fact {
        id: format!("{:016x}", value::print(&format!("{from}\n{relation}\n{to}"))),
        text: format!("{from} {} {to}", relation.replace('_', " ")),
        subject: Some(from.to_owned()),
        names: vec![from.to_owned(), to.to_owned()],
        ..Fact::default()
    })?;
    Ok(true)
}
