//! The keyword index on a server: a row for each word of each chunk, stemmed as SQLite's index stems.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use ::postgres::types::{ToSql, Type};

use super::Server;
use super::transaction::Owned;
use crate::memory::backend::Result;
use crate::memory::{ChunkKey, NewChunk};

/// Makes of a text what the keyword index makes of it.
pub(in crate::memory) struct Stems(rusqlite::Connection);

impl Stems {
    pub(in crate::memory) fn new() -> rusqlite::Result<Stems> {
        let connection = rusqlite::Connection::open_in_memory()?;
        connection.execute_batch(LIKE_THE_INDEX)?;
        Ok(Stems(connection))
    }

    pub(in crate::memory) fn of(&self, text: &str) -> rusqlite::Result<HashSet<String>> {
        self.0
            .prepare_cached("insert into chunk_words (rowid, words) values (1, ?1)")?
            .execute([text])?;
        let found = self
            .0
            .prepare_cached("select distinct term from chunk_terms")?
            .query_map([], |row| row.get(0))?
            .collect();
        self.0.prepare_cached("delete from chunk_words where rowid = 1")?.execute([])?;
        found
    }
}

thread_local! {
    static STEMS: RefCell<Option<Stems>> = const { RefCell::new(None) };
}

/// The stems of a text, sorted.
pub(super) fn stems(text: &str) -> Result<Vec<String>> {
    STEMS.with_borrow_mut(|known| {
        let stems = match known {
            Some(stems) => stems,
            None => known.insert(Stems::new()?),
        };
        let mut found: Vec<String> = stems.of(text)?.into_iter().collect();
        found.sort_unstable();
        Ok(found)
    })
}

/// Words on their way to the index, for many chunks at once.
#[derive(Debug, Default)]
pub(super) struct NewWords {
    words: Vec<String>,
    chunks: Vec<i64>,
}

impl NewWords {
    pub(super) fn add(&mut self, chunk: i64, text: &str) -> Result<()> {
        for word in stems(text)? {
            self.words.push(word);
            self.chunks.push(chunk);
        }
        Ok(())
    }

    pub(super) fn write(&mut self, server: &Server) -> Result<()> {
        if self.chunks.is_empty() {
            return Ok(());
        }
        let NewWords { words, chunks } = std::mem::take(self);
        let given: [Owned; 3] = [
            (Box::new(server.profile()), Type::INT8),
            (Box::new(words), Type::TEXT_ARRAY),
            (Box::new(chunks), Type::INT8_ARRAY),
        ];
        server.change_later(ADD, given.into())
    }
}

/// Chunks on their way to the server.
#[derive(Debug, Default)]
pub(super) struct NewChunks {
    ids: Vec<i64>,
    starts: Vec<i64>,
    lengths: Vec<i64>,
    tokens: Vec<Vec<u8>>,
}

impl NewChunks {
    pub(super) fn add(&mut self, key: ChunkKey, chunk: &NewChunk, tokens: Vec<u8>) {
        self.ids.push(key.get());
        self.starts.push(i64::try_from(chunk.start).unwrap_or(i64::MAX));
        self.lengths.push(i64::try_from(chunk.length).unwrap_or(i64::MAX));
        self.tokens.push(tokens);
    }

    pub(super) fn write(&mut self, server: &Server) -> Result<()> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let NewChunks { ids, starts, lengths, tokens } = std::mem::take(self);
        let given: [Owned; 5] = [
            (Box::new(server.profile()), Type::INT8),
            (Box::new(ids), Type::INT8_ARRAY),
            (Box::new(starts), Type::INT8_ARRAY),
            (Box::new(lengths), Type::INT8_ARRAY),
            (Box::new(tokens), Type::BYTEA_ARRAY),
        ];
        server.change_later(ADD_CHUNKS, given.into())
    }
}

/// Takes chunks with their words out of the index.
pub(super) fn remove(server: &Server, chunks: &[i64]) -> Result<()> {
    let given: [(&(dyn ToSql + Sync), Type); 2] =
        [(&server.profile(), Type::INT8), (&chunks, Type::INT8_ARRAY)];
    server.change_rows(REMOVE_WORDS, &given)?;
    server.change_rows(REMOVE_CHUNKS, &given)?;
    Ok(())
}

/// The chunks of a range that have all of these stems, the highest numbers first; up to a limit.
pub(super) fn chunks_with(
    server: &Server,
    stems: &[String],
    (first, last): (i64, i64),
    limit: i64,
) -> Result<Vec<i64>> {
    let [word, others @ ..] = stems else { return Ok(Vec::new()) };
    let count = i64::try_from(others.len()).unwrap_or(i64::MAX);
    let asked: [(&(dyn ToSql + Sync), Type); 7] = [
        (&server.profile(), Type::INT8),
        (word, Type::TEXT),
        (&first, Type::INT8),
        (&last, Type::INT8),
        (&limit, Type::INT8),
        (&others, Type::TEXT_ARRAY),
        (&count, Type::INT8),
    ];
    let rows = match others {
        [] => server.ask(WITH_ONE, &asked[..5])?,
        _ => server.ask(WITH_ALL, &asked)?,
    };
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// For each of some stems, by its place: the chunks of each range that have it, the highest numbers first.
pub(super) fn chunks_with_each(
    server: &Server,
    stems: &[&str],
    ranges: &[RangeInclusive<i64>],
    limit: i64,
) -> Result<HashMap<usize, BTreeMap<i64, Vec<i64>>>> {
    let firsts: Vec<i64> = ranges.iter().map(|range| *range.start()).collect();
    let lasts: Vec<i64> = ranges.iter().map(|range| *range.end()).collect();
    let asked: [(&(dyn ToSql + Sync), Type); 5] = [
        (&server.profile(), Type::INT8),
        (&stems, Type::TEXT_ARRAY),
        (&firsts, Type::INT8_ARRAY),
        (&lasts, Type::INT8_ARRAY),
        (&limit, Type::INT8),
    ];
    let mut lists: HashMap<usize, BTreeMap<i64, Vec<i64>>> = HashMap::new();
    for row in server.ask(WITH_EACH, &asked)? {
        let place: i64 = row.try_get(0)?;
        let place = usize::try_from(place - 1).unwrap_or(usize::MAX);
        let list = lists.entry(place).or_default().entry(row.try_get(1)?).or_default();
        list.push(row.try_get(2)?);
    }
    Ok(lists)
}

const LIKE_THE_INDEX: &str = "
    create virtual table chunk_words using fts5 (
      words, content = '', contentless_delete = 1, detail = none,
      tokenize = 'porter unicode61 remove_diacritics 2');
    create virtual table chunk_terms using fts5vocab (chunk_words, instance);";
const ADD: &str = "
    insert into hermes.chunk_words (profile, word, chunk)
    select $1, word, chunk from unnest($2, $3) as given (word, chunk)
    on conflict do nothing";
const ADD_CHUNKS: &str = "
    insert into hermes.chunk (profile, id, start, length, tokens)
    select $1, id, start, length, tokens
    from unnest($2, $3, $4, $5) as given (id, start, length, tokens)";
const REMOVE_WORDS: &str = "
    delete from hermes.chunk_words w using unnest($2) as gone (chunk)
    where w.profile = $1 and w.chunk = gone.chunk";
const REMOVE_CHUNKS: &str = "delete from hermes.chunk where profile = $1 and id = any ($2)";
const WITH_ONE: &str = "
    select chunk from hermes.chunk_words
    where profile = $1 and word = $2 and chunk between $3 and $4
    order by chunk desc limit $5";
const WITH_EACH: &str = "
    select asked.place, part.place, found.chunk
    from unnest($2) with ordinality as asked (word, place),
      unnest($3, $4) with ordinality as part (first, last, place),
      lateral (
        select w.chunk from hermes.chunk_words w
        where w.profile = $1 and w.word = asked.word and w.chunk between part.first and part.last
        order by w.chunk desc limit $5) found
    where asked.word <> '' order by 1, 2, 3 desc";
const WITH_ALL: &str = "
    select w.chunk from hermes.chunk_words w
    where w.profile = $1 and w.word = $2 and w.chunk between $3 and $4
      and (select count(*) from unnest($6) as other (word), lateral (
             select 1 from hermes.chunk_words o
             where o.profile = $1 and o.word = other.word and o.chunk = w.chunk offset 0) has) = $7
    order by w.chunk desc limit $5";
