//! Looks after a file: its size, shrinking it, and what may be wrong with it.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::params;

use super::{File, segments};
use crate::error::words_of;
use crate::memory::ItemKind;
use crate::memory::backend::{Connection, Result};
use crate::memory::upkeep::NOTE_TIME;
use crate::memory::vector_model::{self, Model};
use crate::sqlite::Access;

/// What is wrong with pages, references and the keyword index; and what making the segments anew repairs.
pub(super) fn problems(file: &File, access: Access) -> Result<(Vec<String>, Vec<String>)> {
    let mut problems = pages(file.as_backend())?;
    problems.extend(references(file.as_backend())?);
    problems.extend(keyword_index(file, access)?);
    Ok((problems, segment_problems(file)?))
}

/// What SQLite writes above its findings.
const HEAD: &str = "*** in database ";

fn pages(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare("pragma quick_check(20)")?;
    let said: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_>>()?;
    let lines = said.iter().flat_map(|row| row.lines());
    let damage = lines.filter(|line| *line != "ok" && !line.starts_with(HEAD));
    Ok(damage.map(|line| format!("pages are damaged ({line})")).collect())
}

fn references(connection: &Connection) -> Result<Vec<String>> {
    let mut statement = connection.prepare(DANGLING)?;
    statement
        .query_map([], |row| {
            let (table, parent): (String, String) = (row.get(0)?, row.get(1)?);
            let count: i64 = row.get(2)?;
            Ok(format!("{count} rows of {table} refer to a {parent} that does not exist"))
        })?
        .collect()
}

/// FTS5 takes its check as an insert, which a reader may not do: it compares the rows only.
fn keyword_index(file: &File, access: Access) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    if access == Access::Write
        && let Err(refusal) = file.connection.execute_batch(CHECK_WORDS)
    {
        if refusal.sqlite_error_code() != Some(rusqlite::ErrorCode::DatabaseCorrupt) {
            return Err(refusal.into());
        }
        problems.push(format!("the keyword index is damaged ({})", words_of(&refusal)));
    }
    for (sql, what) in [
        (CHUNKS_WITHOUT_WORDS, "chunks are missing from the keyword index"),
        (WORDS_WITHOUT_CHUNK, "rows of the keyword index belong to no chunk"),
    ] {
        let count: i64 = file.as_backend().query_row(sql, [], |row| row.get(0))?;
        if count > 0 {
            problems.push(format!("{count} {what}"));
        }
    }
    Ok(problems)
}

fn segment_problems(file: &File) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let connection = file.as_backend();
    let mut statement = connection.prepare(SHAPES)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let code =
            vector_model::model(connection, row.get(1)?)?.map_or(0, |model| model.code_bytes());
        let (capacity, used): (i64, i64) = (row.get(2)?, row.get(3)?);
        let wanted = |bytes: usize| i64::try_from(bytes).ok().map(|bytes| capacity * bytes);
        let fits = (0..=capacity).contains(&used)
            && row.get::<_, Option<i64>>(4)? == wanted(code)
            && row.get::<_, Option<i64>>(5)? == wanted(segments::SLOT);
        if !fits {
            let id: i64 = row.get(0)?;
            problems.push(format!("segment {id} of the vectors has the wrong length"));
        }
    }
    let Some(model) = vector_model::active(connection)? else { return Ok(problems) };
    let kept: i64 = connection.query_row(
        "select count(*) from vector where model = ?1",
        [model.id],
        |row| row.get(0),
    )?;
    let live: u64 = live_slots(connection, &model)?.values().sum();
    if kept.unsigned_abs() != live {
        problems.push(format!("there are {kept} vectors, but the segments have {live} of them"));
    }
    Ok(problems)
}

/// How many vectors of a model there are of each kind. Read from the slots, 16 bytes for
/// each: at a million vectors that is 16 MB, where the vectors themselves are 260 MB.
pub(super) fn live_slots(connection: &Connection, model: &Model) -> Result<HashMap<ItemKind, u64>> {
    let mut live = HashMap::new();
    let mut statement = connection.prepare_cached(SLOTS)?;
    let mut found = statement.query([model.id])?;
    while let Some(row) = found.next()? {
        let Some(kind) = ItemKind::from_number(row.get(0)?) else { continue };
        let used = usize::try_from(row.get::<_, i64>(1)?).unwrap_or(0);
        let slots = row.get_ref(2)?.as_blob()?.chunks_exact(segments::SLOT).take(used);
        let count = slots.filter(|slot| segments::slot_key(slot) != segments::EMPTY).count();
        *live.entry(kind).or_insert(0) += count as u64;
    }
    Ok(live)
}

/// Shrinks the file to what is in it.
pub(super) fn shrink(file: &File, now: Timestamp) -> Result<()> {
    let connection = file.as_backend();
    connection.execute_batch("insert into chunk_words (chunk_words) values ('optimize')")?;
    connection.put(&NOTE_TIME, params!["last_vacuum", now.as_millisecond().to_string()])?;
    // The copy that is made for it would be as large in memory as the file: it goes to a file, which
    // has no name and is gone with the connection.
    file.connection.pragma_update(None, "temp_store", "file")?;
    let done = file.connection.execute_batch("vacuum");
    file.connection.pragma_update(None, "temp_store", "memory")?;
    done?;
    // Without this the log keeps a copy of every page, and the file its old length.
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))
}

pub(super) fn size(file: &rusqlite::Connection) -> Result<u64> {
    let read = |pragma| file.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    Ok((read("page_count")? * read("page_size")?).unsigned_abs())
}

const SLOTS: &str = "
    select s.kind, s.used, t.slots from vector_segment s join vector_slots t on t.segment = s.id
    where s.model = ?1";
const DANGLING: &str = r#"
    select "table", parent, count(*) from pragma_foreign_key_check group by "table", parent"#;
const CHECK_WORDS: &str = "insert into chunk_words (chunk_words) values ('integrity-check')";
const CHUNKS_WITHOUT_WORDS: &str = "
    select count(*) from chunk where not exists (
      select 1 from chunk_words_docsize where chunk_words_docsize.id = chunk.id)";
const WORDS_WITHOUT_CHUNK: &str = "
    select count(*) from chunk_words_docsize where not exists (
      select 1 from chunk where chunk.id = chunk_words_docsize.id)";
const SHAPES: &str = "
    select s.id, s.model, s.capacity, s.used, length(c.codes), length(t.slots)
    from vector_segment s
    left join vector_codes c on c.segment = s.id left join vector_slots t on t.segment = s.id";
