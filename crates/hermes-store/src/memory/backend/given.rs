//! The values of a statement, as a server takes them.

use ::postgres::types::{ToSql, Type};
use rusqlite::types::Value;

use super::cells::{Sent, type_of};
use super::dialect::Translated;

/// Many values that are asked for at once.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List<'a> {
    /// Numbers of rows.
    Numbers(&'a [i64]),
    /// Texts.
    Words(&'a [&'a str]),
}

/// The values of a statement in the order the server takes them: the caller's, the profile, and which of the
/// caller's are nothing.
pub(super) struct Given<'v> {
    values: Vec<(Sent<'v>, Type)>,
    profile: Option<i64>,
    missing: Vec<bool>,
}

impl<'v> Given<'v> {
    pub(super) fn new(text: &Translated, values: &'v [Value], profile: i64) -> Given<'v> {
        let is_missing = |place: &usize| {
            matches!(
                place.checked_sub(1).and_then(|place| values.get(place)),
                None | Some(Value::Null)
            )
        };
        Given {
            values: values.iter().map(|value| (Sent(value), type_of(value))).collect(),
            profile: (text.has_profile || !text.asked_for.is_empty()).then_some(profile),
            missing: text.asked_for.iter().map(is_missing).collect(),
        }
    }

    pub(super) fn params(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        let values =
            self.values.iter().map(|(value, kind)| (value as &(dyn ToSql + Sync), kind.clone()));
        let profile = self.profile.iter().map(|number| (number as &(dyn ToSql + Sync), Type::INT8));
        let missing = self.missing.iter().map(|flag| (flag as &(dyn ToSql + Sync), Type::BOOL));
        values.chain(profile).chain(missing).collect()
    }
}
