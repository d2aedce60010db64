//! The values of a statement, as a server takes them.

use ::postgres::types::{ToSql, Type};
use rusqlite::types::Value;

use super::cells::{Sent, type_of};

/// The values of a statement with the types they are announced with.
pub(super) struct Given<'v>(Vec<(Sent<&'v Value>, Type)>);

impl<'v> Given<'v> {
    pub(super) fn new(values: &'v [Value]) -> Given<'v> {
        Given(values.iter().map(|value| (Sent(value), type_of(value))).collect())
    }

    pub(super) fn params(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.0.iter().map(|(value, kind)| (value as &(dyn ToSql + Sync), kind.clone())).collect()
    }
}
