//! What a search asks of the index: posting lists, nearest vectors, chunks and who said them.

use std::ops::RangeInclusive;

use rusqlite::params;

use super::backend::{self, Begin, Connection, List, Many};
use super::passing::{inside, message_ranges};
use super::vector_model::{self, Model};
use super::{Memory, kernel};
use crate::memory::{
    ChunkKey, ChunkRow, Extent, MessageHead, Near, Postings, QuestionVector, RecallFilter, Scope,
    SessionChoice, SessionKey,
};
use crate::{Error, Result};

/// Up to here a caller wants the very nearest, above it candidates.
const FEW: usize = 20;
/// How many of the chunks with the nearest codes are compared exactly for the very nearest.
const RESCORED: usize = 200;

/// How many codes are compared exactly: where a hundred candidates are scored by other means anyway,
/// the estimate of the codes is good enough to choose them.
fn rescored(count: usize) -> usize {
    if count <= FEW { RESCORED } else { count + count / 4 }
}

impl Memory {
    /// Holds on to the present state for the reads that follow; false if one is held already.
    pub fn begin_reading(&self) -> Result<bool> {
        self.connection.begin(Begin::Reading).map_err(|source| self.failed(source))
    }

    /// Lets go of the state that `begin_reading` held on to.
    pub fn end_reading(&self) -> Result<()> {
        self.connection.roll_back();
        Ok(())
    }

    /// Fails when whoever asked waits no longer: for loops between the reads.
    pub fn still_wanted(&self) -> Result<()> {
        self.stop.check()
    }

    /// The chunks that hold the word (its forms too), up to `cap`, newest sessions first.
    pub fn postings(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        word: &str,
        cap: usize,
    ) -> Result<Postings> {
        let found = self.postings_of(scope, filter, &[word.to_owned()], cap)?;
        let none = Postings { chunks: Vec::new(), complete: true, estimated: 0 };
        Ok(found.into_iter().next().unwrap_or(none))
    }

    /// The same for several words, in their order.
    pub fn postings_of(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        words: &[String],
        cap: usize,
    ) -> Result<Vec<Postings>> {
        let found = self.asking(scope).index().postings(scope, filter, words, cap);
        found.map_err(|source| self.failed(source))
    }

    /// Says of which chunks the things will be asked for next: a store that is far away fetches them together,
    /// and keeps them for as long as `begin_reading` holds.
    pub fn expect(&self, scope: Scope, chunks: &[ChunkKey]) -> Result<()> {
        self.asking(scope).expect(chunks).map_err(|source| self.failed(source))
    }

    /// The chunks nearest to a vector of the model, best first.
    pub fn nearest(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        question: &QuestionVector<'_>,
        count: usize,
    ) -> Result<Vec<Near>> {
        let model = self.model_for(scope, question)?;
        let asked = (&model, question.vector);
        let find = || -> backend::Result<Vec<Near>> {
            let index = self.asking(scope).index();
            let mut keys = index.nearest(scope, filter, asked, rescored(count))?;
            // Neighbours on the disk one after the other.
            keys.sort_unstable();
            index.similarities(asked, &keys)
        };
        let mut near = find().map_err(|source| self.failed(source))?;
        near.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(b.key.cmp(&a.key)));
        near.dedup_by_key(|found| found.key);
        near.truncate(count);
        Ok(near)
    }

    /// The chunks inside the given ranges of numbers, with their similarity to the question.
    pub fn chunks(
        &self,
        scope: Scope,
        ranges: &[RangeInclusive<i64>],
        question: Option<&QuestionVector<'_>>,
    ) -> Result<Vec<ChunkRow>> {
        if let Some(question) = question {
            self.model_for(scope, question)?;
        }
        let allowed = RecallFilter::default().ranges(scope);
        let ranges: Vec<_> = ranges.iter().flat_map(|range| inside(range, &allowed)).collect();
        let found = self.asking(scope).index().chunks(&ranges, question);
        found.map_err(|source| self.failed(source))
    }

    /// How many chunks the filter leaves: counted up to `limit`, estimated above.
    pub fn extent(&self, scope: Scope, filter: &RecallFilter, limit: usize) -> Result<Extent> {
        let found = self.asking(scope).index().extent(scope, filter, limit);
        found.map_err(|source| self.failed(source))
    }

    /// The sessions that are meant, sorted; only the scope's own.
    pub fn sessions(&self, scope: Scope, choice: &SessionChoice<'_>) -> Result<Vec<SessionKey>> {
        let mut found: Vec<SessionKey> = Vec::new();
        let statement = if choice.session_id.is_some() { SESSION_NAMED } else { SESSIONS };
        for user in scope.readable() {
            let read = || -> backend::Result<Vec<SessionKey>> {
                self.asking(scope)
                    .prepare_cached(statement)?
                    .query_map(
                        params![
                            user.get(),
                            choice.session_id,
                            choice.channel,
                            choice.since.map(|at| at.as_millisecond()),
                            choice.until.map(|at| at.as_millisecond())
                        ],
                        |row| row.get(0).map(SessionKey::from_row),
                    )?
                    .collect()
            };
            found.extend(read().map_err(|source| self.failed(source))?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The names of speakers that have one of these words (in lower case) in them.
    pub fn speakers(&self, scope: Scope, words: &[String]) -> Result<Vec<String>> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (user, list) = ([scope.user().get()], List::Words(&words));
        let found = self.asking(scope).many_of(&SPEAKERS, &user, list, |row| row.get(0));
        let mut found: Vec<String> = found.map_err(|source| self.failed(source))?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Who said these messages, and when; in the order of the numbers.
    pub fn message_heads(
        &self,
        scope: Scope,
        ranges: &[RangeInclusive<i64>],
    ) -> Result<Vec<MessageHead>> {
        let allowed = message_ranges(scope);
        let ranges: Vec<_> = ranges.iter().flat_map(|range| inside(range, &allowed)).collect();
        let found = self.asking(scope).index().heads(&ranges);
        found.map_err(|source| self.failed(source))
    }

    /// The model of a question's vector; a vector of other dimensions is refused.
    fn model_for(&self, scope: Scope, question: &QuestionVector<'_>) -> Result<Model> {
        let model = vector_model::model(self.asking(scope), question.model)
            .map_err(|source| self.failed(source))?
            .ok_or_else(|| Error::NoSuchItem {
                item: format!("embedding model {}", question.model),
            })?;
        if model.dims != question.vector.len() {
            return Err(Error::WrongDimensions {
                model: model.name,
                found: question.vector.len(),
                wanted: model.dims,
            });
        }
        Ok(model)
    }
}

/// Which share of the chunks between the first and the last lies above one: sessions are numbered one by one.
pub(super) fn share_above(key: ChunkKey, ends: Option<(i64, i64)>) -> f64 {
    let Some((first, last)) = ends else { return 1.0 };
    ((last - key.get()) as f64 / (last - first).max(1) as f64).clamp(1e-6, 1.0)
}

/// The first and the last chunk of the user and kind of one.
pub(super) fn ends(connection: &Connection, key: ChunkKey) -> backend::Result<Option<(i64, i64)>> {
    let Some(kind) = key.kind() else { return Ok(None) };
    let range = ChunkKey::all_of(key.user(), kind);
    let (first, last): (Option<i64>, Option<i64>) = connection
        .prepare_cached(ENDS)?
        .query_row(params![range.start(), range.end()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(first.zip(last))
}

/// The cosine of the question, of length one, with a kept vector.
pub(super) fn cosine(question: &[f32], kept: &[u8]) -> f32 {
    let Some((scale, values)) = kept.split_first_chunk::<4>() else { return 0.0 };
    if values.len() != question.len() {
        return 0.0;
    }
    kernel::dot(question, values) * f32::from_le_bytes(*scale)
}

const SPEAKERS: Many = Many {
    each: "select name from speaker where user_id in (?1, 0) and word = ?2 limit 40",
    all: "select name from speaker where user_id in (?1, 0) and word = any (?2)",
};
const ENDS: &str = "
    select (select min(id) from chunk where id between ?1 and ?2),
           (select max(id) from chunk where id between ?1 and ?2)";
const SESSIONS: &str = "
    select id from session
    where user_id = ?1 and cast(?2 as text) is null
      and (cast(?3 as text) is null or channel = (select id from label where text = ?3))
      and (cast(?4 as bigint) is null or last_at >= ?4) and (cast(?5 as bigint) is null or started_at < ?5)";
// With `?2 is null or` in one statement, every session would be looked at.
const SESSION_NAMED: &str = "
    select id from session
    where session_id = ?2 and user_id = ?1
      and (cast(?3 as text) is null or channel = (select id from label where text = ?3))
      and (cast(?4 as bigint) is null or last_at >= ?4) and (cast(?5 as bigint) is null or started_at < ?5)";
