//! The filter of a search as SQL: every statement that reads messages carries the whole of it.

use rusqlite::{Statement, ToSql};

use super::SearchFilter;
use crate::sessions::time;

/// Where a message `m` stands: its time, its session, whose session that is.
macro_rules! is_in_place {
    () => {
        "(?3 is null or m.timestamp >= ?3)
         and (?4 is null or m.timestamp < ?4)
         and (?6 is null or m.session_id = ?6)
         and ((?7 is null and ?8 is null and ?9 is null) or exists (
               select 1 from session_view s
               where s.id = m.session_id
                 and (?7 is null or s.user_id = ?7) and (?8 is null or s.source = ?8)
                 and (?9 is null or s.user_id is null
                   or instr(?9, char(31) || s.user_id || char(31)) = 0)))"
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

/// Binds the filter to those of ?2 to ?9 that the statement has; ?1 is left for the row id.
pub(super) fn bind(statement: &mut Statement<'_>, filter: &SearchFilter) -> rusqlite::Result<()> {
    let values: [&dyn ToSql; 8] = [
        &filter.include_rewound,
        &filter.since.map(time::to_seconds),
        &filter.until.map(time::to_seconds),
        &role_list(filter),
        &filter.session.as_ref().map(|session| session.as_str()),
        &filter.user,
        &filter.source,
        &others_list(&filter.others),
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

/// The users whose sessions are left out as one text in which each stands between unit separators.
pub(in crate::sessions) fn others_list(others: &[String]) -> Option<String> {
    (!others.is_empty()).then(|| format!("\u{1f}{}\u{1f}", others.join("\u{1f}")))
}
