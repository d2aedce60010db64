//! Episodes whose messages are gone: runs of their numbers, each with the summary that tells of them.

use crate::memory::backend::{self, Connection, OptionalExtension};

/// Numbers without a gap, of one session, told by one summary.
struct Run {
    first: i64,
    last: i64,
    summary: i64,
    session: i64,
}

/// Notes which summary tells of an episode, and in which session it was; one that is known stays as it is.
pub(super) fn add(
    transaction: &Connection,
    episode: i64,
    (summary, session): (i64, i64),
) -> backend::Result<()> {
    match before(transaction, episode)? {
        Some(run) if run.last >= episode => {}
        Some(run) if (run.last + 1, run.summary, run.session) == (episode, summary, session) => {
            transaction.prepare_cached(LENGTHEN)?.execute([run.first, episode])?;
        }
        _ => {
            transaction.prepare_cached(ADD)?.execute([episode, episode, summary, session])?;
        }
    }
    Ok(())
}

/// The summary that tells of an episode.
pub(super) fn summary_of(connection: &Connection, episode: i64) -> backend::Result<Option<i64>> {
    let run = before(connection, episode)?.filter(|run| run.last >= episode);
    Ok(run.map(|run| run.summary))
}

/// The last run that begins with an episode or before it.
fn before(connection: &Connection, episode: i64) -> backend::Result<Option<Run>> {
    let run = |row: &backend::Row<'_>| {
        let (first, last) = (row.get(0)?, row.get(1)?);
        Ok(Run { first, last, summary: row.get(2)?, session: row.get(3)? })
    };
    connection.prepare_cached(BEFORE)?.query_row([episode], run).optional()
}

/// Each episode by itself, where the runs pass a condition: number and session.
macro_rules! each_covered {
    ($condition:literal) => {
        concat!(
            "with recursive each (episode, last, session) as (
               select first, last, session from covered where ",
            $condition,
            " union all select episode + 1, last, session from each where episode < last)
             select episode, session from each order by episode"
        )
    };
}
pub(super) use each_covered;

const BEFORE: &str = "
    select first, last, summary, session from covered
    where first <= ?1 order by first desc limit 1";
const LENGTHEN: &str = "update covered set last = ?2 where first = ?1";
/// Begins a run.
pub(super) const ADD: &str =
    "insert into covered (first, last, summary, session) values (?1, ?2, ?3, ?4)";
