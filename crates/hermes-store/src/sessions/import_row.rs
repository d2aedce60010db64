//! One line of an import as rows of the tables.

use std::collections::BTreeSet;

use rusqlite::Row;
use rusqlite::types::Value as Sql;
use serde_json::{Map, Value};

use super::content::{Content, mend_surrogates, python_json, text_of, without_nul};
use super::layout::{Layout, Table};
use super::record::Counts;
use super::time;

type Object = Map<String, Value>;

/// One session of an import, checked but not yet turned into rows.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    /// A title that is not blank.
    pub(super) title: Option<String>,
    pub(super) session: Object,
    messages: Vec<Value>,
}

/// Reads one line; the error says what is wrong with it.
pub(super) fn parse(line: &[u8]) -> Result<Incoming, String> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let parsed: Value = serde_json::from_slice(&mend_surrogates(line))
        .map_err(|error| format!("it is not JSON: {error}"))?;
    let Value::Object(mut session) = parsed else {
        return Err("it is not a JSON object".to_owned());
    };
    let id = match session.get("id") {
        Some(Value::String(id)) if !id.trim().is_empty() => id.trim().to_owned(),
        _ => return Err("the session has no id".to_owned()),
    };
    session.insert("id".to_owned(), id.clone().into());
    let messages = match session.shift_remove("messages") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(messages)) => messages,
        Some(_) => return Err("`messages` is not a list".to_owned()),
    };
    for (number, message) in (1..).zip(&messages) {
        check_message(message).map_err(|why| format!("message {number} {why}"))?;
    }
    let text = |name: &str| {
        let text = session.get(name).and_then(Value::as_str)?;
        (!text.trim().is_empty()).then(|| text.to_owned())
    };
    let parent = text("parent_session_id").map(|parent| parent.trim().to_owned());
    Ok(Incoming { parent, title: text("title"), id, session, messages })
}

fn check_message(message: &Value) -> Result<(), String> {
    let Value::Object(fields) = message else {
        return Err("is not a JSON object".to_owned());
    };
    match fields.get("role") {
        Some(Value::String(role)) if !role.is_empty() => {}
        _ => return Err("has no role".to_owned()),
    }
    match fields.get("timestamp") {
        Some(given @ (Value::String(_) | Value::Number(_))) if seconds(given).is_none() => {
            Err(format!("has a time that cannot be read: {given}"))
        }
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            Err("has a time that is not valid".to_owned())
        }
        _ => Ok(()),
    }
}

impl Incoming {
    /// How many messages it has.
    pub(super) fn length(&self) -> usize {
        self.messages.len()
    }

    /// Its messages, in order.
    pub(super) fn messages(&self) -> impl Iterator<Item = &Object> {
        self.messages.iter().filter_map(Value::as_object)
    }

    /// How many of its messages are more than text.
    pub(super) fn messages_with_parts(&self) -> u64 {
        let has_parts = |message: &&Object| {
            message.get("content").is_some_and(|content| content.is_array() || content.is_object())
        };
        self.messages().filter(has_parts).map(|_| 1).sum()
    }

    /// When it began: as it says, or with its first message, or now.
    pub(super) fn started_at(&self, now: f64) -> f64 {
        let given = |object: &Object, names: &[&str]| {
            names.iter().find_map(|name| object.get(*name).and_then(seconds))
        };
        given(&self.session, &["started_at", "created_at"])
            .or_else(|| given(self.messages().next()?, &["timestamp", "created_at"]))
            .unwrap_or(now)
    }

    /// Notes every field that has no column.
    pub(super) fn note_ignored(
        &self,
        sessions: &RowShape,
        messages: &RowShape,
        ignored: &mut BTreeSet<String>,
    ) {
        sessions.note_ignored(&self.session, ignored);
        for message in self.messages() {
            messages.note_ignored(message, ignored);
        }
    }
}

/// The columns we fill when adding a row, and what stands in each by default.
#[derive(Debug)]
pub(super) struct RowShape {
    table: Table,
    columns: Vec<Target>,
}

#[derive(Debug)]
struct Target {
    name: String,
    older_or_newer_name: Option<&'static str>,
    default: Sql,
    not_null: bool,
    is_blob: bool,
    must_avoid_nul: bool,
    time: Option<TimeForm>,
}

#[derive(Debug, Clone, Copy)]
enum TimeForm {
    Number,
    Text,
}

const TIMES: &[&str] = &["started_at", "ended_at", "timestamp", "created_at"];

/// Fields of an export that are worked out, not stored.
const WORKED_OUT: &[&str] = &["id", "session_id", "last_active", "preview", "system_prompt_hash"];

impl RowShape {
    pub(super) fn of(layout: &Layout, table: Table) -> RowShape {
        let target = |column: &super::layout::Column| Target {
            older_or_newer_name: Layout::other_name(table, &column.name),
            default: literal(column.default()),
            not_null: column.is_not_null(),
            is_blob: column.is_blob(),
            must_avoid_nul: table == Table::Messages && layout.must_avoid_nul(),
            time: TIMES.contains(&column.name.as_str()).then_some(match column.is_number() {
                true => TimeForm::Number,
                false => TimeForm::Text,
            }),
            name: column.name.clone(),
        };
        let is_ours_to_fill = |name: &str| match table {
            // The prompt itself is stored; its hash would point at a row that is not here.
            Table::Sessions => name != "system_prompt_hash",
            Table::Messages => name != "id",
        };
        let columns = layout.columns(table).iter().filter(|c| is_ours_to_fill(&c.name));
        RowShape { table, columns: columns.map(target).collect() }
    }

    /// The columns, in the order of a row.
    pub(super) fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// The values of a row; defaults where the object has none.
    pub(super) fn row(&self, object: &Object) -> Vec<Sql> {
        self.columns
            .iter()
            .map(|column| match column.given(object) {
                None => column.default.clone(),
                Some(Value::Null) if column.not_null => column.default.clone(),
                Some(value) => column.store(value),
            })
            .collect()
    }

    /// Sets a column, under whatever name it has here.
    pub(super) fn set(&self, row: &mut [Sql], name: &str, value: Sql) {
        if let Some(at) = self.position(name) {
            row[at] = value;
        }
    }

    /// Sets a column that has nothing in it yet.
    pub(super) fn set_missing(&self, row: &mut [Sql], name: &str, value: impl FnOnce() -> Sql) {
        if let Some(at) = self.position(name)
            && row[at] == Sql::Null
        {
            row[at] = value();
        }
    }

    /// Sets a time that is missing, and returns the time the row then has.
    pub(super) fn set_missing_time(&self, row: &mut [Sql], name: &str, seconds: f64) -> f64 {
        if let Some(given) = self.time(row, name) {
            return given;
        }
        if let Some(at) = self.position(name) {
            row[at] = self.columns[at].store_time(seconds);
        }
        seconds
    }

    /// The time a row has, in seconds.
    pub(super) fn time(&self, row: &[Sql], name: &str) -> Option<f64> {
        match &row[self.position(name)?] {
            Sql::Real(given) => Some(*given),
            Sql::Integer(given) => Some(*given as f64),
            Sql::Text(given) => time::parse_seconds(given),
            Sql::Null | Sql::Blob(_) => None,
        }
    }

    /// What tells the message of a row from others of its session.
    pub(super) fn key(&self, row: &[Sql]) -> Key {
        let text = |name| match self.position(name).map(|at| &row[at]) {
            Some(Sql::Text(text)) => Some(text.clone()),
            Some(Sql::Integer(number)) => Some(number.to_string()),
            Some(Sql::Real(number)) => Some(number.to_string()),
            _ => None,
        };
        Key::new(text("role"), text("content"), text("tool_call_id"))
    }

    /// Counts the message of a row if it is live.
    pub(super) fn count(&self, live: &mut Counts, row: &[Sql], message: &Object) {
        let is_active = self.position("active").is_none_or(|at| row[at] != Sql::Integer(0));
        if is_active {
            live.add(message.get("tool_calls"));
        }
    }

    fn note_ignored(&self, object: &Object, ignored: &mut BTreeSet<String>) {
        let is_known = |field: &str| {
            WORKED_OUT.contains(&field)
                || self
                    .columns
                    .iter()
                    .any(|column| column.name == field || column.older_or_newer_name == Some(field))
        };
        for field in object.keys().filter(|field| !is_known(field)) {
            let full_name = format!("{}.{field}", self.table.name());
            ignored.insert(full_name);
        }
    }

    fn position(&self, name: &str) -> Option<usize> {
        let here = |name: &str| self.columns.iter().position(|column| column.name == name);
        here(name).or_else(|| here(Layout::other_name(self.table, name)?))
    }
}

impl Target {
    fn given<'a>(&self, object: &'a Object) -> Option<&'a Value> {
        object.get(&self.name).or_else(|| object.get(self.older_or_newer_name?))
    }

    fn store(&self, value: &Value) -> Sql {
        if self.time.is_some() {
            return seconds(value).map_or(Sql::Null, |seconds| self.store_time(seconds));
        }
        match value {
            Value::Null => Sql::Null,
            Value::Bool(flag) => Sql::Integer(i64::from(*flag)),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Sql::Integer(whole),
                (None, Some(real)) => Sql::Real(real),
                (None, None) => Sql::Text(number.to_string()),
            },
            Value::String(text) if self.must_avoid_nul => Sql::Text(without_nul(text)),
            Value::String(text) if self.name == "content" => {
                Sql::Text(Content::Text(text.clone()).encode())
            }
            Value::String(text) => Sql::Text(text.clone()),
            parts if self.name == "content" => {
                let content = Content::Parts(parts.clone());
                Sql::Text(match self.must_avoid_nul {
                    true => content.encode_without_nul(),
                    false => content.encode(),
                })
            }
            bytes if self.is_blob => bytes
                .get("hex")
                .and_then(Value::as_str)
                .and_then(bytes_of)
                .map_or(Sql::Null, Sql::Blob),
            structured => Sql::Text(python_json(structured)),
        }
    }

    fn store_time(&self, seconds: f64) -> Sql {
        match self.time {
            Some(TimeForm::Text) => Sql::Text(time::to_text(time::from_seconds(seconds))),
            _ => Sql::Real(seconds),
        }
    }
}

/// What tells a message from the others of its session, but for the time.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    role: Option<String>,
    content: Option<String>,
    tool_call_id: Option<String>,
}

impl Key {
    /// From role, content and tool call of a message that is here.
    pub(super) fn from_row(row: &Row<'_>, layout: &Layout) -> rusqlite::Result<Key> {
        let text = |column| Ok::<_, rusqlite::Error>(text_of(row.get_ref(column)?));
        let content = match (text(1)?, layout.must_avoid_nul()) {
            // An import into this database brings the words alone.
            (Some(stored), true) => Some(Content::decode(stored).encode_without_nul()),
            (stored, _) => stored,
        };
        Ok(Key::new(text(0)?, content, text(2)?))
    }

    fn new(role: Option<String>, content: Option<String>, tool_call_id: Option<String>) -> Key {
        // Read and written once more, since two programs write the same JSON in two ways.
        let content = content.map(|stored| match stored.starts_with('\0') {
            true => Content::decode(stored).encode(),
            false => stored,
        });
        Key { role, content, tool_call_id }
    }
}

fn seconds(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => time::parse_seconds(text),
        _ => None,
    }
}

/// The value of a default in a schema, where it is a plain literal.
fn literal(default: Option<&str>) -> Sql {
    let Some(text) = default else { return Sql::Null };
    if let Ok(number) = text.parse() {
        return Sql::Integer(number);
    }
    if let Ok(number) = text.parse() {
        return Sql::Real(number);
    }
    match text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        Some(inner) => Sql::Text(inner.replace("''", "'")),
        None => Sql::Null,
    }
}

fn bytes_of(hexadecimal: &str) -> Option<Vec<u8>> {
    let digits = hexadecimal.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.chunks(2).map(pair).collect()
}
