//! The filter of a search as SQL: every statement that reads messages carries the whole of it.

use rusqlite::{Statement, ToSql};

use super::SearchFilter;
use crate::sessions::{Whose, time};

/// Where a message `m` stands: its time, its session, whose session that is.
macro_rules! is_in_place {
    () => {
        concat!(
            "(?3 is null or m.timestamp >= ?3)
         and (?4 is null or m.timestamp < ?4)
         and (?6 is null or m.session_id = ?6)
         and ((?7 is null and ?8 is null) or exists (
               select 1 from session_view s
               where s.id = m.session_id
                 and ",
            crate::sessions::whose::is_whose!("?7"),
            " and (?8 is null or s.source = ?8)))"
        )
    };
}

/// What a message `m` is: not taken back, and of a role that is asked for.
macro_rules! is_of_kind {
    () => {
        "(?2 or m.active <> 0 or m.compacted <> 0)
         and (?5 is null or instr(?5, '|' || m.role || '|') > 0)"
    };
}

pub(super) use {is_in_place, is_of_kind};

/// Binds the filter to those of ?2 to ?8 that the statement has; ?1 is left for the row id.
pub(super) fn bind(statement: &mut Statement<'_>, filter: &SearchFilter) -> rusqlite::Result<()> {
    let values: [&dyn ToSql; 7] = [
        &filter.include_rewound,
        &filter.since.map(time::to_seconds),
        &filter.until.map(time::to_seconds),
        &role_list(filter),
        &filter.session.as_ref().map(|session| session.as_str()),
        &filter.user.as_ref().map(Whose::listed),
        &filter.source,
    ];
    for (index, value) in values.into_iter().enumerate() {
        if index + 2 <= statement.parameter_count() {
            statement.raw_bind_parameter(index + 2, value)?;
        }
    }
    Ok(())
}

/// The roles asked for as one text in which each stands between bars.
fn role_list(filter: &SearchFilter) -> Option<String> {
    (!filter.roles.is_empty()).then(|| format!("|{}|", filter.roles.join("|")))
}
