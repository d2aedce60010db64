//! What a search asks of the index of a file: the keyword index of SQLite, and segments of codes.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use rusqlite::params;

use super::index::FileWriter;
use super::segments::{self, EMPTY, SLOT, slot_factor, slot_key};
use super::{File, upkeep};
use crate::memory::backend::{Backend as _, Index, IndexWriter, Result, Row};
use crate::memory::best::Best;
use crate::memory::candidates::{cosine, ends, share_above};
use crate::memory::code::QuestionCode;
use crate::memory::passing::Passing;
use crate::memory::rows::time;
use crate::memory::vector_model::Model;
use crate::memory::{
    ChunkKey, ChunkRow, Extent, ItemKind, MessageHead, MessageKey, Near, Outcome, Postings,
    QuestionVector, RecallFilter, Scope, kernel, marks, tokens,
};

impl Index for File {
    fn postings(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        words: &[String],
        cap: usize,
    ) -> Result<Vec<Postings>> {
        words.iter().map(|word| self.postings_of(scope, filter, word, cap)).collect()
    }

    fn nearest(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        (model, vector): (&Model, &[f32]),
        wanted: usize,
    ) -> Result<Vec<i64>> {
        let code = QuestionCode::new(vector);
        let mut best = Best::new(wanted);
        let mut products = Vec::new();
        let mut passing = Passing::new(self.as_backend(), filter);
        let mut statement = self.as_backend().prepare_cached(SEGMENTS)?;
        for (user, kind) in parts(scope, filter) {
            let mut rows = statement.query(params![model.id, user, kind.number()])?;
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

    fn similarities(&self, (model, vector): (&Model, &[f32]), keys: &[i64]) -> Result<Vec<Near>> {
        let mut near = Vec::with_capacity(keys.len());
        let mut statement = self.as_backend().prepare_cached(VECTOR)?;
        for key in keys {
            let mut rows = statement.query([model.id, *key])?;
            if let Some(row) = rows.next()? {
                let similarity = cosine(vector, row.get_ref(0)?.as_blob()?);
                near.push(Near { key: ChunkKey::from_row(*key), similarity });
            }
        }
        Ok(near)
    }

    fn chunks(
        &self,
        ranges: &[RangeInclusive<i64>],
        question: Option<&QuestionVector<'_>>,
    ) -> Result<Vec<ChunkRow>> {
        let mut found = Vec::new();
        for range in ranges {
            self.chunks_in(range, question, &mut found)?;
        }
        Ok(found)
    }

    fn heads(&self, ranges: &[RangeInclusive<i64>]) -> Result<Vec<MessageHead>> {
        let mut found = Vec::new();
        let mut statement = self.as_backend().prepare_cached(HEADS)?;
        for range in ranges {
            let mut rows = statement.query(params![range.start(), range.end()])?;
            while let Some(row) = rows.next()? {
                found.push(head_of(&row)?);
            }
        }
        Ok(found)
    }

    fn extent(&self, scope: Scope, filter: &RecallFilter, limit: usize) -> Result<Extent> {
        let mut chunks = 0;
        for range in filter.ranges(scope) {
            let left = limit.saturating_sub(chunks) + 1;
            chunks += self.count(&range, left)?;
            if chunks > limit {
                let all = self.estimated_chunks(scope, filter)?;
                return Ok(Extent { chunks: all.max(chunks), more: true });
            }
        }
        Ok(Extent { chunks, more: false })
    }

    fn vectors_by_kind(&self, model: &Model) -> Result<HashMap<ItemKind, u64>> {
        upkeep::live_slots(self.as_backend(), model)
    }

    fn writer(&self, model: Option<Model>) -> Box<dyn IndexWriter + '_> {
        Box::new(FileWriter::new(self, model))
    }

    fn remove(&self, keys: &[ChunkKey]) -> Outcome<()> {
        super::index::remove(self, keys)
    }

    fn make_codes(&self, model: i64) -> Outcome<()> {
        segments::rebuild_model(self.as_backend(), model)
    }

    fn drop_retired_codes(&self) -> Result<()> {
        self.execute_batch(segments::DROP_RETIRED)
    }
}

impl File {
    fn postings_of(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        word: &str,
        cap: usize,
    ) -> Result<Postings> {
        let mut found = Postings { chunks: Vec::new(), complete: true, estimated: 0 };
        let Some(asked) = all_words_of(word) else { return Ok(found) };
        let mut statement = self.as_backend().prepare_cached(POSTINGS)?;
        let mut passing = Passing::new(self.as_backend(), filter);
        for range in filter.ranges(scope).iter().rev() {
            let mut rows = statement.query(params![asked, range.start(), range.end()])?;
            while let Some(row) = rows.next()? {
                let key = ChunkKey::from_row(row.get(0)?);
                if !passing.has(key)? {
                    continue;
                }
                if found.chunks.len() == cap {
                    found.complete = false;
                    let share = share_above(key, ends(self.as_backend(), key)?);
                    found.estimated = (cap as f64 / share) as usize;
                    return Ok(found);
                }
                found.chunks.push(key);
            }
        }
        found.estimated = found.chunks.len();
        Ok(found)
    }

    fn count(&self, range: &RangeInclusive<i64>, limit: usize) -> Result<usize> {
        self.as_backend()
            .prepare_cached(COUNT)?
            .query_row(params![range.start(), range.end(), limit], |row| row.get(0))
    }

    /// How many chunks there are, from the sizes of the segments, else by counting.
    fn estimated_chunks(&self, scope: Scope, filter: &RecallFilter) -> Result<usize> {
        let mut all = 0;
        for (user, kind) in parts(scope, filter) {
            let used: Option<usize> = self
                .as_backend()
                .prepare_cached(USED)?
                .query_row([user, kind.number()], |row| row.get(0))?;
            all += match used {
                Some(used) => used,
                None => self.count(
                    &ChunkKey::all_of(crate::memory::UserNumber::new(user), kind),
                    100_000_000,
                )?,
            };
        }
        Ok(all)
    }

    fn chunks_in(
        &self,
        range: &RangeInclusive<i64>,
        question: Option<&QuestionVector<'_>>,
        found: &mut Vec<ChunkRow>,
    ) -> Result<()> {
        let first = found.len();
        let mut statement = self.as_backend().prepare_cached(CHUNKS)?;
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
        let mut statement = self.as_backend().prepare_cached(VECTORS)?;
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

/// Whose things of which kinds a filter leaves.
fn parts(scope: Scope, filter: &RecallFilter) -> Vec<(i64, ItemKind)> {
    let kinds = if filter.kinds.is_empty() { &ItemKind::ALL[..] } else { &filter.kinds };
    let mut users = scope.readable().to_vec();
    users.dedup();
    let of_user = |user: i64| kinds.iter().map(move |kind| (user, *kind));
    users.iter().flat_map(|user| of_user(user.get())).collect()
}

/// What FTS5 is asked for: every word in quotes, all of them to be there; none if there is no word.
fn all_words_of(text: &str) -> Option<String> {
    let words: Vec<String> =
        crate::sessions::split_words(text).iter().map(|word| format!("\"{word}\"")).collect();
    (!words.is_empty()).then(|| words.join(" AND "))
}

fn head_of(row: &Row<'_>) -> Result<MessageHead> {
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
const USED: &str = "
    select cast(sum(used) as bigint) from vector_segment
    where model = (select id from embed_model where state = 'active') and user_id = ?1 and kind = ?2";
const SEGMENTS: &str = "
    select s.used, c.codes, t.slots from vector_segment s
    join vector_codes c on c.segment = s.id join vector_slots t on t.segment = s.id
    where s.model = ?1 and s.user_id = ?2 and s.kind = ?3 order by s.number";
const HEADS: &str = "select id, episode, at, role, speaker, marks from message where id between ?1 and ?2 order by id";
