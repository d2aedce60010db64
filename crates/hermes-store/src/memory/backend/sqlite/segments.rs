//! Vectors as they are kept: one byte for each dimension, and beside it two bits in a segment.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::params;

use crate::Error;
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::vector_model::{
    FITTED_FROM, Model, SET_MEAN, from_bytes, mean_of, model, to_bytes,
};
use crate::memory::{ChunkKey, ItemKind, Outcome, Refusal, UserNumber, code};

/// The bytes of one slot: the chunk's number, its day, and the factor of its code.
pub(super) const SLOT: usize = 16;

/// The number in a slot whose chunk is gone.
pub(super) const EMPTY: i64 = -1;

/// Keeps vectors inside one transaction; the segments are written when it is finished.
#[derive(Debug)]
pub(super) struct Keeper<'t> {
    transaction: &'t Connection,
    model: Model,
    open: HashMap<(UserNumber, ItemKind), OpenSegment>,
}

#[derive(Debug)]
struct OpenSegment {
    id: i64,
    number: i64,
    capacity: usize,
    used: usize,
    codes: Vec<u8>,
    slots: Vec<u8>,
}

impl<'t> Keeper<'t> {
    /// Keeps vectors of one model.
    pub(super) fn new(transaction: &'t Connection, model: Model) -> Keeper<'t> {
        Keeper { transaction, model, open: HashMap::new() }
    }

    /// Keeps one vector; a vector of other dimensions is refused.
    pub(super) fn put(&mut self, key: ChunkKey, vector: &[f32], at: Timestamp) -> Outcome<()> {
        if vector.len() != self.model.dims {
            return Err(Refusal::Rule(Error::WrongDimensions {
                model: self.model.name.clone(),
                found: vector.len(),
                wanted: self.model.dims,
            }));
        }
        let bytes = to_bytes(vector);
        self.transaction.prepare_cached(PUT_VECTOR)?.execute(params![
            self.model.id,
            key.get(),
            bytes
        ])?;
        self.put_code(key, vector, at)
    }

    /// Keeps the code of a vector that is kept already.
    pub(super) fn put_code(&mut self, key: ChunkKey, vector: &[f32], at: Timestamp) -> Outcome<()> {
        let Some(kind) = key.kind() else { return Ok(()) };
        let code = code::encode(vector, &self.model.mean);
        let place = (key.user(), kind);
        let full = self.open.get(&place).is_some_and(|open| open.is_full());
        if full && let Some(done) = self.open.remove(&place) {
            self.write(&done)?;
        }
        let open = match self.open.entry(place) {
            std::collections::hash_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(last_or_new(self.transaction, &self.model, place)?)
            }
        };
        open.codes.extend(code.words.iter().flat_map(|word| word.to_le_bytes()));
        open.slots.extend(key.get().to_le_bytes());
        let day = i32::try_from(at.as_second().div_euclid(86_400)).unwrap_or(0);
        open.slots.extend(day.to_le_bytes());
        open.slots.extend(code.factor.to_le_bytes());
        Ok(())
    }

    /// Writes what was gathered.
    pub(super) fn finish(mut self) -> Outcome<()> {
        for open in std::mem::take(&mut self.open).into_values() {
            self.write(&open)?;
        }
        if !self.model.is_fitted {
            fit(self.transaction, &self.model)?;
        }
        Ok(())
    }

    fn write(&self, open: &OpenSegment) -> Outcome<()> {
        if open.slots.is_empty() {
            return Ok(());
        }
        let code_bytes = self.model.code_bytes();
        write_blob(self.transaction, CODES, open.id, open.used * code_bytes, &open.codes)?;
        write_blob(self.transaction, SLOTS, open.id, open.used * SLOT, &open.slots)?;
        let used = open.used + open.slots.len() / SLOT;
        let keys = || open.slots.chunks_exact(SLOT).map(slot_key);
        let (low, high) = (keys().min(), keys().max());
        self.transaction.prepare_cached(SET_USED)?.execute(params![open.id, used, low, high])?;
        Ok(())
    }
}

impl OpenSegment {
    fn is_full(&self) -> bool {
        self.used + self.slots.len() / SLOT >= self.capacity
    }
}

/// Takes the middle of a model from the vectors that are there, once there are enough, and makes the
/// codes anew: without it 97 instead of 99.9 of 100 nearest texts are among the best by code.
fn fit(transaction: &Connection, model: &Model) -> Outcome<()> {
    let used: i64 = transaction.prepare_cached(USED)?.query_row([model.id], |row| row.get(0))?;
    if used < FITTED_FROM {
        return Ok(());
    }
    let some: Vec<Vec<f32>> = transaction
        .prepare(SOME_VECTORS)?
        .query_map([model.id], |row| Ok(from_bytes(row.get_ref(0)?.as_blob().unwrap_or_default())))?
        .collect::<backend::Result<_>>()?;
    let mean = mean_of(model.dims, &some);
    transaction.execute(SET_MEAN, params![model.id, mean])?;
    rebuild_model(transaction, model.id)
}

/// The first segments are small: most users of a shared memory say little.
fn capacity(number: i64) -> usize {
    128 << number.clamp(0, 5)
}

fn last_or_new(
    transaction: &Connection,
    model: &Model,
    (user, kind): (UserNumber, ItemKind),
) -> Outcome<OpenSegment> {
    let last = transaction
        .prepare_cached(LAST_SEGMENT)?
        .query_row(params![model.id, user.get(), kind.number()], |row| {
            Ok(OpenSegment {
                id: row.get(0)?,
                number: row.get(1)?,
                capacity: row.get(2)?,
                used: row.get(3)?,
                codes: Vec::new(),
                slots: Vec::new(),
            })
        })
        .optional()?;
    match last {
        Some(last) if !last.is_full() => Ok(last),
        last => {
            let number = last.map_or(0, |last| last.number + 1);
            new_segment(transaction, model, (user, kind), number)
        }
    }
}

fn new_segment(
    transaction: &Connection,
    model: &Model,
    (user, kind): (UserNumber, ItemKind),
    number: i64,
) -> Outcome<OpenSegment> {
    let capacity = capacity(number);
    let id = transaction
        .insert(ADD_SEGMENT, params![model.id, user.get(), kind.number(), number, capacity])?;
    transaction.prepare_cached(ADD_CODES)?.execute(params![id, capacity * model.code_bytes()])?;
    transaction.prepare_cached(ADD_SLOTS)?.execute(params![id, capacity * SLOT])?;
    Ok(OpenSegment { id, number, capacity, used: 0, codes: Vec::new(), slots: Vec::new() })
}

const CODES: (&str, &str) = ("vector_codes", "codes");
const SLOTS: (&str, &str) = ("vector_slots", "slots");

fn write_blob(
    transaction: &Connection,
    (table, column): (&str, &str),
    row: i64,
    at: usize,
    bytes: &[u8],
) -> backend::Result<()> {
    let Some(file) = transaction.file() else { return Ok(()) };
    Ok(file.connection.blob_open("main", table, column, row, false)?.write_at(bytes, at)?)
}

/// Removes the vectors and codes of chunks, of every model; reads each segment that can hold one of
/// them once, whatever their number.
pub(super) fn remove(transaction: &Connection, keys: &[ChunkKey]) -> Outcome<()> {
    let mut gone: HashMap<(UserNumber, ItemKind), Vec<i64>> = HashMap::new();
    for key in keys {
        transaction.prepare_cached(REMOVE_VECTOR)?.execute([key.get()])?;
        if let Some(kind) = key.kind() {
            gone.entry((key.user(), kind)).or_default().push(key.get());
        }
    }
    for ((user, kind), mut gone) in gone {
        gone.sort_unstable();
        let (Some(first), Some(last)) = (gone.first(), gone.last()) else { continue };
        let segments: Vec<Shape> = transaction
            .prepare_cached(SEGMENTS_OF)?
            .query_map(params![user.get(), kind.number(), first, last], |row| {
                Ok(Shape { id: row.get(0)?, used: row.get(1)?, dims: row.get(2)? })
            })?
            .collect::<backend::Result<_>>()?;
        for segment in &segments {
            clear_slots(transaction, segment, &gone)?;
        }
    }
    Ok(())
}

/// What must be known of a segment to clear a part of it.
struct Shape {
    id: i64,
    used: usize,
    dims: usize,
}

/// Empties the slots of chunks that are gone (sorted); a segment with nothing left is removed.
fn clear_slots(transaction: &Connection, segment: &Shape, gone: &[i64]) -> Outcome<()> {
    let (Some(first), Some(last)) = (gone.first(), gone.last()) else { return Ok(()) };
    let slots: Vec<u8> =
        transaction.prepare_cached(READ_SLOTS)?.query_row([segment.id], |row| row.get(0))?;
    let (mut cleared, mut live) = (Vec::new(), false);
    for (place, slot) in slots.chunks_exact(SLOT).take(segment.used).enumerate() {
        let key = slot_key(slot);
        if (first..=last).contains(&&key) && gone.binary_search(&key).is_ok() {
            cleared.push(place);
        } else {
            live |= key != EMPTY;
        }
    }
    if cleared.is_empty() {
        return Ok(());
    }
    if !live {
        for sql in [DROP_CODES_OF, DROP_SLOTS_OF, DROP_SEGMENT] {
            transaction.prepare_cached(sql)?.execute([segment.id])?;
        }
        return Ok(());
    }
    let mut empty = [0; SLOT];
    empty[..8].copy_from_slice(&EMPTY.to_le_bytes());
    fill_places(transaction, SLOTS, (segment.id, &cleared), &empty)?;
    let code = vec![0; code::bytes(segment.dims)];
    fill_places(transaction, CODES, (segment.id, &cleared), &code)?;
    Ok(())
}

/// Writes the same bytes at several places of one blob.
fn fill_places(
    transaction: &Connection,
    (table, column): (&str, &str),
    (row, places): (i64, &[usize]),
    bytes: &[u8],
) -> backend::Result<()> {
    let Some(file) = transaction.file() else { return Ok(()) };
    let mut blob = file.connection.blob_open("main", table, column, row, false)?;
    Ok(places.iter().try_for_each(|place| blob.write_at(bytes, place * bytes.len()))?)
}

/// The chunk's number in a slot.
pub(super) fn slot_key(slot: &[u8]) -> i64 {
    slot.first_chunk::<8>().map_or(EMPTY, |bytes| i64::from_le_bytes(*bytes))
}

/// What the estimate of a slot's code is multiplied with.
pub(super) fn slot_factor(slot: &[u8]) -> f32 {
    slot.last_chunk::<4>().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
}

/// Makes the segments of one model anew.
pub(super) fn rebuild_model(transaction: &Connection, id: i64) -> Outcome<()> {
    for sql in [DROP_CODES, DROP_SLOTS, DROP_SEGMENTS] {
        transaction.execute(sql, [id])?;
    }
    let Some(model) = model(transaction, id)? else { return Ok(()) };
    let dims = model.dims;
    let mut keeper = Keeper::new(transaction, Model { is_fitted: true, ..model });
    let mut statement = transaction.prepare(VECTORS_WITH_TIME)?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let vector = from_bytes(row.get_ref(1)?.as_blob().unwrap_or_default());
        let at = row.get::<_, Option<i64>>(2)?.unwrap_or(0);
        if vector.len() == dims {
            let at = Timestamp::from_millisecond(at).unwrap_or(Timestamp::UNIX_EPOCH);
            keeper.put_code(ChunkKey::from_row(row.get(0)?), &vector, at)?;
        }
    }
    keeper.finish()
}

const PUT_VECTOR: &str = "
    insert or replace into vector (model, chunk, v, sum) values (?1, ?2, ?3, row_sum(?3))";
const LAST_SEGMENT: &str = "
    select id, number, capacity, used from vector_segment
    where model = ?1 and user_id = ?2 and kind = ?3 order by number desc limit 1";
const ADD_SEGMENT: &str = "
    insert into vector_segment (model, user_id, kind, number, capacity, used)
    values (?1, ?2, ?3, ?4, ?5, 0) returning id";
const ADD_CODES: &str = "insert into vector_codes (segment, codes) values (?1, zeroblob(?2))";
const ADD_SLOTS: &str = "insert into vector_slots (segment, slots) values (?1, zeroblob(?2))";
const USED: &str = "select coalesce(sum(used), 0) from vector_segment where model = ?1";
const SOME_VECTORS: &str = "select v from vector where model = ?1 order by chunk desc limit 4000";
const SET_USED: &str = "
    update vector_segment set used = ?2,
      low = case when used = 0 then ?3 when low is not null then min(low, ?3) end,
      high = case when used = 0 then ?4 when high is not null then max(high, ?4) end
    where id = ?1";
const REMOVE_VECTOR: &str = "
    delete from vector where chunk = ?1 and model in (select id from embed_model)";
const SEGMENTS_OF: &str = "
    select s.id, s.used, m.dims from vector_segment s join embed_model m on m.id = s.model
    where s.user_id = ?1 and s.kind = ?2
      and (s.low is null or s.high is null or (s.low <= ?4 and s.high >= ?3))";
const DROP_CODES_OF: &str = "delete from vector_codes where segment = ?1";
const DROP_SLOTS_OF: &str = "delete from vector_slots where segment = ?1";
const DROP_SEGMENT: &str = "delete from vector_segment where id = ?1";
const DROP_CODES: &str =
    "delete from vector_codes where segment in (select id from vector_segment where model = ?1)";
const DROP_SLOTS: &str =
    "delete from vector_slots where segment in (select id from vector_segment where model = ?1)";
const DROP_SEGMENTS: &str = "delete from vector_segment where model = ?1";
const READ_SLOTS: &str = "select slots from vector_slots where segment = ?1";
const VECTORS_WITH_TIME: &str = "
    select v.chunk, v.v, m.at from vector v left join message m on m.id = v.chunk >> 8
    where v.model = ?1 order by v.chunk";
pub(super) const DROP_RETIRED: &str = "
    delete from vector_codes where segment in (select s.id from vector_segment s join embed_model m on m.id = s.model where m.state = 'retired');
    delete from vector_slots where segment in (select s.id from vector_segment s join embed_model m on m.id = s.model where m.state = 'retired');
    delete from vector_segment where model in (select id from embed_model where state = 'retired');";
