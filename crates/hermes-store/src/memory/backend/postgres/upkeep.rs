//! Looks after the tables of a server: their size, what nobody needs any more, and what may be wrong with them.

use ::postgres::types::{ToSql, Type};
use jiff::Timestamp;
use rusqlite::params;

use super::{Server, vectors};
use crate::memory::Admin;
use crate::memory::backend::{Backend, Begin, Connection, Result};
use crate::memory::upkeep::NOTE_TIME;

/// The tables are shared: what other profiles have in them is counted too.
pub(super) fn size(server: &Server) -> Result<u64> {
    let size = server.as_backend().query_row(TABLE_SIZE, [], |row| row.get::<_, i64>(0))?;
    Ok(size.unsigned_abs())
}

/// Drops what nobody asks for any more; the space itself is the server's to reuse.
pub(super) fn clean_up(server: &Server, now: Timestamp) -> Result<()> {
    server.asks(Admin.into());
    let transaction = server.as_backend().transaction(Begin::Writing)?;
    transaction.put(&NOTE_TIME, params!["last_vacuum", now.as_millisecond().to_string()])?;
    let asked: [(&(dyn ToSql + Sync), Type); 1] = [(&server.profile(), Type::INT8)];
    server.change_rows(FORGET_DONE, &asked)?;
    vectors::forget_gone(server)?;
    transaction.commit()
}

/// What is wrong with references and the keyword index.
pub(super) fn problems(server: &Server) -> Result<Vec<String>> {
    let mut problems = references(server.as_backend())?;
    problems.extend(words(server.as_backend())?);
    Ok(problems)
}

/// A server is not told to watch over references, since every write would pay for it; they are looked at here.
fn references(connection: &Connection) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for (table, column, parent) in REFERENCES {
        let sql = format!(
            "select count(*) from {table} child where child.{column} is not null
             and not exists (select 1 from \"{parent}\" parent where parent.id = child.{column})"
        );
        let count: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
        if count > 0 {
            problems
                .push(format!("{count} rows of {table} refer to a {parent} that does not exist"));
        }
    }
    Ok(problems)
}

/// Which column refers to which table.
const REFERENCES: [(&str, &str, &str); 18] = [
    ("identity", "user_id", "user"),
    ("seen_identity", "user_id", "user"),
    ("session", "user_id", "user"),
    ("session", "channel", "label"),
    ("session", "source", "label"),
    ("episode", "user_id", "user"),
    ("episode", "session", "session"),
    ("episode", "compressed_into", "episode"),
    ("message", "episode", "episode"),
    ("fact", "user_id", "user"),
    ("fact", "superseded_by", "fact"),
    ("entity_alias", "entity", "entity"),
    ("mention", "entity", "entity"),
    ("procedure", "superseded_by", "procedure"),
    ("vector", "model", "embed_model"),
    ("covered", "summary", "episode"),
    ("summary_session", "summary", "episode"),
    ("conflict", "fact", "fact"),
];

/// A chunk without a word has no row among the words; words without a chunk are wrong.
fn words(connection: &Connection) -> Result<Vec<String>> {
    let count: i64 = connection.query_row(WORDS_OF_NO_CHUNK, [], |row| row.get(0))?;
    let what = "chunks exist only in the keyword index";
    Ok((count > 0).then(|| format!("{count} {what}")).into_iter().collect())
}

const WORDS_OF_NO_CHUNK: &str = "
    select count(distinct w.chunk) from chunk_words w
    where not exists (select 1 from chunk c where c.id = w.chunk)";
const TABLE_SIZE: &str = "
    select cast(coalesce(sum(pg_total_relation_size(c.oid)), 0) as bigint)
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'hermes' and c.relkind = 'r'";
// An answer that was lost is asked for within minutes.
const FORGET_DONE: &str = "
    delete from hermes.done where profile = $1 and at < now() - interval '1 day'";
