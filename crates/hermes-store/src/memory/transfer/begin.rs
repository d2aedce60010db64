//! The beginning and the end of an import: what makes it one that can be gone on with.

use std::collections::BTreeMap;

use rusqlite::params;
use sha2::{Digest, Sha256};

use super::importer::Thing;
use super::values;
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{Change, ExportHead, Import, Uid};
use crate::memory::{Outcome, audit, numbers};

/// What is noted in the memory while an import is under way.
#[derive(serde::Serialize, serde::Deserialize)]
struct Noted {
    into_empty: bool,
    numbers: BTreeMap<String, i64>,
}

/// Makes the tables in which numbers are noted, or empties them; in a file they are gone when the connection is.
pub(super) fn prepare(connection: &Connection) -> backend::Result<()> {
    connection.make_import_tables()?;
    connection.execute_batch(EMPTY)
}

/// Begins an import, or finds the one that was cut off.
pub(super) fn begin(transaction: &Connection, head: &ExportHead) -> Outcome<Import> {
    let own_id: String = transaction.query_row(META, ["home_id"], |row| row.get(0))?;
    let profile: String = transaction.query_row(META, ["profile"], |row| row.get(0))?;
    let id = id_of(head);
    let noted: Option<String> =
        transaction.query_row(META, [key_of(&id)], |row| row.get(0)).optional()?;
    let earlier: Option<Noted> = noted.and_then(|noted| serde_json::from_str(&noted).ok());
    let resumes = earlier.is_some();
    let noted = match earlier {
        Some(noted) => noted,
        None => {
            let noted = look(transaction, head)?;
            let text = serde_json::to_string(&noted).unwrap_or_default();
            transaction.execute(NOTE, params![key_of(&id), text])?;
            noted
        }
    };
    if noted.into_empty && profile == head.profile && head.home_id.parse::<Uid>().is_ok() {
        transaction.execute(SET_HOME, [&head.home_id])?;
    }
    Ok(Import {
        id,
        resumes,
        is_own: own_id == head.home_id,
        home_id: head.home_id.clone(),
        into_empty: noted.into_empty,
        follows_chain: noted.into_empty,
        last_hash: None,
        added: 0,
        numbers_here: noted.numbers,
        numbers_there: head.numbers.clone(),
    })
}

/// Ties together what refers to later items, and closes the import if the document was whole.
pub(super) fn end(
    transaction: &Connection,
    import: &Import,
    is_whole: bool,
    change: Change<'_>,
) -> Outcome<()> {
    let kinds = [Thing::Fact, Thing::Procedure, Thing::Episode].map(|thing| thing as i64);
    for (kind, sql) in kinds.into_iter().zip([TIE_FACTS, TIE_PROCEDURES, TIE_EPISODES]) {
        transaction.execute(sql, [kind])?;
    }
    // Places of messages that are still to come must stay free.
    if !is_whole {
        return Ok(());
    }
    transaction.execute(CLOSE_SESSIONS, [import.into_empty])?;
    if import.into_empty {
        for (name, number) in &import.numbers_there {
            numbers::raise(transaction, name, (*number).min(1 << 31))?;
        }
    } else if import.added > 0
        && let Some(last) = &import.last_hash
    {
        let item = format!("the chain of {}", import.home_id);
        audit::append(transaction, change, "import.chain", &item, None, Some(last))?;
    }
    transaction.execute("delete from meta where key = ?1", [key_of(&import.id)])?;
    Ok(())
}

/// Whether nothing was ever kept in a memory.
pub(in crate::memory) fn is_blank(connection: &Connection) -> backend::Result<bool> {
    connection.query_row(IS_EMPTY, [], |row| row.get(0))
}

/// How the memory is before anything is taken in.
fn look(transaction: &Connection, head: &ExportHead) -> Outcome<Noted> {
    let is_empty = is_blank(transaction)?;
    let mut numbers: BTreeMap<String, i64> = numbers::all(transaction)?.into_iter().collect();
    let mut statement = transaction.prepare(LAST_SESSIONS)?;
    let sessions = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    numbers.extend(sessions.collect::<backend::Result<Vec<(String, i64)>>>()?);
    Ok(Noted { into_empty: is_empty && !head.is_part, numbers })
}

fn id_of(head: &ExportHead) -> String {
    let mut digest = Sha256::new();
    for part in [&head.home_id, &head.profile, &head.exported_at.to_string()] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    values::hex(&digest.finalize()[..8])
}

fn key_of(id: &str) -> String {
    format!("importing:{id}")
}

// On a server the tables stay, and are empty between imports.
const EMPTY: &str = "
    delete from import_moved; delete from import_later; delete from import_session_end;
    delete from import_seen_receipt; delete from import_waiting_name;
    insert into import_seen_receipt (id, at, user_id) select id, at, user_id from receipt;";
const META: &str = "select value from meta where key = ?1";
const NOTE: &str = "insert into meta (key, value) values (?1, ?2)";
const SET_HOME: &str = "update meta set value = ?1 where key = 'home_id'";
const IS_EMPTY: &str = "
    select not exists (select 1 from audit) and not exists (select 1 from session)
      and not exists (select 1 from fact) and not exists (select 1 from grave)
      and (select count(*) from \"user\") <= 2";
const LAST_SESSIONS: &str =
    "select 'session:' || user_id, max(id) from session group by user_id order by 1";
const TIE_FACTS: &str = "
    update fact set superseded_by = m.new
    from import_later l join import_moved m on m.kind = ?1 and m.old = l.old and m.new > 0
    where l.what = 0 and fact.id = l.item and fact.superseded_by is null";
const TIE_PROCEDURES: &str = "
    update procedure set superseded_by = m.new
    from import_later l join import_moved m on m.kind = ?1 and m.old = l.old and m.new > 0
    where l.what = 1 and procedure.id = l.item and procedure.superseded_by is null";
const TIE_EPISODES: &str = "
    update episode set compressed_into = m.new
    from import_later l join import_moved m on m.kind = ?1 and m.old = l.old and m.new > 0
    where l.what = 2 and episode.id = l.item and episode.compressed_into is null";
// The places of messages that are gone stay taken.
const CLOSE_SESSIONS: &str = "
    update session set messages = case when s.messages > session.messages then s.messages else session.messages end,
      dropped = case when ?1 <> 0 then s.dropped else
        (case when s.messages > session.messages then s.messages else session.messages end) -
        (select count(*) from message m where m.id between session.id << 12 and (session.id << 12) + 4095) end
    from import_session_end s where session.id = s.session";
