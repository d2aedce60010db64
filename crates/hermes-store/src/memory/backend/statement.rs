//! A statement and its rows, of either database.

use rusqlite::types::{FromSql, FromSqlError, Type, ValueRef};

use super::postgres::{Received, Server};
use super::{Error, Params, Result};

/// A statement that can be run.
pub(crate) enum Statement<'c> {
    /// One that SQLite keeps.
    Cached(rusqlite::CachedStatement<'c>),
    /// One that SQLite parsed for this time.
    Plain(rusqlite::Statement<'c>),
    /// One for a server.
    Server(&'c Server, String),
}

impl<'c> Statement<'c> {
    pub(super) fn on_server(server: &'c Server, sql: &str) -> Statement<'c> {
        Statement::Server(server, numbered(sql))
    }

    /// Runs the statement for its rows.
    #[inline]
    pub(crate) fn query<P: Params>(&mut self, params: P) -> Result<Rows<'_>> {
        match self {
            Statement::Cached(statement) => Ok(Rows::Sqlite(params.query(statement)?)),
            Statement::Plain(statement) => Ok(Rows::Sqlite(params.query(statement)?)),
            Statement::Server(server, text) => {
                let rows = server.query(text, &params.values()?)?;
                Ok(Rows::Server(rows.into_iter(), None))
            }
        }
    }

    /// Runs the statement, each row through a function.
    #[inline]
    pub(crate) fn query_map<T, P, F>(&mut self, params: P, read: F) -> Result<MappedRows<'_, F>>
    where
        P: Params,
        F: FnMut(&Row<'_>) -> Result<T>,
    {
        Ok(MappedRows { rows: self.query(params)?, read })
    }

    /// The first row, through a function.
    #[inline]
    pub(crate) fn query_row<T, P, F>(&mut self, params: P, read: F) -> Result<T>
    where
        P: Params,
        F: FnOnce(&Row<'_>) -> Result<T>,
    {
        match self.query(params)?.next()? {
            Some(row) => read(&row),
            None => Err(Error::no_rows()),
        }
    }

    /// Whether there is a row.
    pub(crate) fn exists<P: Params>(&mut self, params: P) -> Result<bool> {
        Ok(self.query(params)?.next()?.is_some())
    }

    /// Runs the statement for what it changes; how many rows.
    #[inline]
    pub(crate) fn execute<P: Params>(&mut self, params: P) -> Result<usize> {
        match self {
            Statement::Cached(statement) => Ok(params.execute(statement)?),
            Statement::Plain(statement) => Ok(params.execute(statement)?),
            Statement::Server(server, text) => server.execute(text, &params.values()?),
        }
    }

    /// How many values the statement takes.
    pub(crate) fn parameter_count(&self) -> usize {
        match self {
            Statement::Cached(statement) => statement.parameter_count(),
            Statement::Plain(statement) => statement.parameter_count(),
            Statement::Server(_, text) => highest_value(text),
        }
    }
}

/// A statement as PostgreSQL counts its values: `?1` is `$1` there.
pub(super) fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

/// The highest number of a value in a statement.
fn highest_value(text: &str) -> usize {
    let numbers = text.split('$').skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().unwrap_or(0)
    });
    numbers.max().unwrap_or(0)
}

/// The rows of a statement, one after the other.
pub(crate) enum Rows<'s> {
    /// Read as they are asked for.
    Sqlite(rusqlite::Rows<'s>),
    /// All of them came at once.
    Server(std::vec::IntoIter<::postgres::Row>, Option<::postgres::Row>),
}

impl Rows<'_> {
    /// The next row.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self {
            Rows::Sqlite(rows) => Ok(rows.next()?.map(Row::Sqlite)),
            Rows::Server(rows, held) => {
                *held = rows.next();
                Ok(held.as_ref().map(Row::Server))
            }
        }
    }
}

/// Rows that go through a function.
pub(crate) struct MappedRows<'s, F> {
    rows: Rows<'s>,
    read: F,
}

impl<T, F: FnMut(&Row<'_>) -> Result<T>> Iterator for MappedRows<'_, F> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Result<T>> {
        match self.rows.next() {
            Ok(Some(row)) => Some((self.read)(&row)),
            Ok(None) => None,
            Err(source) => Some(Err(source)),
        }
    }
}

/// One row.
pub(crate) enum Row<'r> {
    /// Of a file.
    Sqlite(&'r rusqlite::Row<'r>),
    /// Of a server.
    Server(&'r ::postgres::Row),
}

/// A column, by its place or its name.
pub(crate) trait Column: Copy + rusqlite::RowIndex {
    /// Its place.
    fn place(self, row: &::postgres::Row) -> Result<usize>;
}

impl Column for usize {
    fn place(self, _: &::postgres::Row) -> Result<usize> {
        Ok(self)
    }
}

impl Column for &str {
    fn place(self, row: &::postgres::Row) -> Result<usize> {
        let found = row.columns().iter().position(|column| column.name() == self);
        found.ok_or_else(|| rusqlite::Error::InvalidColumnName(self.to_owned()).into())
    }
}

impl Row<'_> {
    /// A column as a value.
    #[inline]
    pub(crate) fn get<C: Column, T: FromSql>(&self, column: C) -> Result<T> {
        match self {
            Row::Sqlite(row) => Ok(row.get(column)?),
            Row::Server(row) => {
                let place = column.place(row)?;
                let value = cell(row, place)?;
                T::column_result(value).map_err(|why| unreadable(place, value, why))
            }
        }
    }

    /// A column as it is.
    #[inline]
    pub(crate) fn get_ref<C: Column>(&self, column: C) -> Result<ValueRef<'_>> {
        match self {
            Row::Sqlite(row) => Ok(row.get_ref(column)?),
            Row::Server(row) => cell(row, column.place(row)?),
        }
    }

    /// The names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Row::Sqlite(row) => row.as_ref().column_names().map(str::to_owned).collect(),
            Row::Server(row) => {
                row.columns().iter().map(|column| column.name().to_owned()).collect()
            }
        }
    }
}

fn cell(row: &::postgres::Row, place: usize) -> Result<ValueRef<'_>> {
    Ok(row.try_get::<_, Received<'_>>(place)?.0)
}

fn unreadable(place: usize, value: ValueRef<'_>, why: FromSqlError) -> Error {
    let found: Type = value.data_type();
    Error::Sqlite(match why {
        FromSqlError::OutOfRange(number) => rusqlite::Error::IntegralValueOutOfRange(place, number),
        why => rusqlite::Error::FromSqlConversionFailure(place, found, Box::new(why)),
    })
}
