//! The high-water mark and the checksums of messages: kept with each write, compared, used to bring rows back.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, OptionalExtension, Row, params_from_iter};

use super::layout::{FullText, Layout, Owner, Table};
use super::{SessionStore, Writing, time};
use crate::rot::{
    self, Behind, BroughtBack, Compared, DifferingRow, HighWater, Mark, Sums, SumsFile, Water,
    Which,
};
use crate::sqlite::{self, Access};
use crate::{Error, Result};

/// What is kept beside a state.db that is written to.
#[derive(Debug)]
pub(super) struct Keeping {
    water: RefCell<Water>,
    sums: SumsFile,
    /// What the triggers saw in the transaction that goes on.
    seen: Seen,
}

type Seen = Arc<Mutex<Vec<Written>>>;

/// One message that was written.
#[derive(Debug, Clone, Copy)]
struct Written {
    id: i64,
    sum: i64,
    at: i64,
}

impl Keeping {
    /// A transaction begins: what an earlier one saw and took back is nothing.
    pub(super) fn begin(&self) {
        self.seen().clear();
    }

    /// A transaction was committed.
    pub(super) fn committed(&self) {
        let written = std::mem::take(&mut *self.seen());
        if written.is_empty() {
            return;
        }
        let sums: Vec<(i64, i64)> = written.iter().map(|one| (one.id, one.sum)).collect();
        self.sums.keep(&sums);
        if let Some(last) = written.iter().max_by_key(|one| one.id) {
            self.water.borrow_mut().raise(Mark { last: last.id, sum: last.sum, at: last.at });
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Vec<Written>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The columns that a sum covers: what this program writes into its own, and what each state.db has.
fn columns(layout: &Layout) -> Option<&'static [&'static str]> {
    const OURS: &[&str] =
        &["session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "reasoning"];
    const EACH: &[&str] = &["session_id", "role", "content"];
    let wanted = if layout.owner() == Owner::Foreign { EACH } else { OURS };
    let is_there = |name: &&str| layout.columns(Table::Messages).iter().any(|c| c.name == *name);
    (wanted.iter().all(is_there) && is_there(&"id")).then_some(wanted)
}

/// Another program may change its messages as it likes: only of ours a difference is damage.
fn is_changed_by_us_alone(layout: &Layout) -> bool {
    layout.owner() == Owner::Ours
}

fn row_sum(columns: &[&str]) -> String {
    format!("row_sum({})", columns.join(", "))
}

impl SessionStore {
    /// Whether the database has less than was acknowledged.
    pub fn behind(&self, marks: &HighWater) -> Result<Option<Behind>> {
        if let Some(noted) = marks.noted(Which::Sessions) {
            return Ok(Some(noted));
        }
        self.compare_with_mark(marks)
    }

    /// Raises the mark and keeps the sums of all that is written from now on. What is missing by now is noted first,
    /// so that it is not hidden.
    pub fn keep_mark(&mut self, marks: &HighWater) -> Result<()> {
        let Some(columns) = columns(&self.layout) else { return Ok(()) };
        if self.require_writable().is_err() {
            return Ok(());
        }
        let mut water = Water::open(marks, Which::Sessions);
        let sums = SumsFile::open(marks);
        let behind = self.compare_with_mark(marks)?;
        if let Some(behind) = behind {
            marks.note(Which::Sessions, behind);
            // Numbers that are given out again must not be compared with what they were.
            sums.cut_after(behind.found);
            water.set(self.last_mark(behind.found).map_err(|source| self.fault(source))?);
        }
        let seen = Seen::default();
        watch(&self.connection, columns, &seen).map_err(|source| self.fault(source))?;
        self.keeping = Some(Keeping { water: RefCell::new(water), sums, seen });
        Ok(())
    }

    /// Takes the database as it is: what is missing is given up, and the mark is what is there.
    pub fn accept_as_is(&self, marks: &HighWater) -> Result<()> {
        let last = self.last_number().map_err(|source| self.fault(source))?;
        let mark = self.last_mark(last).map_err(|source| self.fault(source))?;
        marks.forget_note(Which::Sessions)?;
        Water::open(marks, Which::Sessions).set(mark);
        Ok(())
    }

    fn compare_with_mark(&self, marks: &HighWater) -> Result<Option<Behind>> {
        // The mark is read first: what it says was in the database by then.
        let Some(mark) = marks.read(Which::Sessions) else { return Ok(None) };
        let look = || -> rusqlite::Result<Option<Behind>> {
            let found = self.last_number()?;
            let behind = Behind { acknowledged: mark.last, at: mark.at, found, is_other: false };
            Ok((found < mark.last).then_some(behind))
        };
        look().map_err(|source| self.fault(source))
    }

    /// The highest number that was ever given to a message.
    fn last_number(&self) -> rusqlite::Result<i64> {
        let given: Option<i64> =
            self.connection.query_row(LAST_GIVEN, [], |row| row.get(0)).optional().unwrap_or(None);
        match given {
            Some(given) => Ok(given),
            None => Ok(self.connection.query_row(HIGHEST, [], |row| row.get(0))?),
        }
    }

    fn last_mark(&self, last: i64) -> rusqlite::Result<Mark> {
        Ok(Mark { last, sum: self.sum_of(last)?.unwrap_or(0), at: 0 })
    }

    fn sum_of(&self, id: i64) -> rusqlite::Result<Option<i64>> {
        let Some(columns) = columns(&self.layout) else { return Ok(None) };
        rot::register(&self.connection)?;
        let read = format!("select {} from messages where id = ?1", row_sum(columns));
        self.connection.query_row(&read, [id], |row| row.get(0)).optional()
    }

    /// Brings back messages from a copy of this database: those that differ, where the copy has what was written,
    /// and those that are missing at its end. All in one transaction.
    pub fn bring_back_rows(
        &mut self,
        rows: &[DifferingRow],
        copy: &Path,
        marks: &HighWater,
    ) -> Result<BroughtBack> {
        let there = SessionStore::open(copy, Access::Read, sqlite::DEFAULT_WAIT)?;
        rot::register(&there.connection).map_err(|source| there.fault(source))?;
        let (sums, behind) = (Sums::read(marks), self.behind(marks)?);
        let Some(columns) = columns(&self.layout) else { return Ok(BroughtBack::default()) };
        let step = self.begin()?;
        let failed = |source| step.fault(source);
        let mut brought = BroughtBack::default();
        for row in rows {
            let is_back = put_back(&step, &there, (columns, &sums), row).map_err(failed)?;
            (if is_back { &mut brought.back } else { &mut brought.lost }).push(row.clone());
        }
        if let Some(behind) = behind {
            brought.added = add_missing(&step, &there, behind).map_err(failed)?;
        }
        if !brought.back.is_empty() {
            make_index_anew(&step).map_err(failed)?;
        }
        step.commit()?;
        Ok(brought)
    }

    /// Takes messages as they are: what is in them counts as written from now on.
    pub fn accept_rows(&self, rows: &[DifferingRow], marks: &HighWater) -> Result<()> {
        let read = |row: &DifferingRow| {
            let id = row.key.first().copied().unwrap_or(0);
            Ok(self.sum_of(id)?.map(|sum| (id, sum)))
        };
        let sums: rusqlite::Result<Vec<Option<(i64, i64)>>> = rows.iter().map(read).collect();
        let sums: Vec<(i64, i64)> =
            sums.map_err(|source| self.fault(source))?.into_iter().flatten().collect();
        SumsFile::open(marks).keep(&sums);
        Ok(())
    }
}

/// Lets triggers of this connection tell what is written.
fn watch(connection: &Connection, columns: &[&str], seen: &Seen) -> rusqlite::Result<()> {
    rot::register(connection)?;
    let seen = Arc::clone(seen);
    connection.create_scalar_function(
        "note_written",
        3,
        FunctionFlags::SQLITE_UTF8,
        move |values| {
            let at = match values.get_raw(2) {
                rusqlite::types::ValueRef::Integer(at) => at.saturating_mul(1000),
                rusqlite::types::ValueRef::Real(at) => (at * 1000.0) as i64,
                _ => 0,
            };
            let written = Written { id: values.get(0)?, sum: values.get(1)?, at };
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(written);
            Ok(Sql::Null)
        },
    )?;
    let note = format!(
        "select note_written(new.id, {}, (select timestamp from message_view where id = new.id))
         from main.messages where id = new.id;",
        row_sum(columns)
    );
    let differs = |column: &&str| format!("old.{column} is not new.{column}");
    let differs = columns.iter().map(differs).collect::<Vec<_>>().join(" or ");
    connection.execute_batch(&format!(
        "create temp trigger message_written after insert on main.messages begin {note} end;
         create temp trigger message_changed after update of {} on main.messages
         when {differs} begin {note} end;",
        columns.join(", ")
    ))
}

/// Compares every message that has a checksum with it; `before` is what the sums were before the copy was made, if
/// it is one. Messages without one get theirs.
pub fn compare_sessions(
    path: &Path,
    marks: &HighWater,
    before: &Sums,
    wait: Duration,
) -> Result<Compared> {
    let connection = sqlite::open(path, Access::Read, wait)?;
    let layout = super::detect(&connection, path)?;
    let failed = |source| Error::from_sqlite(path, source);
    layout.make_views(&connection).map_err(failed)?;
    let Some(columns) = columns(&layout) else { return Ok(Compared::default()) };
    let mut unknown = Vec::new();
    let mut compared = compare(&connection, columns, before, &mut unknown).map_err(failed)?;
    if !(compared.differing.is_empty() && unknown.is_empty()) {
        // What was written meanwhile has its sum since.
        let now = Sums::read(marks);
        let is_still = |row: &DifferingRow| {
            let id = row.key.first().copied().unwrap_or(0);
            now.of(id) == before.of(id)
        };
        compared.differing.retain(is_still);
        unknown.retain(|(id, _)| now.of(*id).is_none());
        SumsFile::open(marks).keep(&unknown);
    }
    compared.changed_by_others = !is_changed_by_us_alone(&layout);
    Ok(compared)
}

fn compare(
    connection: &Connection,
    columns: &[&str],
    sums: &Sums,
    unknown: &mut Vec<(i64, i64)>,
) -> rusqlite::Result<Compared> {
    rot::register(connection)?;
    let read = format!("select id, {} from main.messages", row_sum(columns));
    let mut statement = connection.prepare(&read)?;
    let mut rows = statement.query([])?;
    let mut compared = Compared::default();
    while let Some(row) = rows.next()? {
        let (id, sum): (i64, i64) = (row.get(0)?, row.get(1)?);
        match sums.of(id) {
            None => {
                compared.without_sum += 1;
                unknown.push((id, sum));
            }
            Some(known) => {
                compared.rows += 1;
                if known != sum {
                    compared.differing.push(named(connection, id)?);
                }
            }
        }
    }
    Ok(compared)
}

fn named(connection: &Connection, id: i64) -> rusqlite::Result<DifferingRow> {
    let of_row = |row: &Row<'_>| {
        let session = row.get_ref(0)?.as_bytes_or_null().ok().flatten();
        let at = row.get::<_, Option<f64>>(1).unwrap_or(None);
        Ok(DifferingRow {
            kind: "message",
            name: format!("message {id}"),
            session: session.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            at: at.map(time::from_seconds),
            key: vec![id],
        })
    };
    connection.query_row(WHERE_AND_WHEN, [id], of_row)
}

/// Puts the words of one message back, if the copy has those whose sum is known.
fn put_back(
    step: &Writing<'_>,
    there: &SessionStore,
    (columns, sums): (&[&str], &Sums),
    row: &DifferingRow,
) -> rusqlite::Result<bool> {
    let Some(id) = row.key.first().copied() else { return Ok(false) };
    let read =
        format!("select {}, {} from messages where id = ?1", row_sum(columns), columns.join(", "));
    let found = there
        .connection
        .prepare_cached(&read)?
        .query_row([id], |row| {
            let values = (1..=columns.len()).map(|place| row.get(place));
            Ok((row.get::<_, i64>(0)?, values.collect::<rusqlite::Result<Vec<Sql>>>()?))
        })
        .optional()
        .unwrap_or(None);
    let Some((sum, mut values)) = found else { return Ok(false) };
    if sums.of(id) != Some(sum) {
        return Ok(false);
    }
    let set = |(place, column): (usize, &&str)| format!("{column} = ?{}", place + 1);
    let set = columns.iter().enumerate().map(set).collect::<Vec<_>>().join(", ");
    values.push(Sql::Integer(id));
    let update = format!("update messages set {set} where id = ?{}", values.len());
    step.transaction.prepare_cached(&update)?.execute(params_from_iter(values))?;
    Ok(true)
}

/// Adds the messages of a copy that were acknowledged and are not there, with the sessions they belong to.
fn add_missing(
    step: &Writing<'_>,
    there: &SessionStore,
    behind: Behind,
) -> rusqlite::Result<Vec<DifferingRow>> {
    let mut added = Vec::new();
    let from = &there.connection;
    let mut ids = from.prepare(IDS_BETWEEN)?;
    let ids: Vec<i64> = ids
        .query_map([behind.found, behind.acknowledged], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for id in ids {
        let is_there = |known: &str, values: &[Sql]| -> rusqlite::Result<bool> {
            step.transaction.prepare_cached(known)?.exists(params_from_iter(values))
        };
        let known: Vec<Sql> =
            from.query_row(KNOWN_BY, [id], |row| (0..4).map(|place| row.get(place)).collect())?;
        // It may have been recorded again since, under another number.
        if is_there(SAME_WORDS, &known)? || is_there(TAKEN, &[Sql::Integer(id)])? {
            continue;
        }
        let session = &known[..1];
        if !is_there(HAS_SESSION, session)? {
            copy_row(step, there, Table::Sessions, session)?;
        }
        copy_row(step, there, Table::Messages, &[Sql::Integer(id)])?;
        added.push(named(from, id)?);
    }
    if let Some(recount) = step.layout.recount().filter(|_| !added.is_empty()) {
        step.transaction.execute_batch(&recount)?;
    }
    Ok(added)
}

/// Copies one row with the columns that both have.
fn copy_row(
    step: &Writing<'_>,
    there: &SessionStore,
    table: Table,
    id: &[Sql],
) -> rusqlite::Result<()> {
    let has = |name: &str| there.layout.columns(table).iter().any(|column| column.name == name);
    let names: Vec<&str> = step.layout.columns(table).iter().map(|c| c.name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| has(name)).collect();
    let quoted: Vec<String> =
        names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let read = format!("select {} from {} where id = ?1", quoted.join(", "), table.name());
    let values: Vec<Sql> = there.connection.query_row(&read, params_from_iter(id), |row| {
        (0..names.len()).map(|place| row.get(place)).collect()
    })?;
    let insert = step.layout.insert(table, &names);
    step.transaction.execute(&insert, params_from_iter(values)).map(drop)
}

/// The triggers of the index took out words that were never in it: it is made anew from the messages.
fn make_index_anew(step: &Writing<'_>) -> rusqlite::Result<()> {
    match step.layout.full_text() {
        FullText::OverView | FullText::OverTable => step.transaction.execute_batch(REBUILD),
        _ => Ok(()),
    }
}

const LAST_GIVEN: &str = "select seq from sqlite_sequence where name = 'messages'";
const HIGHEST: &str = "select coalesce(max(id), 0) from messages";
const WHERE_AND_WHEN: &str = "select session_id, timestamp from message_view where id = ?1";
const IDS_BETWEEN: &str = "select id from messages where id > ?1 and id <= ?2 order by id";
const KNOWN_BY: &str =
    "select session_id, timestamp, role, content from message_view where id = ?1";
const SAME_WORDS: &str = "
    select 1 from message_view
    where session_id = ?1 and timestamp = ?2 and role = ?3 and content is ?4";
const TAKEN: &str = "select 1 from messages where id = ?1";
const HAS_SESSION: &str = "select 1 from sessions where id = ?1";
const REBUILD: &str = "insert into messages_fts (messages_fts) values ('rebuild')";
