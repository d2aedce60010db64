//! The values of a statement, in the shapes that rusqlite takes.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

use super::Result;

/// The values of a statement.
pub(crate) trait Params {
    /// Runs a statement of SQLite with them, for its rows.
    fn query<'s>(
        self,
        statement: &'s mut rusqlite::Statement<'_>,
    ) -> rusqlite::Result<rusqlite::Rows<'s>>;

    /// Runs a statement of SQLite with them, for what it changes.
    fn execute(self, statement: &mut rusqlite::Statement<'_>) -> rusqlite::Result<usize>;

    /// The values by themselves.
    fn values(&self) -> Result<Vec<Value>>;
}

fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Integer(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}

/// One value, whatever it is bound from.
fn value_of(value: &dyn ToSql) -> Result<Value> {
    Ok(match value.to_sql()? {
        ToSqlOutput::Borrowed(value) => owned(value),
        ToSqlOutput::Owned(value) => value,
        _ => Value::Null,
    })
}

macro_rules! as_they_are {
    () => {
        fn query<'s>(
            self,
            statement: &'s mut rusqlite::Statement<'_>,
        ) -> rusqlite::Result<rusqlite::Rows<'s>> {
            statement.query(self)
        }

        fn execute(self, statement: &mut rusqlite::Statement<'_>) -> rusqlite::Result<usize> {
            statement.execute(self)
        }
    };
}

impl Params for [&(dyn ToSql + Send + Sync); 0] {
    as_they_are!();

    fn values(&self) -> Result<Vec<Value>> {
        Ok(Vec::new())
    }
}

impl Params for &[&dyn ToSql] {
    as_they_are!();

    fn values(&self) -> Result<Vec<Value>> {
        self.iter().map(|value| value_of(*value)).collect()
    }
}

macro_rules! of_arrays {
    ($($count:literal)+) => {$(
        impl<T: ToSql> Params for [T; $count] {
            as_they_are!();

            fn values(&self) -> Result<Vec<Value>> {
                self.iter().map(|value| value_of(value)).collect()
            }
        }
    )+};
}

of_arrays!(1 2 3 4 5 6);

macro_rules! of_tuples {
    ($(($($name:ident $place:tt),+))+) => {$(
        impl<$($name: ToSql),+> Params for ($($name,)+) {
            as_they_are!();

            fn values(&self) -> Result<Vec<Value>> {
                Ok(vec![$(value_of(&self.$place)?),+])
            }
        }
    )+};
}

of_tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
}

/// Values whose number is known only when they are there.
#[derive(Debug)]
pub(crate) struct Listed(Vec<Value>);

/// The values that something hands out.
pub(crate) fn params_from_iter(values: impl IntoIterator<Item = impl ToSql>) -> Result<Listed> {
    values.into_iter().map(|value| value_of(&value)).collect::<Result<_>>().map(Listed)
}

impl Params for Listed {
    fn query<'s>(
        self,
        statement: &'s mut rusqlite::Statement<'_>,
    ) -> rusqlite::Result<rusqlite::Rows<'s>> {
        statement.query(rusqlite::params_from_iter(self.0))
    }

    fn execute(self, statement: &mut rusqlite::Statement<'_>) -> rusqlite::Result<usize> {
        statement.execute(rusqlite::params_from_iter(self.0))
    }

    fn values(&self) -> Result<Vec<Value>> {
        Ok(self.0.clone())
    }
}
