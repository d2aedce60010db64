//! Write a session as one line of JSON that loses nothing.

use std::io::{self, Write};

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row};
use serde_json::{Map, Value, json};

use super::content::{Content, parse_json};
use super::layout::{Column, Table};
use super::{SessionId, SessionStore};
use crate::{Error, Result};

const LAST_ACTIVE: &str = "select last_active from session_view where id = ?1";

const SYSTEM_PROMPT: &str = "
    select p.prompt from sessions s join system_prompts p on p.hash = s.system_prompt_hash
    where s.id = ?1";

const EVERY_ID: &str = "select id from session_view order by started_at, id";

impl SessionStore {
    /// The id of every session, oldest first.
    pub fn every_id(&self) -> Result<Vec<SessionId>> {
        let read = || -> rusqlite::Result<Vec<SessionId>> {
            self.connection()
                .prepare(EVERY_ID)?
                .query_map([], |row| row.get::<_, String>(0).map(SessionId::from))?
                .collect()
        };
        read().map_err(|source| self.fault(source))
    }

    /// Writes one session as a line of JSON: every column, and every message in order with every
    /// column, also those compacted or taken back.
    pub fn export_session(&self, id: &SessionId, out: &mut dyn Write) -> Result<()> {
        let failed = |source| self.fault(source);
        let unwritten = |source| Error::ExportUnwritten { session: id.to_string(), source };
        // One transaction, so that the counters fit the messages while others write.
        let still = self.connection().unchecked_transaction().map_err(failed)?;
        let session = self
            .session_object(id)
            .map_err(failed)?
            .ok_or_else(|| Error::NotFound { selector: id.to_string() })?;
        let mut line = serde_json::to_vec(&session).map_err(|e| unwritten(e.into()))?;
        // The object stays open: the messages follow one by one.
        line.pop();
        line.extend_from_slice(b",\"messages\":[");
        out.write_all(&line).map_err(unwritten)?;
        self.export_messages(id, out)?;
        out.write_all(b"]}\n").map_err(unwritten)?;
        still.finish().map_err(failed)
    }

    fn session_object(&self, id: &SessionId) -> rusqlite::Result<Option<Map<String, Value>>> {
        let columns = self.layout().columns(Table::Sessions);
        let found = self
            .connection()
            .query_row(&self.layout().select_all(Table::Sessions), [id.as_str()], |row| {
                object(row, columns)
            })
            .optional()?;
        let Some(mut session) = found else { return Ok(None) };
        if session.get("system_prompt").is_some_and(Value::is_null)
            && self.layout().has_table("system_prompts")
        {
            let prompt: Option<Option<String>> = self
                .connection()
                .query_row(SYSTEM_PROMPT, [id.as_str()], |row| row.get(0))
                .optional()?;
            session.insert("system_prompt".to_owned(), json!(prompt.flatten()));
        }
        let last_active: Option<f64> =
            self.connection().query_row(LAST_ACTIVE, [id.as_str()], |row| row.get(0))?;
        session.insert("last_active".to_owned(), json!(last_active));
        Ok(Some(session))
    }

    fn export_messages(&self, id: &SessionId, out: &mut dyn Write) -> Result<()> {
        let failed = |source| self.fault(source);
        let unwritten =
            |source: io::Error| Error::ExportUnwritten { session: id.to_string(), source };
        let columns = self.layout().columns(Table::Messages);
        let mut statement = self
            .connection()
            .prepare(&self.layout().select_all(Table::Messages))
            .map_err(failed)?;
        let mut rows = statement.query([id.as_str()]).map_err(failed)?;
        let mut is_first = true;
        while let Some(row) = rows.next().map_err(failed)? {
            let message = object(row, columns).map_err(failed)?;
            let mut text = if is_first { Vec::new() } else { vec![b','] };
            serde_json::to_writer(&mut text, &message).map_err(|e| unwritten(e.into()))?;
            out.write_all(&text).map_err(unwritten)?;
            is_first = false;
        }
        Ok(())
    }
}

fn object(row: &Row<'_>, columns: &[Column]) -> rusqlite::Result<Map<String, Value>> {
    let mut fields = Map::with_capacity(columns.len() + 2);
    for (at, column) in columns.iter().enumerate() {
        fields.insert(column.name.clone(), field(&column.name, row.get_ref(at)?));
    }
    Ok(fields)
}

fn field(name: &str, stored: ValueRef<'_>) -> Value {
    match stored {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Blob(bytes) => json!({ "hex": hexadecimal(bytes) }),
        ValueRef::Text(bytes) => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            match name {
                "content" => json!(Content::decode(text)),
                "tool_calls" => parse_json(&text).unwrap_or(Value::String(text)),
                _ => Value::String(text),
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
