//! Copy every row that can still be read from a damaged state.db of ours to a new one.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, Statement, params_from_iter};
use serde::Serialize;

use super::layout::{Layout, Owner, Table};
use super::{SessionStore, identity};
use crate::sqlite::{self, Access};
use crate::{Error, Result};

/// What was saved of a damaged database, and what was lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Salvaged {
    /// Sessions copied whole.
    pub sessions: u64,
    /// Sessions whose row was lost and made anew because messages of theirs were saved.
    pub sessions_made_anew: u64,
    /// Session rows that could not be read.
    pub sessions_lost: u64,
    /// Messages copied.
    pub messages: u64,
    /// Messages that could not be read.
    pub messages_lost: u64,
}

/// How many row numbers to try where the highest one cannot be found out.
const NUMBERS_TO_TRY: i64 = 100_000;

const LAST_NUMBER: &str = "select seq from sqlite_sequence where name = 'messages'";

const MAKE_LOST_SESSIONS: &str = "
    insert into sessions (id, source, started_at)
    select session_id, 'recovered', min(timestamp) from messages
    where session_id not in (select id from sessions) group by session_id";

const FORGET_LOST_PARENTS: &str = "
    update sessions set parent_session_id = null
    where parent_session_id not in (select id from sessions)";

/// Whether the schema of a damaged file can be read and says that we made the file; fails if a later version did.
pub(super) fn is_ours(path: &Path, wait: Duration) -> Result<bool> {
    let connection = sqlite::open_damaged(path, wait)?;
    let Ok(Some(layout)) = Layout::detect(&connection) else { return Ok(false) };
    super::refuse_newer(&connection, path, &layout)?;
    Ok(layout.owner() != Owner::Foreign)
}

/// Makes a new database at `to` of all that can be read from the damaged one at `from`.
pub(super) fn salvage(from: &Path, to: &Path, wait: Duration) -> Result<Salvaged> {
    let damaged = sqlite::open_damaged(from, wait)?;
    let layout = super::detect(&damaged, from)?;
    let source = |table| {
        Source::of(&damaged, &layout, table).map_err(|source| Error::from_sqlite(from, source))
    };
    let (mut sessions, mut messages) = (source(Table::Sessions)?, source(Table::Messages)?);
    let mut salvaged = Salvaged::default();
    sqlite::create(to, |fresh| {
        crate::migrate::apply(fresh, crate::migrate::STATE)
            .and_then(|()| identity::take_over(&damaged, fresh))
            .and_then(|()| copy_all(&mut sessions, &mut messages, fresh))
            .map(|copied| salvaged = copied)
            .map_err(|source| Error::from_sqlite(to, source))
    })?;
    // Opened once in the usual way, so that a file we could not use never takes the name.
    SessionStore::open(to, Access::Read, wait)?;
    Ok(salvaged)
}

fn copy_all(
    sessions: &mut Source<'_>,
    messages: &mut Source<'_>,
    fresh: &mut Connection,
) -> rusqlite::Result<Salvaged> {
    fresh.pragma_update(None, "foreign_keys", false)?;
    let recount = Layout::detect(fresh)?.and_then(|layout| layout.recount());
    let step = fresh.transaction()?;
    let sessions = sessions.copy_to(&step)?;
    let messages = messages.copy_to(&step)?;
    let made_anew = step.execute(MAKE_LOST_SESSIONS, [])?;
    step.execute(FORGET_LOST_PARENTS, [])?;
    step.execute_batch(&recount.unwrap_or_default())?;
    step.commit()?;
    Ok(Salvaged {
        sessions: sessions.saved,
        sessions_made_anew: u64::try_from(made_anew).unwrap_or(u64::MAX),
        sessions_lost: sessions.lost,
        messages: messages.saved,
        messages_lost: messages.lost,
    })
}

#[derive(Debug, Default)]
struct Copied {
    saved: u64,
    lost: u64,
}

/// A table of the damaged database.
struct Source<'a> {
    insert: String,
    rows_after: Statement<'a>,
    row_at: Statement<'a>,
    last: i64,
}

impl<'a> Source<'a> {
    fn of(damaged: &'a Connection, layout: &Layout, table: Table) -> rusqlite::Result<Source<'a>> {
        let names: Vec<&str> = layout.columns(table).iter().map(|c| c.name.as_str()).collect();
        Ok(Source {
            insert: layout.insert(table, &names),
            rows_after: damaged.prepare(&layout.rows_after(table))?,
            row_at: damaged.prepare(&layout.row_at(table))?,
            last: last_number(damaged, layout, table),
        })
    }

    /// Copies rows in the order of their numbers; where reading fails, tries every number by itself
    /// until one can be read again.
    fn copy_to(&mut self, fresh: &Connection) -> rusqlite::Result<Copied> {
        let mut add = fresh.prepare(&self.insert)?;
        let mut copied = Copied::default();
        let mut take = |copied: &mut Copied, values: Vec<Sql>| {
            // A row that breaks a rule of the schema was damaged itself.
            match add.execute(params_from_iter(values)) {
                Ok(_) => copied.saved += 1,
                Err(_) => copied.lost += 1,
            }
        };
        let mut after = 0;
        while let Stopped::AtDamage(number) =
            self.copy_run(after, &mut |values| take(&mut copied, values))
        {
            let skipped = self.skip_damage(number);
            copied.lost += skipped.lost;
            let Some((number, values)) = skipped.next else { break };
            take(&mut copied, values);
            after = number;
        }
        Ok(copied)
    }

    fn copy_run(&mut self, after: i64, take: &mut dyn FnMut(Vec<Sql>)) -> Stopped {
        let mut next = after + 1;
        let Ok(mut rows) = self.rows_after.query([after]) else {
            return Stopped::AtDamage(next);
        };
        loop {
            match rows.next().and_then(|row| row.map(numbered).transpose()) {
                Ok(Some((number, values))) => {
                    take(values);
                    next = number + 1;
                }
                Ok(None) => return Stopped::AtEnd,
                Err(_) => return Stopped::AtDamage(next),
            }
        }
    }

    /// The next row that can be read, and how many numbers before it could not.
    fn skip_damage(&mut self, first: i64) -> Skipped {
        let mut lost = 0;
        for number in first..=self.last {
            match self.row_at.query_row([number], numbered).optional() {
                Ok(None) => {}
                Ok(next) => return Skipped { lost, next },
                Err(_) => lost += 1,
            }
        }
        Skipped { lost, next: None }
    }
}

enum Stopped {
    AtEnd,
    /// The first number that was not read.
    AtDamage(i64),
}

struct Skipped {
    lost: u64,
    next: Option<(i64, Vec<Sql>)>,
}

/// The number of a row and its values; bytes that are no text are replaced, not the row lost.
fn numbered(row: &Row<'_>) -> rusqlite::Result<(i64, Vec<Sql>)> {
    let value = |at| -> rusqlite::Result<Sql> {
        Ok(match row.get_ref(at)? {
            ValueRef::Text(bytes) => Sql::Text(String::from_utf8_lossy(bytes).into_owned()),
            other => other.try_into()?,
        })
    };
    let values = (1..row.as_ref().column_count()).map(value);
    Ok((row.get(0)?, values.collect::<rusqlite::Result<_>>()?))
}

fn last_number(damaged: &Connection, layout: &Layout, table: Table) -> i64 {
    let highest = || damaged.query_row(&layout.highest_row(table), [], |row| row.get(0)).ok();
    let recorded = || match table {
        Table::Messages => damaged.query_row(LAST_NUMBER, [], |row| row.get(0)).ok(),
        Table::Sessions => None,
    };
    let last: Option<i64> = recorded().or_else(highest);
    last.unwrap_or(NUMBERS_TO_TRY)
}
