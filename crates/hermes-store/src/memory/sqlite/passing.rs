//! Which chunks pass the filter of a search; a summary passes by the sessions it tells of.

use crate::memory::sqlite::db;
use std::collections::HashMap;

use crate::memory::sqlite::db::Connection;

use crate::memory::{ChunkKey, ItemKind, RecallFilter, SessionKey};

/// Which chunks pass a filter; the sessions of a summary are looked up when one is found.
pub(super) struct Passing<'a> {
    connection: &'a Connection,
    filter: &'a RecallFilter,
    summaries: HashMap<i64, bool>,
}

impl<'a> Passing<'a> {
    /// The chunks that pass this filter.
    pub(super) fn new(connection: &'a Connection, filter: &'a RecallFilter) -> Passing<'a> {
        Passing { connection, filter, summaries: HashMap::new() }
    }

    /// Whether a chunk passes.
    pub(super) fn has(&mut self, key: ChunkKey) -> db::Result<bool> {
        if !self.filter.passes(key) {
            return Ok(false);
        }
        if key.kind() != Some(ItemKind::Summary) || !self.filter.narrows_sessions() {
            return Ok(true);
        }
        if let Some(passes) = self.summaries.get(&key.item()) {
            return Ok(*passes);
        }
        let sessions: Vec<SessionKey> = self
            .connection
            .prepare_cached(SESSIONS_OF_SUMMARY)?
            .query_map([key.item()], |row| row.get(0).map(SessionKey::from_row))?
            .collect::<db::Result<_>>()?;
        let passes = self.filter.passes_as_summary_of(&sessions);
        self.summaries.insert(key.item(), passes);
        Ok(passes)
    }
}

const SESSIONS_OF_SUMMARY: &str = "select session from summary_session where summary = ?1";
