//! Mem0: a list of memories, bare, below `results`, or one a line.

use std::path::Path;

use serde_json::{Map, Value};

use crate::item::Fact;
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::value::{self, text};
use crate::{Result, elements, files, lines};

/// Reads a file of memories.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let mut input = files::open(path)?;
    let keys = ["results", "memories"];
    let is_list =
        elements::each(path, &mut input, &keys, reading, &mut |reading, (line, object)| {
            memory(reading, path, line, &object)
        })?;
    if is_list {
        return Ok(());
    }
    reading.tally.files -= 1;
    let mut input = files::open(path)?;
    lines::each(path, &mut input, reading, &mut |reading, (line, object)| {
        memory(reading, path, line, &object)
    })
}

fn memory(
    reading: &mut Reading<'_>,
    path: &Path,
    line: u64,
    object: &Map<String, Value>,
) -> Result<()> {
    let said = ["memory", "text", "data"].iter().find_map(|key| text(object, key));
    let Some(said) = said else {
        reading.tally.problem(path, Some(line), "it has no `memory`");
        return Ok(());
    };
    if object.get("deleted").and_then(Value::as_bool) == Some(true) {
        reading.leave(LeftOut::Hidden);
        return Ok(());
    }
    let zone = &reading.options.zone;
    let at = value::time(object.get("created_at"), zone)
        .or_else(|| value::time(object.get("updated_at"), zone));
    reading.fact(Fact {
        id: value::id(object, "id").unwrap_or_else(|| format!("{:016x}", value::print(said))),
        text: said.to_owned(),
        at,
        until: value::time(object.get("expiration_date"), zone),
        ..Fact::default()
    })
}
