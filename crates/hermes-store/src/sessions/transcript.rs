//! Show the messages of a session.

use jiff::Timestamp;
use rusqlite::Row;
use serde::Serialize;
use serde_json::Value;

use super::content::{Content, integer_of, parse_json, seconds_of, text_of};
use super::{SessionId, SessionStore, time};
use crate::{Error, Result};

/// Whether a message is part of the conversation as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    /// It is.
    Active,
    /// A summary stands in its place.
    Compacted,
    /// The user took it back.
    Rewound,
}

/// One message of a session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Its number in the database.
    pub id: i64,
    /// The session it is in.
    pub session_id: SessionId,
    /// Who speaks.
    pub role: String,
    /// The words.
    pub text: String,
    /// All parts, where it is more than text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Value>,
    /// The tool whose answer this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The call this answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The tools called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Value>,
    /// When it was said.
    pub timestamp: Timestamp,
    /// Whether it is part of the conversation as it stands.
    pub state: MessageState,
    /// What it costs in tokens, if known.
    pub token_count: Option<i64>,
}

/// Which messages of a session to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// All of them.
    All,
    /// The first so many.
    First(usize),
    /// The last so many.
    Last(usize),
    /// One message with so many before and after it.
    Around {
        /// The message's number.
        message: i64,
        /// How many before it.
        before: usize,
        /// How many after it.
        after: usize,
    },
}

// The inner query is answered by the index alone, so that the end of a long session is near.
const FIRST: &str = "
    select id, session_id, role, content, tool_name, tool_call_id, tool_calls, timestamp, active,
        compacted, token_count
    from message_view where id in (
        select id from message_view where session_id = ?1 and id >= ?2 order by id limit ?3)
    order by id";

const LAST: &str = "
    select id, session_id, role, content, tool_name, tool_call_id, tool_calls, timestamp, active,
        compacted, token_count
    from message_view where id in (
        select id from message_view where session_id = ?1 and id < ?2 order by id desc limit ?3)
    order by id";

impl SessionStore {
    /// Messages of a session in order, also those compacted or taken back.
    pub fn messages(&self, id: &SessionId, window: Window) -> Result<Vec<Message>> {
        self.require_session(id)?;
        let read = |sql, from, limit| self.page(sql, id, from, limit);
        match window {
            Window::All => read(FIRST, i64::MIN, usize::MAX),
            Window::First(count) => read(FIRST, i64::MIN, count),
            Window::Last(count) => read(LAST, i64::MAX, count),
            Window::Around { message, before, after } => {
                let mut shown = read(LAST, message, before)?;
                let rest = read(FIRST, message, after.saturating_add(1))?;
                if rest.first().is_none_or(|first| first.id != message) {
                    return Err(Error::MessageNotFound { session: id.to_string(), message });
                }
                shown.extend(rest);
                Ok(shown)
            }
        }
    }

    fn page(&self, sql: &str, id: &SessionId, from: i64, limit: usize) -> Result<Vec<Message>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || -> rusqlite::Result<Vec<Message>> {
            self.connection()
                .prepare(sql)?
                .query_map((id.as_str(), from, limit), message_from_row)?
                .collect()
        };
        read().map_err(|source| self.fault(source))
    }
}

fn message_from_row(row: &Row<'_>) -> rusqlite::Result<Message> {
    let content = text_of(row.get_ref(3)?).map(Content::decode);
    let text = content.as_ref().map(Content::text).unwrap_or_default();
    let parts = match content {
        Some(Content::Parts(parts)) => Some(parts),
        _ => None,
    };
    let tool_calls =
        text_of(row.get_ref(6)?).map(|stored| parse_json(&stored).unwrap_or(Value::String(stored)));
    let active = integer_of(row.get_ref(8)?) != Some(0);
    let compacted = integer_of(row.get_ref(9)?).unwrap_or(0) != 0;
    Ok(Message {
        id: row.get(0)?,
        session_id: SessionId::from(row.get::<_, String>(1)?),
        role: text_of(row.get_ref(2)?).unwrap_or_default(),
        text,
        parts,
        tool_name: text_of(row.get_ref(4)?),
        tool_call_id: text_of(row.get_ref(5)?),
        tool_calls,
        timestamp: time::from_seconds(seconds_of(row.get_ref(7)?).unwrap_or(0.0)),
        state: match (active, compacted) {
            (true, _) => MessageState::Active,
            (false, true) => MessageState::Compacted,
            (false, false) => MessageState::Rewound,
        },
        token_count: integer_of(row.get_ref(10)?),
    })
}
