//! The checksums of rows: kept by triggers of each connection that writes, compared and used to bring rows back.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{Connection as File, OptionalExtension as _, Row, params_from_iter};

use super::{code_check, segments};
use crate::memory::{Admin, Change, ChunkKey, ItemKind, Memory, Outcome, audit};
use crate::rot::{self, BroughtBack, Compared, DifferingRow};
use crate::sqlite::{self, Access};
use crate::{Error, Result};

/// A table whose rows have a checksum.
#[derive(Debug)]
struct Covered {
    table: &'static str,
    /// What the rows are called.
    kind: &'static str,
    key: &'static [&'static str],
    columns: &'static [&'static str],
    /// Which rows have one: a condition of SQL.
    only: &'static str,
    /// When the row was said or recorded.
    at: &'static str,
    /// The session it belongs to.
    session: &'static str,
}

const VECTOR: &str = "vector";

const COVERED: [Covered; 9] = [
    Covered {
        table: "message",
        kind: "message",
        key: &["id"],
        columns: &["at", "role", "speaker", "text", "caption"],
        only: "true",
        at: "at",
        session: "(select session_id from session where session.id = message.id >> 12)",
    },
    Covered {
        table: "episode",
        kind: "summary",
        key: &["id"],
        columns: &["task", "body"],
        only: "body is not null",
        at: "started_at",
        session: "(select session_id from session where session.id = episode.session)",
    },
    Covered {
        table: "fact",
        kind: "fact",
        key: &["id"],
        columns: &["statement", "kind", "subject", "predicate", "object", "recorded_at"],
        only: "true",
        at: "recorded_at",
        session: "null",
    },
    Covered {
        table: "procedure",
        kind: "procedure",
        key: &["id"],
        columns: &["kind", "task_type", "title", "body", "recorded_at"],
        only: "true",
        at: "recorded_at",
        session: "null",
    },
    Covered {
        table: "event",
        kind: "event",
        key: &["id"],
        columns: &["at", "kind", "text", "why"],
        only: "true",
        at: "at",
        session: "(select session_id from session where session.id = event.session)",
    },
    Covered {
        table: "revision",
        kind: "earlier text",
        key: &["kind", "item", "number"],
        columns: &["at", "body"],
        only: "true",
        at: "at",
        session: "null",
    },
    Covered {
        table: "source",
        kind: "quote",
        key: &["id"],
        columns: &["quote"],
        only: "quote is not null",
        at: "null",
        session: "null",
    },
    Covered {
        table: "proposal",
        kind: "proposal",
        key: &["id"],
        columns: &["kind", "body", "created_at"],
        only: "true",
        at: "created_at",
        session: "null",
    },
    // One statement writes vectors, and it writes their sums as well.
    Covered {
        table: VECTOR,
        kind: VECTOR,
        key: &["model", "chunk"],
        columns: &["v"],
        only: "true",
        at: "null",
        session: "null",
    },
];

impl Covered {
    fn sum(&self) -> String {
        format!("row_sum({})", self.columns.join(", "))
    }

    /// `one = ?1 and other = ?2`.
    fn by_key(&self, first: usize) -> String {
        let one = |(place, column): (usize, &&str)| format!("{column} = ?{}", place + first);
        self.key.iter().enumerate().map(one).collect::<Vec<_>>().join(" and ")
    }

    /// A row that is written gets its sum, and one whose words are changed a new one. Other changes leave it: what
    /// was altered by no statement must not get a sum that fits.
    fn triggers(&self) -> String {
        let Covered { table, only, columns, .. } = self;
        let this = |column: &&str| format!("{column} = new.{column}");
        let this = self.key.iter().map(this).collect::<Vec<_>>().join(" and ");
        let set = format!("update {table} set sum = {} where {this} and {only};", self.sum());
        let differs = |column: &&str| format!("old.{column} is not new.{column}");
        let differs = columns.iter().map(differs).collect::<Vec<_>>().join(" or ");
        format!(
            "create temp trigger sum_of_new_{table} after insert on main.{table} begin {set} end;
             create temp trigger sum_of_changed_{table} after update of {} on main.{table}
             when {differs} begin {set} end;",
            columns.join(", ")
        )
    }

    fn name(&self, key: &[i64]) -> String {
        let number = key.first().copied().unwrap_or(0);
        match (self.table, key) {
            ("message", _) => audit::item_name(ItemKind::Message, number),
            ("episode", _) => audit::item_name(ItemKind::Summary, number),
            ("fact", _) => audit::item_name(ItemKind::Fact, number),
            (_, [_, chunk]) => vector_name(ChunkKey::from_row(*chunk)),
            ("revision", [kind, item, number]) => match ItemKind::from_number(*kind) {
                Some(kind) => format!("{}, text {number}", audit::item_name(kind, *item)),
                None => format!("revision:{kind}:{item}:{number}"),
            },
            ("source", _) => format!("quote:{number}"),
            (table, _) => format!("{table}:{number}"),
        }
    }

    fn differing(&self, row: &Row<'_>) -> rusqlite::Result<DifferingRow> {
        let key: Vec<i64> =
            (0..self.key.len()).map(|place| row.get(place + 2)).collect::<rusqlite::Result<_>>()?;
        let session = row.get_ref(0)?.as_bytes_or_null().ok().flatten();
        let at = row.get::<_, Option<i64>>(1)?;
        Ok(DifferingRow {
            kind: self.kind,
            name: self.name(&key),
            session: session.map(|bytes| String::from_utf8_lossy(bytes).into_owned()),
            at: at.and_then(|at| Timestamp::from_millisecond(at).ok()),
            key,
        })
    }

    fn compare(&self, file: &File) -> rusqlite::Result<Compared> {
        let Covered { table, only, session, at, .. } = self;
        let key = self.key.join(", ");
        let count = format!("select count(*), count(sum) from {table} where {only}");
        let (rows, with_sum): (u64, u64) =
            file.query_row(&count, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let differing = format!(
            "select {session}, {at}, {key} from {table} where {only} and sum <> {}",
            self.sum()
        );
        let differing = file
            .prepare(&differing)?
            .query_map([], |row| self.differing(row))?
            .collect::<rusqlite::Result<_>>()?;
        let without_sum = rows - with_sum;
        Ok(Compared { rows: with_sum, without_sum, differing, changed_by_others: false })
    }

    /// The words of a row of a copy, if they are what was written: they fit their own sum, and either that sum is
    /// the one that is known here, or the words are the ones that are here and the sum is what changed.
    fn right_content(&self, copy: &File, here: &File, key: &[i64]) -> Outcome<Option<Vec<Value>>> {
        let columns = self.columns.join(", ");
        let read = format!(
            "select sum, {}, {columns} from {} where {}",
            self.sum(),
            self.table,
            self.by_key(1)
        );
        let read = |file: &File| {
            file.prepare_cached(&read)?
                .query_row(params_from_iter(key), |row| {
                    let values = (2..2 + self.columns.len()).map(|place| row.get(place));
                    let sums: (Option<i64>, i64) = (row.get(0)?, row.get(1)?);
                    // Bytes that are no text any more are an error of their own here.
                    Ok((sums, values.collect::<rusqlite::Result<Vec<Value>>>().ok()))
                })
                .optional()
        };
        let (Some((there, Some(words))), Some((known, _))) = (read(copy)?, read(here)?) else {
            return Ok(None);
        };
        let fits_itself = there.0 == Some(there.1);
        let is_it = there.0 == known.0 || there.1 == known.1;
        Ok((fits_itself && is_it).then_some(words))
    }

    fn put_back(&self, here: &File, key: &[i64], words: Vec<Value>) -> rusqlite::Result<()> {
        let one = |(place, column): (usize, &&str)| format!("{column} = ?{}", place + 1);
        let set = self.columns.iter().enumerate().map(one).collect::<Vec<_>>().join(", ");
        let by_key = self.by_key(self.columns.len() + 1);
        let update = format!("update {} set {set} where {by_key}", self.table);
        let given = words.into_iter().chain(key.iter().map(|part| Value::Integer(*part)));
        here.prepare_cached(&update)?.execute(params_from_iter(given))?;
        self.accept(here, key)
    }

    /// Gives a row the sum of what is in it.
    fn accept(&self, here: &File, key: &[i64]) -> rusqlite::Result<()> {
        let accept =
            format!("update {} set sum = {} where {}", self.table, self.sum(), self.by_key(1));
        here.prepare_cached(&accept)?.execute(params_from_iter(key)).map(drop)
    }
}

/// Of which part of which text a vector is.
fn vector_name(chunk: ChunkKey) -> String {
    let text = match chunk.kind() {
        Some(ItemKind::Message) | None => {
            audit::item_name(ItemKind::Message, chunk.message().get())
        }
        Some(kind) => audit::item_name(kind, chunk.item()),
    };
    format!("vector of {text}, part {}", chunk.part() + 1)
}

fn covered(kind: &str) -> Option<&'static Covered> {
    COVERED.iter().find(|covered| covered.kind == kind)
}

/// Lets a connection that writes keep the sums of what it writes.
pub(super) fn keep(file: &File) -> rusqlite::Result<()> {
    rot::register(file)?;
    let triggers: String =
        COVERED.iter().filter(|covered| covered.table != VECTOR).map(Covered::triggers).collect();
    file.execute_batch(&triggers)
}

/// Compares every row that has a checksum with it; for a copy, or a memory that others use meanwhile.
///
/// A memory of an earlier schema has no sums: nothing is compared.
pub fn compare_memory(path: &Path, wait: Duration) -> Result<Compared> {
    let file = sqlite::open(path, Access::Read, wait)?;
    let look = || -> rusqlite::Result<Compared> {
        rot::register(&file)?;
        // One state for all tables.
        let still = file.unchecked_transaction()?;
        let mut compared = Compared::default();
        for covered in &COVERED {
            if has_sums(&still, covered.table)? {
                compared.add(covered.compare(&still)?);
            }
        }
        Ok(compared)
    };
    look().map_err(|source| Error::from_sqlite(path, source))
}

fn has_sums(file: &File, table: &str) -> rusqlite::Result<bool> {
    file.prepare_cached(HAS_SUMS)?.exists([table])
}

impl Memory {
    /// Brings back rows from a copy of this memory, those alone whose words there are what was written here; all in
    /// one transaction. Rows that can be made anew are left to that.
    pub fn bring_back_rows(
        &mut self,
        rows: &[DifferingRow],
        copy: &Path,
        change: Change<'_>,
    ) -> Result<BroughtBack> {
        let from = sqlite::open(copy, Access::Read, sqlite::DEFAULT_WAIT)?;
        rot::register(&from).map_err(|source| Error::from_sqlite(copy, source))?;
        if !has_sums(&from, "message").map_err(|source| Error::from_sqlite(copy, source))? {
            return Ok(BroughtBack { lost: rows.to_vec(), ..BroughtBack::default() });
        }
        self.write(Admin, |transaction| {
            let mut brought = BroughtBack::default();
            let Some(here) = transaction.file().map(|file| &file.connection) else {
                return Ok(brought);
            };
            for row in rows {
                let covered = covered(row.kind);
                let words = match covered {
                    Some(covered) => covered.right_content(&from, here, &row.key)?,
                    None => None,
                };
                let (Some(covered), Some(words)) = (covered, words) else {
                    brought.lost.push(row.clone());
                    continue;
                };
                covered.put_back(here, &row.key, words)?;
                audit::append(transaction, change, "row.restore", &row.name, None, None)?;
                brought.back.push(row.clone());
            }
            Ok(brought)
        })
    }

    /// Takes rows as they are: what is in them counts as written from now on.
    pub fn accept_rows(&mut self, rows: &[DifferingRow], change: Change<'_>) -> Result<()> {
        self.write(Admin, |transaction| {
            let Some(here) = transaction.file().map(|file| &file.connection) else { return Ok(()) };
            for row in rows {
                let Some(covered) = covered(row.kind) else { continue };
                covered.accept(here, &row.key)?;
                audit::append(transaction, change, "row.accept", &row.name, None, None)?;
            }
            Ok(())
        })
    }

    /// Drops vectors that differ, so that they can be made anew from their text; returns how many.
    pub fn drop_differing_vectors(&mut self, rows: &[DifferingRow]) -> Result<u64> {
        let chunks: Vec<ChunkKey> = rows
            .iter()
            .filter(|row| row.kind == VECTOR)
            .filter_map(|row| row.key.get(1).copied().map(ChunkKey::from_row))
            .collect();
        self.write(Admin, |transaction| {
            segments::remove(transaction, &chunks)?;
            Ok(chunks.len() as u64)
        })
    }

    /// Gives a sum to each row that has none; returns how many.
    pub fn complete_sums(&mut self) -> Result<u64> {
        self.write(Admin, |transaction| {
            let Some(here) = transaction.file().map(|file| &file.connection) else { return Ok(0) };
            let mut done = 0;
            for covered in &COVERED {
                let Covered { table, only, .. } = covered;
                let sum = covered.sum();
                let fill = format!("update {table} set sum = {sum} where sum is null and {only}");
                done += here.execute(&fill, [])? as u64;
            }
            Ok(done)
        })
    }

    /// How many codes of vectors are not what their vectors give; they can be made anew.
    pub fn differing_codes(&self) -> Result<u64> {
        let Some(file) = self.connection.file().map(|file| &file.connection) else { return Ok(0) };
        let look = || code_check::differing_codes(&*self.connection, file);
        look().map_err(|source| self.failed(source))
    }
}

const HAS_SUMS: &str = "select 1 from pragma_table_info(?1) where name = 'sum'";
