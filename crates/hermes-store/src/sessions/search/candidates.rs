//! Chooses the rows worth reading, within a budget of hits.

use std::collections::HashSet;

use rusqlite::{Rows as RowsOf, Statement};

use super::matching::needed;
use super::query::{Query, Term, TermKind};
use super::rows::{Rows, Scan};
use super::scope::{Scope, spread};

/// Hits inside the filter that one search reads and ranks.
pub(super) const BUDGET: usize = 1_500;
/// Hits that are taken from the index at first.
const FIRST_WALK: usize = BUDGET + BUDGET / 4;
/// Hits that are taken each time after that, at least.
const LEAST_WALK: usize = FIRST_WALK / 8;
/// Where so many hits pass by the look of some of them, they will fill the budget.
const ENOUGH: f64 = BUDGET as f64 * 1.1;
/// Where this share passes, reading the hits is a cheap enough way to learn which do not.
const NEARLY_ALL: f64 = 0.9;
/// To learn how many hits pass the filter one of so many is tested.
const HITS_PER_TEST: usize = 64;
/// However few hits there are, so many are tested.
const LEAST_TESTS: usize = 32;
/// Rows that are looked through for characters the index does not know.
const LITERAL_ROWS: usize = 200_000;
/// Rows that are looked through where there is no index.
const UNINDEXED_ROWS: usize = 20_000;
/// The share of rows a small word is taken to be in, without counting.
const STOP_SHARE: f64 = 0.5;

/// Newest first, and no further than asked: FTS5 walks the list of one word without reading texts.
const HITS: &str = "
    select rowid from messages_fts
    where messages_fts match ?1 and rowid >= ?2 and rowid <= ?3 order by rowid desc";

/// The rows chosen, and what was learned on the way.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// In the order in which they should be read.
    pub(super) ids: Vec<i64>,
    /// Those the index says fulfil the whole query.
    pub(super) verified: HashSet<i64>,
    /// In how many rows each term is; `None` if every row in scope will be read.
    pub(super) frequencies: Option<Vec<f64>>,
    /// Terms that were too common to be looked up, by number.
    pub(super) dropped: Vec<usize>,
    pub(super) notes: Vec<String>,
}

/// The full-text index, asked again and again with one statement.
struct Index<'a, 'db> {
    rows: &'a mut Rows<'db>,
    statement: Statement<'db>,
}

/// What the index says of one term.
struct Listed {
    term: usize,
    hits: Hits,
}

/// Hits of one expression, as many as the budget needs, those that cannot pass left out.
#[derive(Debug, Default)]
struct Hits {
    ids: Vec<i64>,
    /// How many of `ids` pass the filter; estimated where not all were tested.
    passing: f64,
    /// How many hits of the whole index pass.
    frequency: f64,
}

/// Chooses the rows; the query's phrases that occur nowhere are taken apart.
pub(super) fn select(
    rows: &mut Rows<'_>,
    query: &mut Query,
    has_index: bool,
) -> rusqlite::Result<Selection> {
    if let Some(ids) = rows.scope.few_ids() {
        let ids = ids.iter().rev().copied().collect();
        return Ok(Selection { ids, ..Selection::default() });
    }
    if !has_index {
        return unindexed(rows, "the full-text index is missing");
    }
    let condition = query.condition.as_ref();
    let strict = condition.and_then(|condition| condition.expression(&query.terms));
    let selection = rows.db.prepare(HITS).and_then(|statement| {
        let mut index = Index { rows, statement };
        match strict {
            Some(expression) => select_strict(&mut index, query, &expression),
            None => select_any(&mut index, query),
        }
    });
    match selection {
        // A damaged or foreign index must not hide the messages.
        Err(rusqlite::Error::SqliteFailure(..)) => {
            unindexed(rows, "the full-text index could not be used")
        }
        other => other,
    }
}

fn unindexed(rows: &mut Rows<'_>, why: &str) -> rusqlite::Result<Selection> {
    let mut ids = Vec::new();
    let has_more = rows.scan(UNINDEXED_ROWS, |found| {
        ids.push(found.id);
        Scan::Continue
    })?;
    let what = if has_more { "the newest messages were" } else { "every message was" };
    let notes = vec![format!("{why}: {what} read instead")];
    Ok(Selection { ids, notes, ..Selection::default() })
}

fn select_strict(
    index: &mut Index<'_, '_>,
    query: &Query,
    expression: &str,
) -> rusqlite::Result<Selection> {
    let found = index.hits(expression)?;
    let ids = found.keep(&mut index.rows.scope, BUDGET)?;
    let mut frequencies = Vec::new();
    for term in &query.terms {
        // The list of a mere beginning is merged from many words: too dear only to count it.
        let counted = match (term.kind, term.expression()) {
            (TermKind::Content, Some(expression)) if !expression.ends_with('*') => {
                index.hits(&expression)?.frequency
            }
            _ => found.frequency,
        };
        frequencies.push(counted);
    }
    let verified = ids.iter().copied().collect();
    Ok(Selection { ids, verified, frequencies: Some(frequencies), ..Selection::default() })
}

fn select_any(index: &mut Index<'_, '_>, query: &mut Query) -> rusqlite::Result<Selection> {
    let mut selection = Selection::default();
    let mut lists = list_terms(index, query, &mut selection.notes)?;
    let mut frequencies = vec![index.rows.scope.size() * STOP_SHARE; query.terms.len()];
    lists.iter().for_each(|listed| frequencies[listed.term] = listed.hits.frequency);
    selection.frequencies = Some(frequencies);
    lists.sort_by(|a, b| a.hits.frequency.total_cmp(&b.hits.frequency));
    lists.retain(|listed| !listed.hits.is_empty());
    if lists.iter().all(|listed| listed.hits.fill_the_budget()) && lists.len() > 1 {
        // Every word is common: whoever has all of them comes first.
        selection.ids = all_words(index, query)?;
        selection.verified = selection.ids.iter().copied().collect();
    }
    let mut seen = selection.verified.clone();
    let mut spent = selection.ids.len();
    for (rank, Listed { term, hits }) in lists.iter().enumerate() {
        let room = BUDGET.saturating_sub(spent);
        // One more than there is room for tells that they are too many.
        let most = if rank == 0 { room } else { room + 1 };
        let is_hopeless = rank > 0 && hits.fill_the_budget();
        let ids = match is_hopeless {
            true => Vec::new(),
            false => hits.keep(&mut index.rows.scope, most)?,
        };
        if is_hopeless || rank > 0 && ids.len() > room {
            selection.dropped.push(*term);
            continue;
        }
        spent += ids.len();
        selection.ids.extend(ids.into_iter().filter(|id| seen.insert(*id)));
    }
    Ok(selection)
}

/// The newest rows that have every needed term, where the index can tell.
fn all_words(index: &mut Index<'_, '_>, query: &Query) -> rusqlite::Result<Vec<i64>> {
    let needed = needed(&query.terms);
    let parts: Option<Vec<String>> = needed
        .iter()
        .map(|number| query.terms[*number].expression().map(|part| format!("({part})")))
        .collect();
    match parts {
        Some(parts) => index.hits(&parts.join(" AND "))?.keep(&mut index.rows.scope, BUDGET),
        None => Ok(Vec::new()),
    }
}

fn list_terms(
    index: &mut Index<'_, '_>,
    query: &mut Query,
    notes: &mut Vec<String>,
) -> rusqlite::Result<Vec<Listed>> {
    let mut lists = list_known(index, &query.terms, notes)?;
    let nowhere: Vec<usize> =
        lists.iter().filter(|listed| listed.hits.is_empty()).map(|listed| listed.term).collect();
    if query.take_apart(|number| nowhere.contains(&number)) {
        lists = list_known(index, &query.terms, notes)?;
    }
    Ok(lists)
}

fn list_known(
    index: &mut Index<'_, '_>,
    terms: &[Term],
    notes: &mut Vec<String>,
) -> rusqlite::Result<Vec<Listed>> {
    let mut lists = list_literals(index.rows, terms, notes)?;
    for term in needed(terms) {
        if let Some(expression) = terms[term].expression() {
            lists.push(Listed { term, hits: index.hits(&expression)? });
        }
    }
    Ok(lists)
}

impl Index<'_, '_> {
    /// Walks the hits of an expression until enough of them pass the filter.
    fn hits(&mut self, expression: &str) -> rusqlite::Result<Hits> {
        let scope = &mut self.rows.scope;
        let mut hits = Hits::default();
        for span in scope.spans() {
            let mut walked = 0;
            let mut found = self.statement.query((expression, span.0, span.1))?;
            loop {
                let wanted = hits.next_walk(walked);
                let mut ids = take(&mut found, wanted)?;
                walked += ids.len();
                let (is_last, end) = (ids.len() < wanted, ids.last().copied());
                scope.drop_outsiders(&mut ids);
                hits.add(ids, scope)?;
                if hits.passing >= ENOUGH {
                    let share = end.map_or(1.0, |end| scope.share_from(end, span));
                    hits.frequency = (hits.passing / share).min(scope.size());
                    return Ok(hits);
                }
                if is_last {
                    break;
                }
            }
        }
        hits.settle_if_none(scope)?;
        hits.frequency = hits.passing;
        Ok(hits)
    }
}

fn take(found: &mut RowsOf<'_>, most: usize) -> rusqlite::Result<Vec<i64>> {
    let mut ids = Vec::new();
    while ids.len() < most
        && let Some(row) = found.next()?
    {
        ids.push(row.get(0)?);
    }
    Ok(ids)
}

impl Hits {
    /// Hits that are known to pass.
    fn sure(ids: Vec<i64>) -> Hits {
        let passing = ids.len() as f64;
        Hits { ids, passing, frequency: passing }
    }

    /// Whether none passes the filter.
    fn is_empty(&self) -> bool {
        self.passing == 0.0
    }

    /// Whether there is no room for anything beside them.
    fn fill_the_budget(&self) -> bool {
        self.passing >= BUDGET as f64
    }

    /// How many hits to take next, after so many: what is likely to do, and at most as many again.
    fn next_walk(&self, walked: usize) -> usize {
        if walked == 0 {
            return FIRST_WALK;
        }
        let share = self.passing / walked as f64;
        let likely = (ENOUGH - self.passing) * 1.1 / share.max(f64::EPSILON);
        (likely as usize).clamp(LEAST_WALK, walked)
    }

    /// Adds hits, of which some are tested.
    fn add(&mut self, ids: Vec<i64>, scope: &mut Scope<'_>) -> rusqlite::Result<()> {
        let tests = (ids.len() / HITS_PER_TEST).max(LEAST_TESTS);
        let tested: Vec<usize> = match ids.len() <= tests {
            true => (0..ids.len()).collect(),
            false => spread(tests, ids.len()).collect(),
        };
        let mut passed = 0_usize;
        for place in &tested {
            passed += usize::from(scope.passes(ids[*place])?);
        }
        self.passing += (ids.len() * passed) as f64 / tested.len().max(1) as f64;
        self.ids.extend(ids);
        Ok(())
    }

    /// Where no tested hit passed, finds out whether really none does.
    fn settle_if_none(&mut self, scope: &mut Scope<'_>) -> rusqlite::Result<()> {
        if self.is_empty() && !self.ids.is_empty() {
            *self = Hits::sure(scope.keep(&self.ids, usize::MAX)?);
        }
        Ok(())
    }

    /// The first ids that pass, at most `most`; where nearly all do, some more, and reading will tell.
    fn keep(&self, scope: &mut Scope<'_>, most: usize) -> rusqlite::Result<Vec<i64>> {
        match self.passing >= self.ids.len() as f64 * NEARLY_ALL {
            true => Ok(self.ids.iter().take(most + most / 4).copied().collect()),
            false => scope.keep(&self.ids, most),
        }
    }
}

/// Looks for characters the index does not know, newest rows first.
fn list_literals(
    rows: &mut Rows<'_>,
    terms: &[Term],
    notes: &mut Vec<String>,
) -> rusqlite::Result<Vec<Listed>> {
    let literal = |number: usize| terms[number].as_literal().map(|text| (number, text));
    let wanted: Vec<(usize, &str)> = needed(terms).into_iter().filter_map(literal).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut lists: Vec<Vec<i64>> = vec![Vec::new(); wanted.len()];
    let has_more = rows.scan(LITERAL_ROWS, |found| {
        for (list, (_, text)) in lists.iter_mut().zip(&wanted) {
            if list.len() < BUDGET && found.text.contains(text) {
                list.push(found.id);
            }
        }
        let is_full = lists.iter().all(|list| list.len() >= BUDGET);
        if is_full { Scan::Stop } else { Scan::Continue }
    })?;
    let is_full = lists.iter().all(|list| list.len() >= BUDGET);
    if has_more && !is_full {
        notes.push(format!("only the newest {LITERAL_ROWS} messages were searched"));
        notes.dedup();
    }
    let listed = |(ids, (term, _))| Listed { term, hits: Hits::sure(ids) };
    Ok(lists.into_iter().zip(wanted).map(listed).collect())
}
