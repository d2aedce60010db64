//! Copies of what is erased that older versions took in as something else: answers of tools that asked the memory,
//! proposals that say the same, answers to requests.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::{Outcome, entities, index};
use crate::memory::backend::{self, Connection};
use crate::memory::{ItemKind, echo};

/// Removes what tools answered in turns in which the memory was asked: it is a copy of what was remembered then. The
/// message stays, without a word.
pub(crate) fn erase_answers(transaction: &Connection) -> Outcome<()> {
    let calls: Vec<(i64, i64, String, String)> = transaction
        .prepare(CALLS)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<backend::Result<_>>()?;
    let asks = |tool: &str, arguments: &str| {
        echo::answers_from_memory(tool)
            || serde_json::from_str(arguments).is_ok_and(|value: Value| echo::reads_memory(&value))
    };
    let mut messages = BTreeSet::new();
    for (message, number, tool, arguments) in &calls {
        if !asks(tool, arguments) {
            continue;
        }
        messages.insert(*message);
        if arguments != NO_ARGUMENTS {
            transaction.prepare_cached(CLEAR_ARGUMENTS)?.execute([*message, *number])?;
        }
    }
    let mut answers: BTreeSet<i64> = BTreeSet::new();
    for message in messages {
        let mut statement = transaction.prepare_cached(ANSWERS)?;
        let found = statement.query_map([message], |row| row.get(0))?;
        answers.extend(found.collect::<backend::Result<Vec<i64>>>()?);
    }
    let answers: Vec<i64> = answers.into_iter().collect();
    index::remove_texts(transaction, &answers)?;
    for answer in answers {
        entities::forget_names(transaction, ItemKind::Message, answer)?;
        transaction.prepare_cached(CLEAR_MESSAGE)?.execute([answer])?;
    }
    Ok(())
}

/// Removes the proposals that say what a fact says.
pub(crate) fn erase_proposals(transaction: &Connection, statement: &str) -> Outcome<()> {
    let wanted = entities::fold(statement);
    if wanted.is_empty() {
        return Ok(());
    }
    let proposals: Vec<(i64, String)> = transaction
        .prepare_cached(PROPOSALS)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<backend::Result<_>>()?;
    for (id, body) in proposals {
        let says = match serde_json::from_str::<Value>(&body) {
            Ok(value) => says(&value, &wanted),
            Err(_) => entities::fold(&body).contains(&wanted),
        };
        if says {
            transaction.prepare_cached(DROP_PROPOSAL)?.execute([id])?;
        }
    }
    Ok(())
}

fn says(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => entities::fold(text).contains(wanted),
        Value::Array(values) => values.iter().any(|value| says(value, wanted)),
        Value::Object(fields) => fields.values().any(|value| says(value, wanted)),
        _ => false,
    }
}

const NO_ARGUMENTS: &str = "{}";
const CALLS: &str = "select message, number, tool, arguments from step";
const CLEAR_ARGUMENTS: &str = "update step set arguments = '{}' where message = ?1 and number = ?2";
// The messages of an episode lie side by side, between its first and its last place.
const ANSWERS: &str = "
    select m.id from episode e join message m
      on m.id between (e.session << 12) + e.first_place and (e.session << 12) + e.last_place
        and m.episode = e.id
    where e.id = (select episode from message where id = ?1) and m.role = 'tool' and m.text <> ''";
const CLEAR_MESSAGE: &str = "update message set text = '' where id = ?1";
const PROPOSALS: &str = "select id, body from proposal";
const DROP_PROPOSAL: &str = "delete from proposal where id = ?1";
