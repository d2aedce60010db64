//! Which database a state.db is, so that messages of two databases with the same numbers are told apart.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::layout::Layout;
use super::{SessionId, SessionStore};
use crate::{Error, Result};

/// The table of ours that says which database this is.
const TABLE: &str = "database_identity";

const READ: &str = "select first, id from database_identity order by first";
const FILE: &str = "select file from database_identity order by first desc limit 1";
const BEGIN: &str = "
    insert into database_identity (first, id, file)
    select case when exists (select 1 from database_identity)
        then 1 + max(coalesce((select max(id) from messages), 0),
          coalesce((select seq from sqlite_sequence where name = 'messages'), 0))
        else 0 end,
      lower(hex(randomblob(16))), ?1
    where true
    on conflict (first) do update set id = excluded.id, file = excluded.file";
const ADD: &str = "insert or ignore into database_identity (first, id, file) values (?1, ?2, ?3)";
const OLDEST: &str = "
    select id, session_id, role, content, timestamp from message_view order by id limit ?1";
const NEWEST: &str = "
    select id, session_id, role, content, timestamp from message_view order by id desc limit ?1";

/// What the messages of one state.db are called elsewhere, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowNames {
    /// The first number and the id that holds from it on, in order; never empty.
    ranges: Vec<(i64, String)>,
}

impl RowNames {
    /// The names of a database that has one id for all of its messages.
    pub fn of_one(id: &str) -> RowNames {
        RowNames { ranges: vec![(i64::MIN, id.to_owned())] }
    }

    /// What the message with this number is called.
    pub fn name(&self, number: i64) -> String {
        let after = self.ranges.partition_point(|(first, _)| *first <= number);
        let (_, id) = &self.ranges[after.saturating_sub(1)];
        format!("{id}:{number}")
    }

    /// The id of the database, as it is now.
    pub fn database(&self) -> &str {
        self.ranges.last().map_or("", |(_, id)| id)
    }
}

/// One message as a print: its number, and a hash of what it says.
pub type RowPrint = (i64, [u8; 8]);

impl SessionStore {
    /// The names of the messages, if this database keeps an id of its own.
    pub fn row_names(&self) -> Result<Option<RowNames>> {
        if !self.layout().has_table(TABLE) {
            return Ok(None);
        }
        let read = || -> rusqlite::Result<Vec<(i64, String)>> {
            let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            self.connection().prepare_cached(READ)?.query_map([], row)?.collect()
        };
        let ranges = read().map_err(|source| self.fault(source))?;
        Ok((!ranges.is_empty()).then_some(RowNames { ranges }))
    }

    /// The oldest and the newest messages as prints: by them a database of another program is known again.
    pub fn row_prints(&self, each: u32) -> Result<Vec<RowPrint>> {
        let read = || -> rusqlite::Result<Vec<RowPrint>> {
            let mut prints = Vec::new();
            for sql in [OLDEST, NEWEST] {
                let mut statement = self.connection().prepare(sql)?;
                let found = statement.query_map([each], print_of)?;
                prints.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
            }
            Ok(prints)
        };
        let mut prints = read().map_err(|source| self.fault(source))?;
        prints.sort_unstable();
        prints.dedup();
        Ok(prints)
    }

    /// The prints of all messages of a session.
    pub fn prints_in(&self, session: &SessionId) -> Result<Vec<RowPrint>> {
        let read = || -> rusqlite::Result<Vec<RowPrint>> {
            let mut statement = self.connection().prepare(IN_SESSION)?;
            statement.query_map([session.as_str()], print_of)?.collect()
        };
        read().map_err(|source| self.fault(source))
    }

    /// The prints of the messages with these numbers, as far as they are there.
    pub fn prints_of(&self, numbers: &[i64]) -> Result<Vec<RowPrint>> {
        let read = || -> rusqlite::Result<Vec<RowPrint>> {
            let mut statement = self.connection().prepare(ONE)?;
            let mut prints = Vec::new();
            for number in numbers {
                prints.extend(statement.query_map([number], print_of)?.flatten());
            }
            Ok(prints)
        };
        read().map_err(|source| self.fault(source))
    }
}

/// The print of a message.
pub(super) fn print_in(connection: &Connection, number: i64) -> rusqlite::Result<RowPrint> {
    connection.query_row(ONE, [number], print_of)
}

const IN_SESSION: &str = "
    select id, session_id, role, content, timestamp from message_view where session_id = ?1";
const ONE: &str = "select id, session_id, role, content, timestamp from message_view where id = ?1";

fn print_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<RowPrint> {
    let mut digest = Sha256::new();
    for column in 1..5 {
        let bytes = match row.get_ref(column)? {
            rusqlite::types::ValueRef::Null => Vec::new(),
            rusqlite::types::ValueRef::Integer(number) => number.to_le_bytes().to_vec(),
            rusqlite::types::ValueRef::Real(number) => number.to_le_bytes().to_vec(),
            rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes) => {
                bytes.to_vec()
            }
        };
        digest.update((bytes.len() as u64).to_le_bytes());
        digest.update(bytes);
    }
    let hash: [u8; 32] = digest.finalize().into();
    let mut first = [0; 8];
    first.copy_from_slice(&hash[..8]);
    Ok((row.get(0)?, first))
}

/// Gives a database its id, and another one for what is added from now on if it is not the file that it was: a copy
/// may be behind the file it replaces, and its next numbers were used there.
pub(super) fn settle(connection: &mut Connection, layout: &Layout, path: &Path) -> Result<()> {
    if !layout.has_table(TABLE) {
        return Ok(());
    }
    let file = file_mark(path)?;
    let failed = |source| Error::from_sqlite(path, source);
    let is_same = |connection: &Connection| -> rusqlite::Result<bool> {
        let mut known = connection.prepare_cached(FILE)?;
        let mut rows = known.query([])?;
        Ok(match rows.next()? {
            Some(row) => row.get::<_, String>(0)? == file,
            None => false,
        })
    };
    if is_same(connection).map_err(failed)? {
        return Ok(());
    }
    let mut begin = || -> rusqlite::Result<()> {
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Looked at again: another process may have been faster.
        if !is_same(&step)? {
            step.execute(BEGIN, [&file])?;
        }
        step.commit()
    };
    begin().map_err(failed)
}

/// Takes over the ids of a damaged database, as far as they can be read.
pub(super) fn take_over(damaged: &Connection, fresh: &Connection) -> rusqlite::Result<()> {
    let read = || -> rusqlite::Result<Vec<(i64, String)>> {
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        damaged.prepare(READ)?.query_map([], row)?.collect()
    };
    // Without them every message gets a new id, and is compared by what it says.
    for (first, id) in read().unwrap_or_default() {
        fresh.execute(ADD, params![first, id, "before a repair"])?;
    }
    Ok(())
}

/// What tells this file from a copy of it: its number in the file system, and when it was made.
fn file_mark(path: &Path) -> Result<String> {
    let found = path.metadata().map_err(|source| Error::File {
        doing: "check",
        path: path.to_owned(),
        source,
    })?;
    let made =
        found.created().ok().and_then(|made| made.duration_since(std::time::UNIX_EPOCH).ok());
    let made = made.map_or(0, |made| made.as_nanos());
    Ok(format!("{}-{made}", found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_its_range() {
        let ranges = vec![(0, "a".to_owned()), (10, "b".to_owned())];
        let names = RowNames { ranges };
        assert_eq!([9, 10, 11].map(|number| names.name(number)), ["a:9", "b:10", "b:11"]);
        assert_eq!((names.name(-1).as_str(), names.database()), ("a:-1", "b"));
        assert_eq!(RowNames::of_one("x").name(3), "x:3");
    }
}
