//! Reads the rows that a search may see.

use std::borrow::Cow;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Statement};

use super::SearchFilter;
use super::filter::{bind, is_in_place, is_of_kind};
use super::scope::Scope;
use crate::sessions::content::{Content, text_of};

macro_rules! filtered {
    ($id:literal) => {
        concat!(
            "select m.id, m.role, m.timestamp, m.content, m.tool_name, m.tool_calls
             from message_view m where ",
            $id,
            is_of_kind!(),
            " and ",
            is_in_place!()
        )
    };
}

const ROW: &str = filtered!("m.id = ?1 and ");

const NEWEST_ROWS: &str = concat!(filtered!(""), " order by m.id desc");

/// One row that passed the filter.
pub(super) struct Found<'row> {
    pub(super) id: i64,
    pub(super) role: Cow<'row, str>,
    pub(super) timestamp: f64,
    /// What is said, then the tool's name and the tool calls, which are searched as well.
    pub(super) text: Cow<'row, str>,
}

/// The rows of one database under one filter.
pub(super) struct Rows<'db> {
    pub(super) db: &'db Connection,
    pub(super) scope: Scope<'db>,
    filter: &'db SearchFilter,
    row: Statement<'db>,
}

impl<'db> Rows<'db> {
    /// Finds out what the filter leaves.
    pub(super) fn new(
        db: &'db Connection,
        filter: &'db SearchFilter,
    ) -> rusqlite::Result<Rows<'db>> {
        let mut row = db.prepare(ROW)?;
        bind(&mut row, filter)?;
        Ok(Rows { db, scope: Scope::new(db, filter)?, filter, row })
    }

    /// Hands one row to `read` if it passes the filter.
    pub(super) fn read<T>(
        &mut self,
        id: i64,
        read: impl FnOnce(Found<'_>) -> T,
    ) -> rusqlite::Result<Option<T>> {
        read_row(&mut self.row, id, read)
    }

    /// Hands the newest rows that pass the filter to `read` until it says stop, at most `most`.
    ///
    /// Says whether there may be more.
    pub(super) fn scan(
        &mut self,
        most: usize,
        mut read: impl FnMut(Found<'_>) -> Scan,
    ) -> rusqlite::Result<bool> {
        let mut count = 0;
        let mut is_over = |found: Found<'_>| {
            count += 1;
            read(found) == Scan::Stop || count >= most
        };
        if let Some(ids) = self.scope.ids() {
            for id in ids.iter().rev() {
                if read_row(&mut self.row, *id, &mut is_over)? == Some(true) {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        let mut statement = self.db.prepare(NEWEST_ROWS)?;
        bind(&mut statement, self.filter)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            if is_over(Found::from_row(row)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn read_row<T>(
    statement: &mut Statement<'_>,
    id: i64,
    read: impl FnOnce(Found<'_>) -> T,
) -> rusqlite::Result<Option<T>> {
    statement.raw_bind_parameter(1, id)?;
    let mut rows = statement.raw_query();
    rows.next()?.map(|row| Found::from_row(row).map(read)).transpose()
}

/// Whether a scan goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scan {
    Continue,
    Stop,
}

impl<'row> Found<'row> {
    fn from_row(row: &'row Row<'_>) -> rusqlite::Result<Found<'row>> {
        let mut text = content_text(row.get_ref(3)?);
        for tools in [row.get_ref(4)?, row.get_ref(5)?].into_iter().map(text_ref) {
            if !tools.is_empty() {
                text.to_mut().push('\n');
                text.to_mut().push_str(&tools);
            }
        }
        Ok(Found {
            id: row.get(0)?,
            role: text_ref(row.get_ref(1)?),
            timestamp: row.get_ref(2)?.as_f64().unwrap_or(0.0),
            text,
        })
    }
}

/// A text column without a copy where it is text; empty where it is null.
pub(super) fn text_ref(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Text(bytes) => utf8(bytes),
        other => Cow::Owned(text_of(other).unwrap_or_default()),
    }
}

/// Text that is nearly always whole UTF-8, which is quick to tell.
fn utf8(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The words of a content column: of structured content only its text parts.
pub(super) fn content_text(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Text([]) => Cow::Borrowed(""),
        ValueRef::Text(bytes) if bytes[0] != 0 => utf8(bytes),
        other => Cow::Owned(text_of(other).map(|s| Content::decode(s).text()).unwrap_or_default()),
    }
}
