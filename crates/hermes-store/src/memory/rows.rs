//! Columns as values: times, ids, words that stand for a choice.

use jiff::Timestamp;
use rusqlite::types::Type;

use crate::memory::backend::{self, Row};
use crate::memory::{Source, Uid};

/// A time column.
pub(super) fn time(row: &Row<'_>, column: usize) -> backend::Result<Timestamp> {
    time_of(column, row.get(column)?)
}

/// A time column that may be empty.
pub(super) fn optional_time(row: &Row<'_>, column: usize) -> backend::Result<Option<Timestamp>> {
    row.get::<_, Option<i64>>(column)?.map(|at| time_of(column, at)).transpose()
}

/// A column with the sixteen bytes of an id.
pub(super) fn uid(row: &Row<'_>, column: usize) -> backend::Result<Uid> {
    row.get(column).map(Uid::from_bytes)
}

/// The columns of a source: episode, message, quote, extractor.
pub(super) fn source(row: &Row<'_>) -> backend::Result<Source> {
    Ok(Source {
        episode: row.get(0)?,
        message: row.get(1)?,
        quote: row.get(2)?,
        extractor: row.get(3)?,
    })
}

/// A column with a word that stands for a choice.
pub(super) fn choice<T: Copy>(
    row: &Row<'_>,
    column: usize,
    choices: &[(&str, T)],
) -> backend::Result<T> {
    let word: String = row.get(column)?;
    let found = choices.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        unreadable(
            column,
            Type::Text,
            format!(
                "{word:?} is unknown to this \
         version"
            ),
        )
    })
}

/// The word that stands for a choice.
pub(super) fn word<T: PartialEq>(value: &T, choices: &[(&'static str, T)]) -> &'static str {
    choices.iter().find(|(_, choice)| choice == value).map_or("", |(name, _)| name)
}

fn time_of(column: usize, milliseconds: i64) -> backend::Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|why| unreadable(column, Type::Integer, why.to_string()))
}

fn unreadable(column: usize, found: Type, why: String) -> backend::Error {
    backend::Error::Sqlite(rusqlite::Error::FromSqlConversionFailure(column, found, why.into()))
}
