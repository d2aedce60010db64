//! Which rows a search may find: told row by row, or all at once where that is cheaper.

use std::collections::HashMap;

use rusqlite::{Connection, Statement};

use super::SearchFilter;
use super::filter::{bind, is_in_place, is_of_kind};
use crate::sessions::whose::is_whose;

/// Rows looked at to learn how many pass the filter, and where they are.
const SAMPLES: usize = 64;
/// Where fewer of them are in place, the ids in place are read beforehand.
const WIDE_SAMPLES: usize = 16;
/// A scope of no more rows than this is read whole, without the index.
const SMALL_SCOPE: usize = 3_000;
/// To ask for one row costs about four times as much as to come by it in reading all.
const ROWS_PER_TEST: i64 = 4;

/// Newest rows of which none seems to pass are looked at last if they are such a part of all.
const WORTH_A_SPAN: i64 = 8;

const NEWEST_ID: &str = "select coalesce(max(id), 0) from message_view";

const PASSES: &str = concat!(
    "select 1 from message_view m where m.id = ?1 and ",
    is_of_kind!(),
    " and ",
    is_in_place!()
);

/// The first row from ?1 on: whether it is in place, and whether it passes.
const SAMPLE: &str = concat!(
    "select m.id, coalesce(",
    is_in_place!(),
    ", 0), coalesce(",
    is_in_place!(),
    " and ",
    is_of_kind!(),
    ", 0) from message_view m
     where m.id = (select min(id) from message_view where id >= ?1)"
);

const IDS_OF_SESSION: &str = "select m.id from message_view m where m.session_id = ?6";

/// From the sessions to their messages, by an index that holds all that is asked for.
const IDS_OF_SESSIONS: &str = concat!(
    "select m.id from session_view s cross join message_view m on m.session_id = s.id where ",
    is_whose!("?7"),
    " and (?8 is null or s.source = ?8)"
);

/// With both bounds of time always given, so that an index on session and time can serve.
const IDS_IN_TIME: &str = concat!(
    "select m.id from session_view s cross join message_view m on m.session_id = s.id
    where m.timestamp >= coalesce(?3, -9e999) and m.timestamp < coalesce(?4, 9e999) and ",
    is_whose!("?7"),
    " and (?8 is null or s.source = ?8)"
);

const ALL: &str = concat!(
    "select m.id from message_view m where ",
    is_of_kind!(),
    " and (?3 is null or m.timestamp >= ?3) and (?4 is null or m.timestamp < ?4)"
);

const ALL_OF_SESSIONS: &str = concat!(
    "select m.id from session_view s cross join message_view m on m.session_id = s.id where ",
    is_of_kind!(),
    " and (?3 is null or m.timestamp >= ?3) and (?4 is null or m.timestamp < ?4) and ",
    is_whose!("?7"),
    " and (?8 is null or s.source = ?8)"
);

/// The rows of one database that pass one filter.
pub(super) struct Scope<'db> {
    db: &'db Connection,
    filter: &'db SearchFilter,
    newest: i64,
    /// Nothing outside of these passes; in rising order.
    ids: Option<Vec<i64>>,
    /// Whether each of `ids` is known to pass.
    is_exact: bool,
    tested: HashMap<i64, bool>,
    passes: Statement<'db>,
    samples: Samples,
}

/// What a look at some rows has shown.
#[derive(Debug, Default)]
struct Samples {
    in_place: usize,
    passing: usize,
    /// Above this id, as far as was seen, nothing passes, and there is much above it.
    crest: Option<i64>,
}

impl<'db> Scope<'db> {
    /// Finds out how much the filter leaves.
    pub(super) fn new(
        db: &'db Connection,
        filter: &'db SearchFilter,
    ) -> rusqlite::Result<Scope<'db>> {
        let newest = db.query_row(NEWEST_ID, [], |row| row.get(0))?;
        let samples = sample(db, filter, newest)?;
        let mut passes = db.prepare(PASSES)?;
        bind(&mut passes, filter)?;
        let has_time = filter.since.is_some() || filter.until.is_some();
        let has_place = has_time || filter.user.is_some() || filter.source.is_some();
        let ids = match samples.in_place < WIDE_SAMPLES {
            _ if filter.session.is_some() => Some(read_ids(db, filter, IDS_OF_SESSION)?),
            true if has_time => Some(read_ids(db, filter, IDS_IN_TIME)?),
            true if has_place => Some(read_ids(db, filter, IDS_OF_SESSIONS)?),
            _ => None,
        };
        let tested = HashMap::new();
        Ok(Scope { db, filter, newest, ids, is_exact: false, tested, passes, samples })
    }

    /// The ids outside of which nothing passes, in rising order, where they were read.
    pub(super) fn ids(&self) -> Option<&[i64]> {
        self.ids.as_deref()
    }

    /// The same where they are so few that reading them all is the best search.
    pub(super) fn few_ids(&self) -> Option<&[i64]> {
        self.ids().filter(|ids| ids.len() <= SMALL_SCOPE)
    }

    /// About how many rows pass.
    pub(super) fn size(&self) -> f64 {
        let of = |part: usize, whole: usize| part.max(1) as f64 / whole.max(1) as f64;
        let Samples { in_place, passing, .. } = self.samples;
        match &self.ids {
            Some(ids) if self.is_exact => ids.len() as f64,
            Some(ids) => ids.len() as f64 * of(passing, in_place),
            None => self.newest as f64 * of(passing, SAMPLES),
        }
    }

    /// The spans of ids in which rows may pass, the one with the best chances first.
    pub(super) fn spans(&self) -> Vec<(i64, i64)> {
        match (self.ids(), self.samples.crest) {
            (Some([]), _) => Vec::new(),
            (Some([only]), _) => vec![(*only, *only)],
            (Some([first, .., last]), _) => vec![(*first, *last)],
            (None, Some(crest)) => vec![(i64::MIN, crest), (crest.saturating_add(1), i64::MAX)],
            (None, None) => vec![(i64::MIN, i64::MAX)],
        }
    }

    /// The share of a span that lies between this id and the span's end.
    pub(super) fn share_from(&self, id: i64, (low, high): (i64, i64)) -> f64 {
        let (low, high) = (low.max(0), high.min(self.newest));
        let whole = high.saturating_sub(low).max(1) as f64;
        ((high.saturating_sub(id)).max(1) as f64 / whole).min(1.0)
    }

    /// Takes those away of which it is known already that they do not pass.
    pub(super) fn drop_outsiders(&self, ids: &mut Vec<i64>) {
        if let Some(inside) = self.ids() {
            ids.retain(|id| inside.binary_search(id).is_ok());
        }
    }

    /// Whether the row passes the filter.
    pub(super) fn passes(&mut self, id: i64) -> rusqlite::Result<bool> {
        if self.ids().is_some_and(|ids| ids.binary_search(&id).is_err()) {
            return Ok(false);
        }
        if self.is_exact {
            return Ok(true);
        }
        if let Some(known) = self.tested.get(&id) {
            return Ok(*known);
        }
        self.passes.raw_bind_parameter(1, id)?;
        let passes = self.passes.raw_query().next()?.is_some();
        self.tested.insert(id, passes);
        Ok(passes)
    }

    /// The first of the ids that pass, no more than `most`.
    pub(super) fn keep(&mut self, ids: &[i64], most: usize) -> rusqlite::Result<Vec<i64>> {
        let tests = i64::try_from(self.tested.len() + ids.len()).unwrap_or(i64::MAX);
        if self.ids.is_none() && tests > self.newest / ROWS_PER_TEST {
            self.read_all()?;
        }
        let mut kept = Vec::new();
        for id in ids {
            if kept.len() >= most {
                break;
            }
            if self.passes(*id)? {
                kept.push(*id);
            }
        }
        Ok(kept)
    }

    /// Reads every id that passes: nothing needs to be tested any more.
    fn read_all(&mut self) -> rusqlite::Result<()> {
        let is_by_session = self.filter.user.is_some() || self.filter.source.is_some();
        let statement = if is_by_session { ALL_OF_SESSIONS } else { ALL };
        self.ids = Some(read_ids(self.db, self.filter, statement)?);
        self.is_exact = true;
        Ok(())
    }
}

fn read_ids(db: &Connection, filter: &SearchFilter, sql: &str) -> rusqlite::Result<Vec<i64>> {
    let mut statement = db.prepare(sql)?;
    bind(&mut statement, filter)?;
    let mut ids = Vec::new();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        ids.push(row.get(0)?);
    }
    ids.sort_unstable();
    Ok(ids)
}

fn sample(db: &Connection, filter: &SearchFilter, newest: i64) -> rusqlite::Result<Samples> {
    let mut statement = db.prepare(SAMPLE)?;
    bind(&mut statement, filter)?;
    let mut samples = Samples::default();
    let mut seen = Vec::new();
    for place in spread(SAMPLES, usize::try_from(newest).unwrap_or(0)) {
        statement.raw_bind_parameter(1, i64::try_from(place).unwrap_or(0) + 1)?;
        let mut rows = statement.raw_query();
        if let Some(row) = rows.next()? {
            let (id, in_place, passes): (i64, bool, bool) = row.try_into()?;
            samples.in_place += usize::from(in_place);
            samples.passing += usize::from(passes);
            seen.push((id, passes));
        }
    }
    seen.sort_unstable();
    let highest = seen.iter().rposition(|(_, passes)| *passes);
    let crest = highest.and_then(|at| seen.get(at + 1)).map(|(id, _)| *id);
    samples.crest = crest.filter(|id| newest - id > newest / WORTH_A_SPAN);
    Ok(samples)
}

/// `count` places below `end`, evenly spread and yet in step with nothing that repeats.
pub(super) fn spread(count: usize, end: usize) -> impl Iterator<Item = usize> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    (1..=count).map(move |number| ((number as f64 * GOLDEN).fract() * end as f64) as usize)
}
