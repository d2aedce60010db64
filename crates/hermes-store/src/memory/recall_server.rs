//! What a search asks of a server, in as few statements as there are kinds of things to ask.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use ::postgres::types::{ToSql, Type};
use jiff::Timestamp;

use super::backend::{self, Postgres, Result};
use super::candidates::cosine;
use super::passing::Passing;
use super::{Memory, tokens, words};
use crate::memory::{
    ChunkKey, ChunkRow, MessageHead, MessageKey, Postings, QuestionVector, RecallFilter, Scope,
    marks,
};

impl Memory {
    /// All words in one question to the server; those that a filter leaves too few of are asked for again.
    pub(super) fn postings_of_many(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        words: &[String],
        cap: usize,
    ) -> backend::Result<Vec<Postings>> {
        let Some(server) = self.asking(scope).postgres() else { return Ok(Vec::new()) };
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
        let mut lists = words::chunks_with_each(server, &alone, &ranges, limit)?;
        let mut passing = Passing::new(self.asking(scope), filter);
        let mut ends = HashMap::new();
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
                let ends = match ends.get(&(key.user(), key.kind())) {
                    Some(known) => *known,
                    None => {
                        let read = self.ends(scope, key)?;
                        ends.insert((key.user(), key.kind()), read);
                        read
                    }
                };
                found.estimated = (cap as f64 / share_above(key, ends)) as usize;
            } else if was_cut || (alone[place].is_empty() && !stems[place].is_empty()) {
                found = self.postings_on_server(scope, filter, word, cap)?;
            }
            all.push(found);
        }
        Ok(all)
    }

    /// The same from the keyword index of a server, some more at a time where a filter leaves many out.
    pub(super) fn postings_on_server(
        &self,
        scope: Scope,
        filter: &RecallFilter,
        word: &str,
        cap: usize,
    ) -> backend::Result<Postings> {
        let mut found = Postings { chunks: Vec::new(), complete: true, estimated: 0 };
        let stems = words::stems(&crate::sessions::split_words(word).join(" "))?;
        let mut passing = Passing::new(self.asking(scope), filter);
        let Some(server) = self.asking(scope).postgres() else { return Ok(found) };
        for range in filter.ranges(scope).iter().rev() {
            let (first, mut last) = (*range.start(), *range.end());
            let mut limit = i64::try_from(cap + 1).unwrap_or(i64::MAX);
            loop {
                let some = words::chunks_with(server, &stems, (first, last), limit)?;
                let is_all = i64::try_from(some.len()).is_ok_and(|count| count < limit);
                for key in &some {
                    let key = ChunkKey::from_row(*key);
                    if !passing.has(key)? {
                        continue;
                    }
                    if found.chunks.len() == cap {
                        found.complete = false;
                        found.estimated = (cap as f64 / self.share_above(scope, key)?) as usize;
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

/// Which share of the chunks between the first and the last lies above one.
pub(super) fn share_above(key: ChunkKey, ends: Option<(i64, i64)>) -> f64 {
    let Some((first, last)) = ends else { return 1.0 };
    ((last - key.get()) as f64 / (last - first).max(1) as f64).clamp(1e-6, 1.0)
}

/// How many chunks the scope and the kinds of a filter leave.
pub(super) fn count(server: &Postgres, scope: Scope, filter: &RecallFilter) -> Result<usize> {
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
    server: &Postgres,
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
pub(super) fn heads(server: &Postgres, ranges: &[RangeInclusive<i64>]) -> Result<Vec<MessageHead>> {
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
