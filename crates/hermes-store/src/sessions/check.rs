//! Look a state.db over and name what is wrong with it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use serde::Serialize;

use super::content::text_of;
use super::layout::{FullText, Layout, Owner};
use super::stats::full_text_rows;
use crate::error::words_of;
use crate::sqlite::{self, Access, still};
use crate::{Error, ErrorKind, Result};

/// How closely to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Skip the comparison of indexes with their tables.
    Quick,
    /// Look at everything.
    Full,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Whose database it is, if that could be read.
    pub owner: Option<Owner>,
    /// How many messages there are, if they could be counted.
    pub messages: Option<i64>,
    /// How many messages the full-text index knows, if there is one.
    pub full_text_rows: Option<i64>,
    /// What is wrong; empty if nothing is.
    pub findings: Vec<Finding>,
    /// What could not be looked at, and why.
    pub not_checked: Vec<String>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Where.
    pub kind: FindingKind,
    /// What, in SQLite's words or ours.
    pub text: String,
}

/// Where something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The file cannot be opened as a database.
    Unreadable,
    /// Pages of the file are damaged.
    Pages,
    /// An index does not fit its table.
    Index,
    /// A row refers to one that is not there.
    Reference,
    /// The full-text index does not fit the messages.
    FullText,
}

impl CheckReport {
    /// Whether nothing is wrong.
    pub fn is_healthy(&self) -> bool {
        self.findings.is_empty()
    }

    fn find(&mut self, kind: FindingKind, text: impl Into<String>) {
        self.findings.push(Finding { kind, text: text.into() });
    }
}

const COUNT_MESSAGES: &str = "select count(*) from messages";

/// What SQLite writes above its findings.
const HEAD: &str = "*** in database ";

const COMPARE_FULL_TEXT: &str =
    "insert into messages_fts (messages_fts, rank) values ('integrity-check', 1)";

/// Hermes Agent's second index, which we do not use: whole or damaged depends on the version of
/// SQLite that looks at it, where a text has a NUL in it.
const TRIGRAM_INDEX: &str = "messages_fts_trigram";

/// A foreign index that its owner is still filling, or has set aside, is rightly incomplete.
const UNFINISHED_INDEX: &str = "
    select key from state_meta
    where key in ('fts_rebuild_high_water', 'fts_rebuild_progress', 'fts_stale')
        and coalesce(value, '') not in ('', '0')";

/// Looks a database over without changing it; fails only if it is missing, locked or of a later version.
pub fn check(path: &Path, depth: Depth, wait: Duration) -> Result<CheckReport> {
    let mut report = CheckReport {
        owner: None,
        messages: None,
        full_text_rows: None,
        findings: Vec::new(),
        not_checked: Vec::new(),
    };
    let opened = open(path, depth, wait).and_then(|connection| {
        let layout = super::detect(&connection, path)?;
        super::refuse_newer(&connection, path, &layout)?;
        Ok((connection, layout))
    });
    let (connection, layout) = match opened {
        Ok(opened) => opened,
        Err(error) if error.kind() == ErrorKind::Damaged => {
            report.find(FindingKind::Unreadable, error.to_string());
            return Ok(report);
        }
        Err(error) => return Err(error),
    };
    report.owner = Some(layout.owner());
    match look_over(&connection, &layout, depth, &mut report) {
        Ok(()) => Ok(report),
        Err(source) => match Error::from_sqlite(path, source) {
            Error::Damaged { why, .. } => {
                report.find(FindingKind::Pages, why);
                Ok(report)
            }
            other => Err(other),
        },
    }
}

/// FTS5 takes its integrity check as an insert, so only a close look needs to be able to write.
fn open(path: &Path, depth: Depth, wait: Duration) -> Result<Connection> {
    let reading = || sqlite::open(path, Access::Read, wait);
    match depth {
        Depth::Quick => reading(),
        Depth::Full => match sqlite::open_for_checking(path, wait) {
            Err(refusal) if still::is_for_want_of_room(&refusal) => reading(),
            other => other,
        },
    }
}

fn look_over(
    connection: &Connection,
    layout: &Layout,
    depth: Depth,
    report: &mut CheckReport,
) -> rusqlite::Result<()> {
    check_pages(connection, depth, report)?;
    if report.findings.iter().any(|finding| finding.kind == FindingKind::Pages) {
        report.not_checked.push("the rest, because pages are damaged".to_owned());
        return Ok(());
    }
    // One transaction, so that the counts fit one another while others write.
    let still = connection.unchecked_transaction()?;
    check_references(&still, report)?;
    report.messages = Some(still.query_row(COUNT_MESSAGES, [], |row| row.get(0))?);
    let is_comparable = check_full_text(&still, layout, report)?;
    still.finish()?;
    match depth {
        Depth::Full if is_comparable => check_full_text_closely(connection, report),
        _ => Ok(()),
    }
}

fn check_pages(
    connection: &Connection,
    depth: Depth,
    report: &mut CheckReport,
) -> rusqlite::Result<()> {
    let pragma = match depth {
        Depth::Quick => "quick_check",
        Depth::Full => "integrity_check",
    };
    let mut lines: Vec<String> = Vec::new();
    // Where the pages are too bad to read on, what was found until then still counts.
    let ended = connection.pragma_query(None, pragma, |row| {
        lines.extend(text_of(row.get_ref(0)?));
        Ok(())
    });
    let findings = lines.iter().flat_map(|row| row.lines());
    for line in findings.filter(|line| *line != "ok" && !line.starts_with(HEAD)) {
        if line.contains(TRIGRAM_INDEX) {
            let gap = format!("{TRIGRAM_INDEX}, an index of Hermes Agent");
            if !report.not_checked.contains(&gap) {
                report.not_checked.push(gap);
            }
            continue;
        }
        let kind = if line.contains("malformed inverted index") || line.contains("fts5") {
            FindingKind::FullText
        } else if line.contains("missing from index") || line.contains("entries in index") {
            FindingKind::Index
        } else {
            FindingKind::Pages
        };
        report.find(kind, line);
    }
    ended
}

fn check_references(connection: &Connection, report: &mut CheckReport) -> rusqlite::Result<()> {
    let mut broken: Vec<String> = Vec::new();
    connection.pragma_query(None, "foreign_key_check", |row| {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        broken.push(format!("a row of {table} refers to a row of {parent} that does not exist"));
        Ok(())
    })?;
    let count = broken.len();
    if let Some(first) = broken.into_iter().next() {
        report.find(FindingKind::Reference, format!("{first} ({count} in total)"));
    }
    Ok(())
}

/// Counts the rows of the full-text index; true if it can be compared with the messages.
fn check_full_text(
    connection: &Connection,
    layout: &Layout,
    report: &mut CheckReport,
) -> rusqlite::Result<bool> {
    if let FullText::Unusable { why } = layout.full_text() {
        let why = format!("the full-text index ({why})");
        // A tokenizer we lack is no damage.
        match why.contains("no such tokenizer") {
            true => report.not_checked.push(why),
            false => report.find(FindingKind::FullText, why),
        }
        return Ok(false);
    }
    report.full_text_rows = full_text_rows(connection, layout)?;
    if is_unfinished(connection, layout)? {
        report.not_checked.push("the full-text index, which Hermes Agent is rebuilding".to_owned());
        return Ok(false);
    }
    if !layout.has_full_text() {
        if layout.owner() != Owner::Foreign {
            report.find(FindingKind::FullText, "the full-text index is missing");
        }
        return Ok(false);
    }
    if report.full_text_rows.is_some() && report.full_text_rows != report.messages {
        report.find(
            FindingKind::FullText,
            "the full-text index does not have one row for each \
             message",
        );
    }
    Ok(true)
}

/// Asks FTS5 to compare the index with its text; the transaction that needs is taken back.
fn check_full_text_closely(
    connection: &Connection,
    report: &mut CheckReport,
) -> rusqlite::Result<()> {
    if connection.is_readonly("main")? {
        let why = "the full-text index, because the file is not writable".to_owned();
        report.not_checked.push(why);
        return Ok(());
    }
    let undone = connection.unchecked_transaction()?;
    match undone.execute(COMPARE_FULL_TEXT, []) {
        Ok(_) => {}
        Err(error) if is_damage(&error) => {
            report.find(FindingKind::FullText, words_of(&error));
        }
        Err(other) => return Err(other),
    }
    undone.rollback()
}

fn is_damage(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt)
}

fn is_unfinished(connection: &Connection, layout: &Layout) -> rusqlite::Result<bool> {
    if !layout.has_table("state_meta") {
        return Ok(false);
    }
    connection.prepare(UNFINISHED_INDEX)?.exists([])
}
