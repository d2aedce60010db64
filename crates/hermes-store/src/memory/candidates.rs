//! What a search asks of the index: posting lists, nearest vectors, chunks and who said them.

use crate::memory::backend;
use std::ops::RangeInclusive;

use rusqlite::params;

use super::backend::List;
use super::best::Best;
use super::code::QuestionCode;
use super::passing::{Passing, inside, message_ranges};
use super::rows::time;
use super::segments::{self, EMPTY, Model, SLOT, slot_factor, slot_key};
use super::{Memory, ahead, kernel, near, recall_server, tokens, vectors};
use crate::memory::{
    ChunkKey, ChunkRow, Extent, ItemKind, MessageHead, MessageKey, Near, Postings, QuestionVector,
    RecallFilter, Scope, SessionChoice, SessionKey, marks,
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
        self.connection.begin_reading().map_err(|source| self.failed(source))
    }

    /// Lets go of the state that `begin_reading` held on to.
    pub fn end_reading(&self) -> Result<()> {
        self.connection.end_reading().map_err(|source| self.failed(source))
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
        let Some(asked) = all_words_of(word) else {
            return Ok(Postings { chunks: Vec::new(), complete: true, estimated: 0 });
        };
        let mut found = Postings { chunks: Vec::new(), complete: true, estimated: 0 };
        if self.is_on_server() {
            let read = self.postings_on_server(scope, filter, word, cap);
            return read.map_err(|source| self.failed(source));
        }
        let mut read = || -> backend::Result<()> {
            let mut statement = self.asking(scope).prepare_cached(POSTINGS)?;
            let mut passing = Passing::new(self.asking(scope), filter);
            for range in filter.ranges(scope).iter().rev() {
                let mut rows = statement.query(params![asked, range.start(), range.end()])?;
                while let Some(row) = rows.next()? {
                    let key = ChunkKey::from_row(row.get(0)?);
                    if !passing.has(key)? {
                        continue;
                    }
                    if found.chunks.len() == cap {
                        found.complete = false;
                        found.estimated = (cap as f64 / self.share_above(scope, key)?) as usize;
                        return Ok(());
                    }
                    found.chunks.push(key);
                }
            }
            found.estimated = found.chunks.len();
            Ok(())
        };
        read().map_err(|source| self.failed(source))?;
        Ok(found)
    }

    /// The same for several words, in their order.
    pub fn postings_of(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        words: &[String],
        cap: usize,
    ) -> Result<Vec<Postings>> {
        if self.is_on_server() {
            let read = self.postings_of_many(scope, filter, words, cap);
            return read.map_err(|source| self.failed(source));
        }
        words.iter().map(|word| self.postings(scope, filter, word, cap)).collect()
    }

    /// Says of which chunks the things will be asked for next: a store that is far away fetches them together,
    /// and keeps them for as long as `begin_reading` holds.
    pub fn expect(&self, scope: Scope, chunks: &[ChunkKey]) -> Result<()> {
        let Some(server) = self.asking(scope).postgres() else { return Ok(()) };
        ahead::fetch(server, chunks).map_err(|source| self.failed(source))
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
        let mut keys = self
            .nearest_keys(scope, filter, (&model, question.vector), rescored(count))
            .map_err(|source| self.failed(source))?;
        // Neighbours on the disk one after the other.
        keys.sort_unstable();
        let mut near = Vec::with_capacity(keys.len());
        let rescore = || -> backend::Result<()> {
            if let Some(server) = self.asking(scope).postgres() {
                for row in vectors::kept(server, model.id, &keys)? {
                    let similarity = cosine(question.vector, row.try_get(1)?);
                    near.push(Near { key: ChunkKey::from_row(row.try_get(0)?), similarity });
                }
                return Ok(());
            }
            let mut statement = self.asking(scope).prepare_cached(VECTOR)?;
            for key in keys {
                let mut rows = statement.query(params![model.id, key])?;
                if let Some(row) = rows.next()? {
                    let similarity = cosine(question.vector, row.get_ref(0)?.as_blob()?);
                    near.push(Near { key: ChunkKey::from_row(key), similarity });
                }
            }
            Ok(())
        };
        rescore().map_err(|source| self.failed(source))?;
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
        let mut found = Vec::new();
        if let Some(server) = self.asking(scope).postgres() {
            let ranges: Vec<_> = ranges.iter().flat_map(|range| inside(range, &allowed)).collect();
            return recall_server::chunks(server, &ranges, question)
                .map_err(|source| self.failed(source));
        }
        for range in ranges.iter().flat_map(|range| inside(range, &allowed)) {
            self.chunks_in(scope, &range, question, &mut found)
                .map_err(|source| self.failed(source))?;
        }
        Ok(found)
    }

    /// How many chunks the filter leaves: counted up to `limit`, estimated above.
    pub fn extent(&self, scope: Scope, filter: &RecallFilter, limit: usize) -> Result<Extent> {
        let mut chunks = 0;
        if let Some(server) = self.asking(scope).postgres() {
            let counted = recall_server::count(server, scope, filter);
            let chunks = counted.map_err(|source| self.failed(source))?;
            return Ok(Extent { chunks, more: chunks > limit });
        }
        for range in filter.ranges(scope) {
            let left = limit.saturating_sub(chunks) + 1;
            let counted: usize = self
                .asking(scope)
                .prepare_cached(COUNT)
                .and_then(|mut count| {
                    count.query_row(params![range.start(), range.end(), left], |row| row.get(0))
                })
                .map_err(|source| self.failed(source))?;
            chunks += counted;
            if chunks > limit {
                let all = self.estimated_chunks(scope, filter);
                let all = all.map_err(|source| self.failed(source))?;
                return Ok(Extent { chunks: all.max(chunks), more: true });
            }
        }
        Ok(Extent { chunks, more: false })
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
        let mut found: Vec<String> = Vec::new();
        let mut read = || -> backend::Result<()> {
            if let Some(server) = self.asking(scope).postgres() {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let user = scope.user().get();
                for row in server.rows_of(SPEAKERS_OF_ALL, &[user], List::Words(&words))? {
                    found.push(row.try_get(0)?);
                }
                return Ok(());
            }
            let mut statement = self.asking(scope).prepare_cached(SPEAKERS)?;
            for (user, word) in
                scope.readable().iter().flat_map(|user| words.iter().map(move |word| (user, word)))
            {
                let names = statement.query_map(params![user.get(), word], |row| row.get(0))?;
                found.extend(names.collect::<backend::Result<Vec<String>>>()?);
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))?;
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
        let mut found = Vec::new();
        if let Some(server) = self.asking(scope).postgres() {
            let ranges: Vec<_> = ranges.iter().flat_map(|range| inside(range, &allowed)).collect();
            return recall_server::heads(server, &ranges).map_err(|source| self.failed(source));
        }
        let mut read = || -> backend::Result<()> {
            let mut statement = self.asking(scope).prepare_cached(HEADS)?;
            for range in ranges.iter().flat_map(|range| inside(range, &allowed)) {
                let mut rows = statement.query(params![range.start(), range.end()])?;
                while let Some(row) = rows.next()? {
                    found.push(head_of(&row)?);
                }
            }
            Ok(())
        };
        read().map_err(|source| self.failed(source))?;
        Ok(found)
    }
}

impl Memory {
    /// The model of a question's vector; a vector of other dimensions is refused.
    fn model_for(&self, scope: Scope, question: &QuestionVector<'_>) -> Result<Model> {
        let model = segments::model(self.asking(scope), question.model)
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

    /// Which share of the chunks of its user and kind lies above one: sessions are numbered one by one.
    pub(super) fn share_above(&self, scope: Scope, key: ChunkKey) -> backend::Result<f64> {
        Ok(recall_server::share_above(key, self.ends(scope, key)?))
    }

    /// The first and the last chunk of the user and kind of one.
    pub(super) fn ends(&self, scope: Scope, key: ChunkKey) -> backend::Result<Option<(i64, i64)>> {
        let Some(kind) = key.kind() else { return Ok(None) };
        let range = ChunkKey::all_of(key.user(), kind);
        let (first, last): (Option<i64>, Option<i64>) = self
            .asking(scope)
            .prepare_cached(ENDS)?
            .query_row(params![range.start(), range.end()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(first.zip(last))
    }

    /// How many chunks there are, from the sizes of the segments, else by counting.
    fn estimated_chunks(&self, scope: Scope, filter: &RecallFilter) -> backend::Result<usize> {
        let kinds = if filter.kinds.is_empty() { &ItemKind::ALL[..] } else { &filter.kinds };
        let mut users = scope.readable().to_vec();
        users.dedup();
        let mut all = 0;
        for (user, kind) in users.iter().flat_map(|user| kinds.iter().map(move |kind| (user, kind)))
        {
            let used: Option<usize> = self
                .asking(scope)
                .prepare_cached(USED)?
                .query_row(params![user.get(), kind.number()], |row| row.get(0))?;
            let range = ChunkKey::all_of(*user, *kind);
            all += match used {
                Some(used) => used,
                None => self
                    .asking(scope)
                    .prepare_cached(COUNT)?
                    .query_row(params![range.start(), range.end(), 100_000_000], |row| {
                        row.get(0)
                    })?,
            };
        }
        Ok(all)
    }

    /// The numbers of the chunks that seem nearest, in no order: by the index of a server that has one, else
    /// by their codes.
    fn nearest_keys(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        asked: (&Model, &[f32]),
        wanted: usize,
    ) -> backend::Result<Vec<i64>> {
        let connection = self.asking(scope);
        match near::nearest(connection, (scope, filter), asked, wanted) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(error) if connection.postgres().is_some_and(|server| server.loses_near(&error)) => {
            }
            Err(error) => return Err(error),
        }
        self.nearest_codes(scope, filter, asked, wanted)
    }

    /// The numbers of the chunks whose codes are nearest, in no order.
    fn nearest_codes(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        (model, vector): (&Model, &[f32]),
        wanted: usize,
    ) -> backend::Result<Vec<i64>> {
        let code = QuestionCode::new(vector);
        let mut best = Best::new(wanted);
        let mut products = Vec::new();
        let mut passing = Passing::new(self.asking(scope), filter);
        let kinds = if filter.kinds.is_empty() { &ItemKind::ALL[..] } else { &filter.kinds };
        let mut users = scope.readable().to_vec();
        users.dedup();
        if let Some(server) = self.asking(scope).postgres() {
            let users: Vec<i64> = users.iter().map(|user| user.get()).collect();
            vectors::scan(server, model, &users, &code, &mut |estimate, key| {
                let chunk = ChunkKey::from_row(key);
                let is_wanted =
                    estimate > best.limit && chunk.kind().is_some_and(|kind| kinds.contains(&kind));
                if is_wanted && passing.has(chunk)? {
                    best.take(estimate, key);
                }
                Ok(())
            })?;
            return Ok(best.into_keys());
        }
        let mut statement = self.asking(scope).prepare_cached(SEGMENTS)?;
        for (user, kind) in users.iter().flat_map(|user| kinds.iter().map(move |kind| (user, kind)))
        {
            let mut rows = statement.query(params![model.id, user.get(), kind.number()])?;
            while let Some(row) = rows.next()? {
                let used: usize = row.get(0)?;
                let codes = row.get_ref(1)?.as_blob()?;
                let slots = row.get_ref(2)?.as_blob()?;
                let used = used.min(slots.len() / SLOT).min(codes.len() / model.code_bytes());
                kernel::products(&code, &codes[..used * model.code_bytes()], &mut products);
                for (product, slot) in products.iter().zip(slots.chunks_exact(SLOT)) {
                    let estimate = *product as f32 * slot_factor(slot);
                    if estimate <= best.limit {
                        continue;
                    }
                    let key = slot_key(slot);
                    if key != EMPTY && passing.has(ChunkKey::from_row(key))? {
                        best.take(estimate, key);
                    }
                }
            }
        }
        Ok(best.into_keys())
    }

    fn chunks_in(
        &self,
        scope: Scope,
        range: &RangeInclusive<i64>,
        question: Option<&QuestionVector<'_>>,
        found: &mut Vec<ChunkRow>,
    ) -> backend::Result<()> {
        let first = found.len();
        let mut statement = self.asking(scope).prepare_cached(CHUNKS)?;
        let mut rows = statement.query(params![range.start(), range.end()])?;
        while let Some(row) = rows.next()? {
            found.push(ChunkRow {
                key: ChunkKey::from_row(row.get(0)?),
                start: row.get(1)?,
                length: row.get(2)?,
                tokens: tokens::read(row.get_ref(3)?.as_blob()?),
                similarity: None,
            });
        }
        let Some(question) = question else { return Ok(()) };
        let mut statement = self.asking(scope).prepare_cached(VECTORS)?;
        let mut rows = statement.query(params![question.model, range.start(), range.end()])?;
        let mut place = first;
        while let Some(row) = rows.next()? {
            let key: i64 = row.get(0)?;
            while found.get(place).is_some_and(|chunk| chunk.key.get() < key) {
                place += 1;
            }
            if let Some(chunk) = found.get_mut(place).filter(|chunk| chunk.key.get() == key) {
                chunk.similarity = Some(cosine(question.vector, row.get_ref(1)?.as_blob()?));
            }
        }
        Ok(())
    }
}

/// What FTS5 is asked for: every word in quotes, all of them to be there; none if there is no word.
fn all_words_of(text: &str) -> Option<String> {
    let words: Vec<String> =
        crate::sessions::split_words(text).iter().map(|word| format!("\"{word}\"")).collect();
    (!words.is_empty()).then(|| words.join(" AND "))
}

/// The cosine of the question, of length one, with a kept vector.
pub(super) fn cosine(question: &[f32], kept: &[u8]) -> f32 {
    let Some((scale, values)) = kept.split_first_chunk::<4>() else { return 0.0 };
    if values.len() != question.len() {
        return 0.0;
    }
    kernel::dot(question, values) * f32::from_le_bytes(*scale)
}

fn head_of(row: &backend::Row<'_>) -> backend::Result<MessageHead> {
    Ok(MessageHead {
        key: MessageKey::from_row(row.get(0)?),
        episode: row.get(1)?,
        at: time(row, 2)?,
        role: row.get(3)?,
        speaker: row.get(4)?,
        is_question: marks::is_question(row.get(5)?),
        has_time: marks::has_time(row.get(5)?),
    })
}

const POSTINGS: &str = "select rowid from chunk_words where chunk_words match ?1 and rowid between ?2 and ?3 order by rowid desc";
const VECTOR: &str = "select v from vector where model = ?1 and chunk = ?2";
const VECTORS: &str =
    "select chunk, v from vector where model = ?1 and chunk between ?2 and ?3 order by chunk";
const CHUNKS: &str =
    "select id, start, length, tokens from chunk where id between ?1 and ?2 order by id";
const COUNT: &str =
    "select count(*) from (select 1 from chunk where id between ?1 and ?2 limit ?3) counted";
const SPEAKERS: &str = "select name from speaker where user_id = ?1 and word = ?2 limit 20";
const SPEAKERS_OF_ALL: &str =
    "select name from speaker where user_id in (?1, 0) and word = any (?2)";
const ENDS: &str = "
    select (select min(id) from chunk where id between ?1 and ?2),
           (select max(id) from chunk where id between ?1 and ?2)";
const USED: &str = "
    select cast(sum(used) as bigint) from vector_segment
    where model = (select id from embed_model where state = 'active') and user_id = ?1 and kind = ?2";
const SEGMENTS: &str = "
    select s.used, c.codes, t.slots from vector_segment s
    join vector_codes c on c.segment = s.id join vector_slots t on t.segment = s.id
    where s.model = ?1 and s.user_id = ?2 and s.kind = ?3 order by s.number";
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
const HEADS: &str = "select id, episode, at, role, speaker, marks from message where id between ?1 and ?2 order by id";
