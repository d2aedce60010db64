//! Vectors on a server: written in one go, and their codes kept at hand by every process that searches.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use ::postgres::types::{ToSql, Type};

use super::Server;
use super::transaction::Owned;
use crate::memory::backend::Result;
use crate::memory::code::{self, QuestionCode};
use crate::memory::vector_model::{Model, from_bytes};
use crate::memory::{ChunkKey, kernel};

/// Codes that nobody asked for in so long are fetched anew: by then it may be forgotten which are gone.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How many rows go to the server at once.
const BATCH: usize = 5_000;

/// Vectors of one model on their way to the server.
#[derive(Debug, Default)]
pub(super) struct NewVectors {
    chunks: Vec<i64>,
    vectors: Vec<Vec<u8>>,
    codes: Vec<Vec<u8>>,
}

impl NewVectors {
    pub(super) fn add(&mut self, chunk: ChunkKey, bytes: Vec<u8>, code: &code::Code) {
        self.chunks.push(chunk.get());
        self.vectors.push(bytes);
        self.codes.push(code_bytes(code));
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.len()
    }

    pub(super) fn write(&mut self, server: &Server, model: i64) -> Result<()> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let NewVectors { chunks, vectors, codes } = std::mem::take(self);
        let given: [Owned; 5] = [
            (Box::new(server.profile()), Type::INT8),
            (Box::new(model), Type::INT8),
            (Box::new(chunks), Type::INT8_ARRAY),
            (Box::new(vectors), Type::BYTEA_ARRAY),
            (Box::new(codes), Type::BYTEA_ARRAY),
        ];
        server.change_later(PUT, given.into())
    }
}

/// A code with its factor behind it, little-endian.
fn code_bytes(code: &code::Code) -> Vec<u8> {
    let mut bytes: Vec<u8> = code.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(code.factor.to_le_bytes());
    bytes
}

/// Removes the vectors of chunks, of every model.
pub(super) fn remove(server: &Server, chunks: &[i64]) -> Result<()> {
    let given: [(&(dyn ToSql + Sync), Type); 2] =
        [(&server.profile(), Type::INT8), (&chunks, Type::INT8_ARRAY)];
    server.change_rows(NOTE_GONE, &given)?;
    server.change_rows(REMOVE, &given)?;
    Ok(())
}

/// How many vectors of a model there are of anybody, up to a limit, and some of them.
pub(super) fn some(server: &Server, model: i64, limit: i64) -> Result<Vec<Vec<f32>>> {
    server.as_keeper_of(|| {
        let asked: [(&(dyn ToSql + Sync), Type); 3] =
            [(&server.profile(), Type::INT8), (&model, Type::INT8), (&limit, Type::INT8)];
        let rows = server.ask(SOME, &asked)?;
        rows.iter().map(|row| Ok(from_bytes(row.try_get(0)?))).collect()
    })
}

/// Whether a model has so many vectors.
pub(super) fn has_many(server: &Server, model: i64, many: i64) -> Result<bool> {
    server.as_keeper_of(|| {
        let asked: [(&(dyn ToSql + Sync), Type); 3] =
            [(&server.profile(), Type::INT8), (&model, Type::INT8), (&many, Type::INT8)];
        let counted: i64 = match server.ask(COUNT, &asked)?.first() {
            Some(row) => row.try_get(0)?,
            None => 0,
        };
        Ok(counted >= many)
    })
}

/// Makes the codes of a model anew, whosever the vectors are.
pub(super) fn recode(server: &Server, model: &Model) -> Result<()> {
    server.as_keeper_of(|| {
        let mut after = i64::MIN;
        loop {
            let limit = i64::try_from(BATCH).unwrap_or(i64::MAX);
            let asked: [(&(dyn ToSql + Sync), Type); 4] = [
                (&server.profile(), Type::INT8),
                (&model.id, Type::INT8),
                (&after, Type::INT8),
                (&limit, Type::INT8),
            ];
            let rows = server.ask(AFTER, &asked)?;
            let (mut chunks, mut codes): (Vec<i64>, Vec<Vec<u8>>) = Default::default();
            for row in &rows {
                after = row.try_get(0)?;
                chunks.push(after);
                codes.push(code_bytes(&code::encode(&from_bytes(row.try_get(1)?), &model.mean)));
            }
            if chunks.is_empty() {
                return Ok(());
            }
            let given: [(&(dyn ToSql + Sync), Type); 4] = [
                (&server.profile(), Type::INT8),
                (&model.id, Type::INT8),
                (&chunks, Type::INT8_ARRAY),
                (&codes, Type::BYTEA_ARRAY),
            ];
            server.change_rows(RECODE, &given)?;
        }
    })
}

/// The vectors of some chunks as they are kept.
pub(super) fn kept(server: &Server, model: i64, chunks: &[i64]) -> Result<Vec<::postgres::Row>> {
    let asked: [(&(dyn ToSql + Sync), Type); 3] =
        [(&server.profile(), Type::INT8), (&model, Type::INT8), (&chunks, Type::INT8_ARRAY)];
    server.ask(KEPT, &asked)
}

/// The codes of one user's vectors of one model, as they were when the server was asked last.
#[derive(Debug)]
struct Codes {
    /// The oldest transaction that was not over then.
    since: i64,
    asked_at: Instant,
    chunks: Vec<i64>,
    factors: Vec<f32>,
    codes: Vec<u8>,
    places: HashMap<i64, usize>,
}

type Shared = Arc<RwLock<Codes>>;

/// Whose codes: the memory by its mark, the model, the user.
type Whose = (String, i64, i64);

static AT_HAND: LazyLock<Mutex<HashMap<Whose, Shared>>> = LazyLock::new(Mutex::default);

/// Hands out the product and the chunk of every code that can be near, of some users.
pub(super) fn scan(
    server: &Server,
    model: &Model,
    users: &[i64],
    question: &QuestionCode,
    take: &mut dyn FnMut(f32, i64) -> Result<()>,
) -> Result<()> {
    let mut all: Vec<(i64, Shared)> = Vec::with_capacity(users.len());
    for user in users {
        let whose = (server.mark().to_owned(), model.id, *user);
        let mut at_hand = AT_HAND.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((*user, Arc::clone(at_hand.entry(whose).or_default())));
    }
    freshen(server, model, &all)?;
    let mut products = Vec::new();
    for (_, shared) in &all {
        let codes = shared.read().unwrap_or_else(PoisonError::into_inner);
        kernel::products(question, &codes.codes, &mut products);
        for ((product, factor), chunk) in products.iter().zip(&codes.factors).zip(&codes.chunks) {
            take(*product as f32 * factor, *chunk)?;
        }
    }
    Ok(())
}

/// Fetches what changed since the codes were looked at last.
fn freshen(server: &Server, model: &Model, all: &[(i64, Shared)]) -> Result<()> {
    for (_, shared) in all {
        let mut codes = shared.write().unwrap_or_else(PoisonError::into_inner);
        if codes.asked_at.elapsed() > LONGEST {
            *codes = Codes::default();
        }
    }
    let since_of = |shared: &Shared| shared.read().unwrap_or_else(PoisonError::into_inner).since;
    let users: Vec<i64> = all.iter().map(|(user, _)| *user).collect();
    let since: Vec<i64> = all.iter().map(|(_, shared)| since_of(shared)).collect();
    let asked: [(&(dyn ToSql + Sync), Type); 4] = [
        (&server.profile(), Type::INT8),
        (&model.id, Type::INT8),
        (&users, Type::INT8_ARRAY),
        (&since, Type::INT8_ARRAY),
    ];
    let rows = server.ask(NEWER, &asked)?;
    if rows.is_empty() {
        return Ok(());
    }
    for (user, shared) in all {
        let mut codes = shared.write().unwrap_or_else(PoisonError::into_inner);
        codes.asked_at = Instant::now();
        for row in &rows {
            // Another thread may have asked later and been faster.
            if row.try_get::<_, i64>(0)? != *user || row.try_get::<_, i64>(3)? < codes.since {
                continue;
            }
            match row.try_get::<_, Option<&[u8]>>(2)? {
                Some(code) => codes.put(row.try_get(1)?, code, model.code_bytes()),
                None => codes.take_out(row.try_get(1)?, model.code_bytes()),
            }
        }
        if let Some(row) = rows.first() {
            codes.since = codes.since.max(row.try_get(3)?);
        }
    }
    Ok(())
}

/// Forgets which vectors are gone, once nobody can have them at hand any more.
pub(super) fn forget_gone(server: &Server) -> Result<()> {
    server.change_rows(FORGET_GONE, &[(&server.profile(), Type::INT8)])?;
    Ok(())
}

impl Default for Codes {
    fn default() -> Codes {
        Codes {
            since: 0,
            asked_at: Instant::now(),
            chunks: Vec::new(),
            factors: Vec::new(),
            codes: Vec::new(),
            places: HashMap::new(),
        }
    }
}

impl Codes {
    fn put(&mut self, chunk: i64, bytes: &[u8], size: usize) {
        let Some((code, factor)) = bytes.split_last_chunk::<4>() else { return };
        if code.len() != size {
            return;
        }
        let factor = f32::from_le_bytes(*factor);
        match self.places.get(&chunk) {
            Some(place) => {
                self.codes[place * size..(place + 1) * size].copy_from_slice(code);
                self.factors[*place] = factor;
            }
            None => {
                self.places.insert(chunk, self.chunks.len());
                self.chunks.push(chunk);
                self.factors.push(factor);
                self.codes.extend_from_slice(code);
            }
        }
    }

    /// The last one takes the place of the one that is gone.
    fn take_out(&mut self, chunk: i64, size: usize) {
        let Some(place) = self.places.remove(&chunk) else { return };
        self.chunks.swap_remove(place);
        self.factors.swap_remove(place);
        let last = self.codes.len() - size;
        self.codes.copy_within(last.., place * size);
        self.codes.truncate(last);
        if let Some(moved) = self.chunks.get(place) {
            self.places.insert(*moved, place);
        }
    }
}

const PUT: &str = "
    insert into hermes.vector (profile, model, chunk, v, code, changed)
    select $1, $2, chunk, v, code, 0 from unnest($3, $4, $5) as given (chunk, v, code)
    on conflict (profile, model, chunk)
      do update set v = excluded.v, code = excluded.code";
const NOTE_GONE: &str = "
    insert into hermes.vector_gone (profile, model, chunk, changed)
    select profile, model, chunk, 0 from hermes.vector where profile = $1 and chunk = any ($2)
      and model in (select id from hermes.embed_model where profile = $1)
    on conflict do nothing";
const REMOVE: &str = "
    delete from hermes.vector where profile = $1 and chunk = any ($2)
      and model in (select id from hermes.embed_model where profile = $1)";
const SOME: &str = "
    select v from hermes.vector where profile = $1 and model = $2 order by chunk desc limit $3";
const COUNT: &str = "
    select count(*) from (select 1 from hermes.vector where profile = $1 and model = $2 limit $3) counted";
const AFTER: &str = "
    select chunk, v from hermes.vector
    where profile = $1 and model = $2 and chunk > $3 order by chunk limit $4";
const RECODE: &str = "
    update hermes.vector set code = given.code
    from unnest($3, $4) as given (chunk, code)
    where profile = $1 and model = $2 and vector.chunk = given.chunk";
const KEPT: &str = "
    select chunk, v from hermes.vector where profile = $1 and model = $2 and chunk = any ($3)";
// What went and came again is there. The oldest transaction that is not over yet is where the next question begins.
const NEWER: &str = "
    select user_id, chunk, code, pg_snapshot_xmin(pg_current_snapshot())::text::bigint
    from unnest($3, $4) as asked (who, since), lateral (
      select user_id, chunk, code from hermes.vector
      where profile = $1 and model = $2 and user_id = who and changed >= since
      union all
      select user_id, chunk, null from hermes.vector_gone g
      where profile = $1 and model = $2 and user_id = who and changed >= since and not exists (
        select 1 from hermes.vector v
        where v.profile = g.profile and v.model = g.model and v.chunk = g.chunk)) newer";
const FORGET_GONE: &str = "
    delete from hermes.vector_gone where profile = $1 and at < now() - interval '30 days'";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_go_leave_no_gap() {
        let size = 2;
        let code = |value: u8| [value, value, 0, 0, 128, 63];
        let mut codes = Codes::default();
        for chunk in 1..=3 {
            codes.put(chunk, &code(chunk as u8), size);
        }
        codes.take_out(1, size);
        assert_eq!((codes.chunks.clone(), codes.codes.clone()), (vec![3, 2], vec![3, 3, 2, 2]));
        codes.put(3, &code(9), size);
        codes.take_out(2, size);
        codes.take_out(7, size);
        assert_eq!((codes.chunks.clone(), codes.codes.clone()), (vec![3], vec![9, 9]));
        codes.put(4, &[1], size);
        assert_eq!(codes.factors, [1.0]);
    }
}
