//! How much is in a state.db.

use jiff::Timestamp;
use rusqlite::Connection;
use serde::Serialize;

use super::layout::{Layout, Owner};
use super::{SessionStore, time};
use crate::Result;
use crate::sqlite::beside;

/// How much is in a state.db.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionStats {
    /// Whose database it is.
    pub owner: Owner,
    /// The number in its table `schema_version`.
    pub schema_version: i64,
    /// How many sessions there are.
    pub sessions: i64,
    /// How many messages, live or not.
    pub messages: i64,
    /// The same by source, the largest first.
    pub by_source: Vec<SourceStats>,
    /// When the first message was said.
    pub first_message_at: Option<Timestamp>,
    /// When the last message was said.
    pub last_message_at: Option<Timestamp>,
    /// How many bytes the texts of the messages have.
    pub text_bytes: i64,
    /// How many bytes the database has on disk, with its log.
    pub bytes_on_disk: u64,
    /// How many messages the full-text index knows, if there is one.
    pub full_text_rows: Option<i64>,
}

/// How much came from one source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceStats {
    /// The source, such as `cli`.
    pub source: String,
    /// How many sessions.
    pub sessions: i64,
    /// How many messages, live or not.
    pub messages: i64,
}

const TOTALS: &str = "
    select (select count(*) from session_view), count(*), min(timestamp), max(timestamp),
        coalesce(sum(octet_length(content)), 0)
    from message_view";

const BY_SOURCE: &str = "
    select source, count(*), coalesce(sum(
        (select count(*) from message_view m where m.session_id = s.id)), 0)
    from session_view s group by source order by 2 desc, 1";

/// The table FTS5 keeps beside an index with one row for each text; counting the index itself
/// would read every text.
const FULL_TEXT_ROWS: &str = "select count(*) from messages_fts_docsize";

impl SessionStore {
    /// Counts what is there.
    pub fn stats(&self) -> Result<SessionStats> {
        self.count_all().map_err(|source| self.fault(source))
    }

    fn count_all(&self) -> rusqlite::Result<SessionStats> {
        let connection = self.connection();
        connection.query_row(TOTALS, [], |row| {
            Ok(SessionStats {
                owner: self.layout().owner(),
                schema_version: self.layout().schema_version(),
                sessions: row.get(0)?,
                messages: row.get(1)?,
                by_source: by_source(connection)?,
                first_message_at: row.get::<_, Option<f64>>(2)?.map(time::from_seconds),
                last_message_at: row.get::<_, Option<f64>>(3)?.map(time::from_seconds),
                text_bytes: row.get(4)?,
                bytes_on_disk: self.bytes_on_disk(),
                full_text_rows: full_text_rows(connection, self.layout())?,
            })
        })
    }

    fn bytes_on_disk(&self) -> u64 {
        ["", "-wal", "-shm"]
            .iter()
            .filter_map(|suffix| beside(self.path(), suffix).metadata().ok())
            .map(|file| file.len())
            .sum()
    }
}

/// How many messages the full-text index knows; `None` if there is no such index.
pub(super) fn full_text_rows(
    connection: &Connection,
    layout: &Layout,
) -> rusqlite::Result<Option<i64>> {
    if !layout.has_table("messages_fts_docsize") {
        return Ok(None);
    }
    connection.query_row(FULL_TEXT_ROWS, [], |row| row.get(0)).map(Some)
}

fn by_source(connection: &Connection) -> rusqlite::Result<Vec<SourceStats>> {
    connection
        .prepare(BY_SOURCE)?
        .query_map([], |row| {
            Ok(SourceStats { source: row.get(0)?, sessions: row.get(1)?, messages: row.get(2)? })
        })?
        .collect()
}
