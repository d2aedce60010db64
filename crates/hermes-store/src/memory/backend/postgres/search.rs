//! What a search asks of a server, in as few statements as there are kinds of things to ask.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use ::postgres::types::{ToSql, Type};
use jiff::Timestamp;

use super::writing::ServerWriter;
use super::{Server, near, vectors, words};
use crate::memory::backend::{Index, IndexWriter, Result};
use crate::memory::best::Best;
use crate::memory::candidates::{cosine, ends, share_above};
use crate::memory::code::QuestionCode;
use crate::memory::passing::Passing;
use crate::memory::vector_model::{Model, model};
use crate::memory::{
    ChunkKey, ChunkRow, Extent, ItemKind, MessageHead, MessageKey, Near, Outcome, Postings,
    QuestionVector, RecallFilter, Scope, marks, tokens,
};

impl Index for Server {
    fn postings(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        words: &[String],
        cap: usize,
    ) -> Result<Vec<Postings>> {
        match words {
            [word] => Ok(vec![self.postings_of(scope, filter, word, cap)?]),
            words => self.postings_of_many(scope, filter, words, cap),
        }
    }

    /// By the index of a server that has one, else by the codes.
    fn nearest(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        asked: (&Model, &[f32]),
        wanted: usize,
    ) -> Result<Vec<i64>> {
        match near::nearest(self, (scope, filter), asked, wanted) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(error) if self.loses_near(&error) => {}
            Err(error) => return Err(error),
        }
        self.nearest_codes(scope, filter, asked, wanted)
    }

    fn similarities(&self, (model, vector): (&Model, &[f32]), keys: &[i64]) -> Result<Vec<Near>> {
        vectors::kept(self, model.id, keys)?
            .iter()
            .map(|row| {
                let similarity = cosine(vector, row.try_get(1)?);
                Ok(Near { key: ChunkKey::from_row(row.try_get(0)?), similarity })
            })
            .collect()
    }

    fn chunks(
        &self,
        ranges: &[RangeInclusive<i64>],
        question: Option<&QuestionVector<'_>>,
    ) -> Result<Vec<ChunkRow>> {
        chunks(self, ranges, question)
    }

    fn heads(&self, ranges: &[RangeInclusive<i64>]) -> Result<Vec<MessageHead>> {
        heads(self, ranges)
    }

    fn extent(&self, scope: Scope, filter: &RecallFilter, limit: usize) -> Result<Extent> {
        let chunks = count(self, scope, filter)?;
        Ok(Extent { chunks, more: chunks > limit })
    }

    fn vectors_by_kind(&self, model: &Model) -> Result<HashMap<ItemKind, u64>> {
        let mut live = HashMap::new();
        let mut statement = self.as_backend().prepare_cached(VECTORS_BY_KIND)?;
        let mut found = statement.query([model.id])?;
        while let Some(row) = found.next()? {
            let Some(kind) = ItemKind::from_number(row.get(0)?) else { continue };
            live.insert(kind, row.get::<_, i64>(1)?.unsigned_abs());
        }
        Ok(live)
    }

    fn writer(&self, model: Option<Model>) -> Box<dyn IndexWriter + '_> {
        Box::new(ServerWriter::new(self, model))
    }

    fn remove(&self, keys: &[ChunkKey]) -> Outcome<()> {
        let keys: Vec<i64> = keys.iter().map(|key| key.get()).collect();
        words::remove(self, &keys)?;
        Ok(vectors::remove(self, &keys)?)
    }

    fn make_codes(&self, id: i64) -> Outcome<()> {
        let Some(model) = model(self.as_backend(), id)? else { return Ok(()) };
        Ok(vectors::recode(self, &model)?)
    }

    /// The codes lie beside the vectors, and go with them.
    fn drop_retired_codes(&self) -> Result<()> {
        Ok(())
    }
}

impl Server {
    fn nearest_codes(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        (model, vector): (&Model, &[f32]),
        wanted: usize,
    ) -> Result<Vec<i64>> {
        let code = QuestionCode::new(vector);
        let mut best = Best::new(wanted);
        let mut passing = Passing::new(self.as_backend(), filter);
        let kinds = if filter.kinds.is_empty() { &ItemKind::ALL[..] } else { &filter.kinds };
        let mut users: Vec<i64> = scope.readable().iter().map(|user| user.get()).collect();
        users.dedup();
        vectors::scan(self, model, &users, &code, &mut |estimate, key| {
            let chunk = ChunkKey::from_row(key);
            let is_wanted =
                estimate > best.limit && chunk.kind().is_some_and(|kind| kinds.contains(&kind));
            if is_wanted && passing.has(chunk)? {
                best.take(estimate, key);
            }
            Ok(())
        })?;
        Ok(best.into_keys())
    }

    /// All words in one question to the server; those that a filter leaves too few of are asked for again.
    fn postings_of_many(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        words: &[String],
        cap: usize,
    ) -> Result<Vec<Postings>> {
        let mut stems: Vec<Vec<String>> = Vec::with_capacity(words.len());
        for word in words {
            stems.push(words::stems(&crate::sessions::split_words(word).join(" "))?);
        }
        let alone: Vec<&str> = stems
            .iter()
            .map(|stems| if let [stem] = stems.as_slice() { stem.as_str() } else { "" })
            .collect();
        let ranges: Vec<_> = filter.ranges(scope).into_iter().rev().collect();
        let limit = i64::try_from(cap + 1).unwrap_or(i64::MAX);
        let mut lists = words::chunks_with_each(self, &alone, &ranges, limit)?;
        let mut passing = Passing::new(self.as_backend(), filter);
        let mut ends_of = HashMap::new();
        let mut all = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            let lists = lists.remove(&place).unwrap_or_default();
            let mut found = Postings { chunks: Vec::new(), complete: true, estimated: 0 };
            let was_cut = lists.values().any(|list| list.len() as i64 >= limit);
            let mut beyond = None;
            for key in lists.values().flatten().map(|key| ChunkKey::from_row(*key)) {
                if !passing.has(key)? {
                    continue;
                }
                if found.chunks.len() == cap {
                    beyond = Some(key);
                    break;
                }
                found.chunks.push(key);
            }
            found.estimated = found.chunks.len();
            if let Some(key) = beyond {
                found.complete = false;
                let known = match ends_of.get(&(key.user(), key.kind())) {
                    Some(known) => *known,
                    None => {
                        let read = ends(self.as_backend(), key)?;
                        ends_of.insert((key.user(), key.kind()), read);
                        read
                    }
                };
                found.estimated = (cap as f64 / share_above(key, known)) as usize;
            } else if was_cut || (alone[place].is_empty() && !stems[place].is_empty()) {
                found = self.postings_of(scope, filter, word, cap)?;
            }
            all.push(found);
        }
        Ok(all)
    }

    /// The same from the keyword index of a server, some more at a time where a filter leaves many out.
    fn postings_of(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        word: &str,
        cap: usize,
    ) -> Result<Postings> {
        let mut found = Postings { chunks: Vec::new(), complete: true, estimated: 0 };
        let stems = words::stems(&crate::sessions::split_words(word).join(" "))?;
        let mut passing = Passing::new(self.as_backend(), filter);
        for range in filter.ranges(scope).iter().rev() {
            let (first, mut last) = (*range.start(), *range.end());
            let mut limit = i64::try_from(cap + 1).unwrap_or(i64::MAX);
            loop {
                let some = words::chunks_with(self, &stems, (first, last), limit)?;
                let is_all = i64::try_from(some.len()).is_ok_and(|count| count < limit);
                for key in &some {
                    let key = ChunkKey::from_row(*key);
                    if !passing.has(key)? {
                        continue;
                    }
                    if found.chunks.len() == cap {
                        found.complete = false;
                        found.estimated =
                            (cap as f64 / share_above(key, ends(self.as_backend(), key)?)) as usize;
                        return Ok(found);
                    }
                    found.chunks.push(key);
                }
                match some.last() {
                    Some(lowest) if !is_all && *lowest > first => last = lowest - 1,
                    _ => break,
                }
                limit = limit.saturating_mul(4);
            }
        }
        found.estimated = found.chunks.len();
        Ok(found)
    }
}

/// How many chunks the scope and the kinds of a filter leave.
pub(super) fn count(server: &Server, scope: Scope, filter: &RecallFilter) -> Result<usize> {
    let parts: Vec<i64> = filter
        .ranges(scope)
        .iter()
        .flat_map(|range| (*range.start() >> PART_SHIFT)..=(*range.end() >> PART_SHIFT))
        .collect();
    let asked: [(&(dyn ToSql + Sync), Type); 2] =
        [(&server.profile(), Type::INT8), (&parts, Type::INT8_ARRAY)];
    let rows = server.ask(COUNT, &asked)?;
    let counted = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(size(counted.unwrap_or(0)))
}

/// The chunks of some ranges, with their similarity to the question.
pub(super) fn chunks(
    server: &Server,
    ranges: &[RangeInclusive<i64>],
    question: Option<&QuestionVector<'_>>,
) -> Result<Vec<ChunkRow>> {
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let (firsts, lasts) = bounds(ranges);
    let model = question.map(|question| question.model);
    let asked: [(&(dyn ToSql + Sync), Type); 4] = [
        (&server.profile(), Type::INT8),
        (&firsts, Type::INT8_ARRAY),
        (&lasts, Type::INT8_ARRAY),
        (&model, Type::INT8),
    ];
    let rows = server.ask(CHUNKS, &asked)?;
    rows.iter()
        .map(|row| {
            let vector: Option<&[u8]> = row.try_get(4)?;
            let similarity = question.zip(vector).map(|(asked, kept)| cosine(asked.vector, kept));
            Ok(ChunkRow {
                key: ChunkKey::from_row(row.try_get(0)?),
                start: size(row.try_get(1)?),
                length: size(row.try_get(2)?),
                tokens: tokens::read(row.try_get(3)?),
                similarity,
            })
        })
        .collect()
}

/// Who said the messages of some ranges, and when.
pub(super) fn heads(server: &Server, ranges: &[RangeInclusive<i64>]) -> Result<Vec<MessageHead>> {
    if ranges.is_empty() {
        return Ok(Vec::new());
    }
    let (firsts, lasts) = bounds(ranges);
    let asked: [(&(dyn ToSql + Sync), Type); 3] =
        [(&server.profile(), Type::INT8), (&firsts, Type::INT8_ARRAY), (&lasts, Type::INT8_ARRAY)];
    let rows = server.ask(HEADS, &asked)?;
    rows.iter()
        .map(|row| {
            let marks: i64 = row.try_get(5)?;
            Ok(MessageHead {
                key: MessageKey::from_row(row.try_get(0)?),
                episode: row.try_get(1)?,
                at: Timestamp::from_millisecond(row.try_get(2)?).unwrap_or(Timestamp::UNIX_EPOCH),
                role: row.try_get(3)?,
                speaker: row.try_get(4)?,
                is_question: marks::is_question(marks),
                has_time: marks::has_time(marks),
            })
        })
        .collect()
}

fn bounds(ranges: &[RangeInclusive<i64>]) -> (Vec<i64>, Vec<i64>) {
    ranges.iter().map(|range| (*range.start(), *range.end())).unzip()
}

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// What stands behind user and kind in the number of a chunk; `hermes.chunk_count` counts by what stands before.
const PART_SHIFT: u32 = 40;

const COUNT: &str = "
    select coalesce(sum(chunks), 0)::bigint from hermes.chunk_count where profile = $1 and part = any ($2)";
// In the order of the ranges, and of the numbers in each. `offset 0` has each range looked up by itself: the server
// takes a range for a large part of the table, and would rather read all of it.
const CHUNKS: &str = "
    select c.id, c.start, c.length, c.tokens, v.v
    from unnest($2, $3) with ordinality as asked (first, last, place)
    cross join lateral (
      select id, start, length, tokens from hermes.chunk
      where profile = $1 and id between asked.first and asked.last order by id offset 0) c
    left join lateral (
      select v from hermes.vector where profile = $1 and model = $4 and chunk = c.id limit 1) v on true
    order by asked.place, c.id";
const HEADS: &str = "
    select m.id, m.episode, m.at, m.role, m.speaker, m.marks
    from unnest($2, $3) with ordinality as asked (first, last, place)
    cross join lateral (
      select id, episode, at, role, speaker, marks from hermes.message
      where profile = $1 and id between asked.first and asked.last order by id offset 0) m
    order by asked.place, m.id";
const VECTORS_BY_KIND: &str = "
    select (chunk >> 40) & 7, count(*) from vector where model = ?1 group by 1";
