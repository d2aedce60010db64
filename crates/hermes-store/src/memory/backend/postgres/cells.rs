//! Values of SQLite as values of PostgreSQL, and back.

use std::borrow::{Borrow, Cow};
use std::error::Error;

use ::postgres::types::private::BytesMut;
use ::postgres::types::{FromSql, IsNull, ToSql, Type};
use rusqlite::types::{Value, ValueRef};

/// A value on its way to the server: numbers are 64 bits, texts have no zero bytes.
#[derive(Debug)]
pub(super) struct Sent<V>(pub(super) V);

/// The type a value is announced with; what is nothing takes the type of its place.
pub(super) fn type_of(value: &Value) -> Type {
    match value {
        Value::Null => Type::UNKNOWN,
        Value::Integer(_) => Type::INT8,
        Value::Real(_) => Type::FLOAT8,
        Value::Text(_) => Type::TEXT,
        Value::Blob(_) => Type::BYTEA,
    }
}

impl<V: Borrow<Value> + std::fmt::Debug> ToSql for Sent<V> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0.borrow() {
            Value::Null => return Ok(IsNull::Yes),
            Value::Integer(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::Real(number) => out.extend_from_slice(&number.to_be_bytes()),
            Value::Text(text) => out.extend_from_slice(storable(text).as_bytes()),
            Value::Blob(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    ::postgres::types::to_sql_checked!();
}

/// A text as a server keeps it: PostgreSQL takes no zero byte. Another byte stands for it, so that places stay.
pub(crate) fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{1a}")),
        false => Cow::Borrowed(text),
    }
}

/// A column as it came from the server.
#[derive(Debug)]
pub(in crate::memory::backend) struct Received<'r>(pub(in crate::memory::backend) ValueRef<'r>);

impl<'r> FromSql<'r> for Received<'r> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Received<'r>, Box<dyn Error + Sync + Send>> {
        let value = match *kind {
            Type::INT8 => ValueRef::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => ValueRef::Integer(i64::from(i32::from_sql(kind, raw)?)),
            Type::INT2 => ValueRef::Integer(i64::from(i16::from_sql(kind, raw)?)),
            Type::BOOL => ValueRef::Integer(i64::from(bool::from_sql(kind, raw)?)),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(kind, raw)?),
            Type::FLOAT4 => ValueRef::Real(f64::from(f32::from_sql(kind, raw)?)),
            Type::BYTEA => ValueRef::Blob(raw),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN | Type::BPCHAR => {
                ValueRef::Text(raw)
            }
            _ => return Err(format!("a column of the type {kind} cannot be read").into()),
        };
        Ok(Received(value))
    }

    fn from_sql_null(_: &Type) -> Result<Received<'r>, Box<dyn Error + Sync + Send>> {
        Ok(Received(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
