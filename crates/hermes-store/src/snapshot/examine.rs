//! What can be said of a database that nobody else uses: is it whole, and how much is in it.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{Connection, ErrorCode};

use crate::error::words_of;
use crate::sqlite::{self, Access, still};
use crate::{Error, Result};

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Pages alone; indexes are not compared with their tables.
    Quick,
    /// Everything.
    Full,
}

impl Depth {
    /// Above this a close look takes minutes.
    const QUICK_ABOVE: u64 = 2 * 1024 * 1024 * 1024;

    /// How closely to look at a file of this size.
    pub fn for_size(bytes: u64) -> Depth {
        if bytes > Depth::QUICK_ABOVE { Depth::Quick } else { Depth::Full }
    }

    /// `quick` or `full`.
    pub fn as_str(self) -> &'static str {
        match self {
            Depth::Quick => "quick",
            Depth::Full => "full",
        }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// The version of its tables, as the database says it.
    pub schema_version: Option<i64>,
    /// How many pages it has.
    pub pages: u64,
    /// How large a page is.
    pub page_size: u32,
    /// `ok`, or the first thing that is wrong; full-text indexes are told apart.
    pub integrity: String,
    /// How closely was looked.
    pub checked: Depth,
    /// Each full-text index: `ok`, what is wrong, or `not checked: ` and why.
    pub indexes: BTreeMap<String, String>,
    /// How many rows each ordinary table has; empty if the pages are damaged.
    pub rows: BTreeMap<String, u64>,
    /// The highest number of a message, where there are messages.
    pub newest_message: Option<i64>,
}

impl Examined {
    /// Whether the pages, tables and ordinary indexes are whole.
    pub fn is_whole(&self) -> bool {
        self.integrity == OK
    }
}

const OK: &str = "ok";

/// What SQLite writes above its findings.
const HEAD: &str = "*** in database ";

/// Looks a database over: a copy, or one that nobody writes to. Its bytes stay as they are.
///
/// Fails if it cannot be opened at all; what is wrong inside is in the answer.
pub fn examine(path: &Path, depth: Depth) -> Result<Examined> {
    let connection = match sqlite::open_for_checking(path, sqlite::DEFAULT_WAIT) {
        Err(refusal) if still::is_for_want_of_room(&refusal) => {
            sqlite::open(path, Access::Read, sqlite::DEFAULT_WAIT)
        }
        other => other,
    }?;
    look_over(&connection, depth).map_err(|source| Error::from_sqlite(path, source))
}

fn look_over(connection: &Connection, depth: Depth) -> rusqlite::Result<Examined> {
    // Indexes are compared row by row: with the usual 2 MB most pages would be read many times.
    connection.pragma_update(None, "cache_size", -32 * 1024)?;
    let pages = check_pages(connection, depth)?;
    let mut examined = Examined {
        schema_version: None,
        pages: connection.pragma_query_value(None, "page_count", |row| row.get(0))?,
        page_size: connection.pragma_query_value(None, "page_size", |row| row.get(0))?,
        integrity: pages.integrity(),
        checked: depth,
        indexes: BTreeMap::new(),
        rows: BTreeMap::new(),
        newest_message: None,
    };
    if examined.is_whole() {
        examined.indexes = check_full_text(connection, &pages, depth)?;
        examined.rows = count_rows(connection)?;
        examined.schema_version = schema_version(connection)?;
        examined.newest_message = newest_message(connection);
    }
    Ok(examined)
}

/// What SQLite's own check said.
struct PageCheck {
    findings: Vec<String>,
    /// Why it ended early, which only a full-text index can bring about.
    ended: Option<String>,
}

impl PageCheck {
    fn integrity(&self) -> String {
        let about_pages = self.findings.iter().find(|line| index_named_in(line).is_none());
        about_pages.map_or_else(|| OK.to_owned(), String::clone)
    }

    fn about(&self, index: &str) -> Option<&String> {
        self.findings.iter().find(|line| index_named_in(line) == Some(index))
    }
}

/// Full-text indexes come last in SQLite's check, each in a line that ends with its name or goes on with a colon.
fn index_named_in(line: &str) -> Option<&str> {
    let (_, behind) = line.split_once("FTS5 table main.").or_else(|| line.split_once("fts5: "))?;
    Some(behind.split(": ").next().unwrap_or(behind))
}

fn check_pages(connection: &Connection, depth: Depth) -> rusqlite::Result<PageCheck> {
    let pragma = match depth {
        Depth::Quick => "quick_check",
        Depth::Full => "integrity_check",
    };
    let mut findings: Vec<String> = Vec::new();
    let ended = connection.pragma_query(None, pragma, |row| {
        let text: String = row.get(0)?;
        let lines = text.lines().filter(|line| *line != OK && !line.starts_with(HEAD));
        findings.extend(lines.map(str::to_owned));
        Ok(())
    });
    let ended = match ended {
        Ok(()) => None,
        Err(error) if is_damage(&error) => {
            findings.push(words_of(&error));
            None
        }
        // A tokenizer or function that we lack.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
            Some(words_of(&error))
        }
        Err(other) => return Err(other),
    };
    Ok(PageCheck { findings, ended })
}

const FULL_TEXT_TABLES: &str = "
    select name, sql from sqlite_schema
    where type = 'table' and sql like 'create virtual table%using fts5%' and sql not like '%fts5vocab%'";

fn check_full_text(
    connection: &Connection,
    pages: &PageCheck,
    depth: Depth,
) -> rusqlite::Result<BTreeMap<String, String>> {
    let mut tables = connection.prepare(FULL_TEXT_TABLES)?;
    let tables: Vec<(String, String)> = tables
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut indexes = BTreeMap::new();
    for (name, sql) in tables {
        // SQLite's own check has compared an index with its text unless the text is kept in another table.
        let wants_more =
            pages.ended.is_some() || (has_text_elsewhere(&sql) && depth == Depth::Full);
        let found = match pages.about(&name) {
            Some(line) => line.clone(),
            None if wants_more => compare_full_text(connection, &name)?,
            None => OK.to_owned(),
        };
        indexes.insert(name, found);
    }
    Ok(indexes)
}

/// Whether the table was made with `content = 'another'`.
fn has_text_elsewhere(sql: &str) -> bool {
    let bare: String = sql.to_lowercase().split_whitespace().collect();
    let named = [",content=", "(content="].into_iter().find_map(|option| bare.split_once(option));
    named.is_some_and(|(_, value)| !value.starts_with("''") && !value.starts_with("\"\""))
}

/// FTS5 takes its check as an insert, which is taken back.
fn compare_full_text(connection: &Connection, index: &str) -> rusqlite::Result<String> {
    if connection.is_readonly("main")? {
        return Ok("not checked: the file is not writable".to_owned());
    }
    let name = quoted(index);
    let command = format!("insert into {name} ({name}, rank) values ('integrity-check', 1)");
    let undone = connection.unchecked_transaction()?;
    let found = match undone.execute(&command, []) {
        Ok(_) => OK.to_owned(),
        Err(error) if is_damage(&error) => words_of(&error),
        Err(error) => format!("not checked: {}", words_of(&error)),
    };
    undone.rollback()?;
    Ok(found)
}

/// Neither views nor virtual tables, nor what full-text indexes keep for themselves.
const ORDINARY_TABLES: &str = "
    select name from pragma_table_list
    where schema = 'main' and type = 'table' and name not like 'sqlite\\_%' escape '\\'";

fn count_rows(connection: &Connection) -> rusqlite::Result<BTreeMap<String, u64>> {
    let mut tables = connection.prepare(ORDINARY_TABLES)?;
    let names: Vec<String> =
        tables.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    let mut rows = BTreeMap::new();
    for name in names {
        let count = format!("select count(*) from {}", quoted(&name));
        rows.insert(name, connection.query_row(&count, [], |row| row.get(0))?);
    }
    Ok(rows)
}

const TABLE_VERSION: &str = "select max(version) from schema_version";
const HAS_TABLE_VERSION: &str =
    "select 1 from pragma_table_info('schema_version') where name = 'version'";

/// Hermes Agent's table, which a state.db of ours has too, else SQLite's own number.
fn schema_version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    if connection.prepare(HAS_TABLE_VERSION)?.exists([])?
        && let Ok(version) = connection.query_row(TABLE_VERSION, [], |row| row.get(0))
    {
        return Ok(version);
    }
    let number: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(Some(number).filter(|number| *number != 0))
}

const NEWEST_MESSAGE: &str = "select max(id) from messages";

/// None also for a table of that name that is something else.
fn newest_message(connection: &Connection) -> Option<i64> {
    connection.query_row(NEWEST_MESSAGE, [], |row| row.get(0)).ok().flatten()
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}
