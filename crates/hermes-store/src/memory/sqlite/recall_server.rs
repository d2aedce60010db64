//! What a search asks of a server, in as few statements as there are kinds of things to ask.

use std::ops::RangeInclusive;

use ::postgres::types::{ToSql, Type};
use jiff::Timestamp;

use super::candidates::cosine;
use super::db::{Postgres, Result};
use super::tokens;
use crate::memory::{ChunkKey, ChunkRow, MessageHead, MessageKey, QuestionVector, marks};

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

// In the order of the ranges, and of the numbers in each.
const CHUNKS: &str = "
    select c.id, c.start, c.length, c.tokens, v.v
    from unnest($2, $3) with ordinality as asked (first, last, place)
    join hermes.chunk c on c.profile = $1 and c.id between asked.first and asked.last
    left join hermes.vector v on v.profile = $1 and v.model = $4 and v.chunk = c.id
    order by asked.place, c.id";
const HEADS: &str = "
    select m.id, m.episode, m.at, m.role, m.speaker, m.marks
    from unnest($2, $3) with ordinality as asked (first, last, place)
    join hermes.message m on m.profile = $1 and m.id between asked.first and asked.last
    order by asked.place, m.id";
