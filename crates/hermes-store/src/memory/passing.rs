//! Which chunks pass the filter of a search; a summary passes by the sessions it tells of.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::memory::backend::{self, Connection};
use crate::memory::{ChunkKey, ItemKind, RecallFilter, Scope, SessionKey};

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
    pub(super) fn has(&mut self, key: ChunkKey) -> backend::Result<bool> {
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
            .collect::<backend::Result<_>>()?;
        let passes = self.filter.passes_as_summary_of(&sessions);
        self.summaries.insert(key.item(), passes);
        Ok(passes)
    }
}

/// The parts of a range that are allowed.
pub(super) fn inside(
    range: &RangeInclusive<i64>,
    allowed: &[RangeInclusive<i64>],
) -> impl Iterator<Item = RangeInclusive<i64>> {
    allowed
        .iter()
        .map(|allowed| *range.start().max(allowed.start())..=*range.end().min(allowed.end()))
        .filter(|part| part.start() <= part.end())
        .collect::<Vec<_>>()
        .into_iter()
}

/// The numbers that messages of the scope can have.
pub(super) fn message_ranges(scope: Scope) -> Vec<RangeInclusive<i64>> {
    let filter = RecallFilter { kinds: vec![ItemKind::Message], ..RecallFilter::default() };
    let of_message = |chunk: i64| ChunkKey::from_row(chunk).text();
    filter
        .ranges(scope)
        .iter()
        .map(|range| of_message(*range.start())..=of_message(*range.end()))
        .collect()
}

const SESSIONS_OF_SUMMARY: &str = "select session from summary_session where summary = ?1";
