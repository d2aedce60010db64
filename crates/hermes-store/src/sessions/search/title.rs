//! Sessions whose title answers the query.

use rusqlite::Connection;

use super::matching::{Matcher, needed};
use super::query::Query;
use super::rank::{Corpus, score, weigh};
use super::rows::text_ref;
use super::words::Words;
use super::{Ranked, SearchRequest, Subject, sort};
use crate::sessions::whose::is_whose;
use crate::sessions::{SessionId, Whose, time};

/// Titles that are looked at where nobody's are left out.
const MOST_TITLES: i64 = 50_000;
/// Titles among the results, at most.
const MOST_RESULTS: usize = 3;
/// A title is short: each of its words says more than one in a message.
const TITLE_WEIGHT: f64 = 1.2;

/// The titles alone, so that the index on them can serve.
const TITLES: &str = "select title from session_view where title is not null limit ?1";

const SESSIONS: &str = concat!(
    "select s.id, s.started_at from session_view s where s.title = ?1 and ",
    is_whose!("?2"),
    " and (?3 is null or s.source = ?3)
      and (?4 is null or s.started_at >= ?4) and (?5 is null or s.started_at < ?5)"
);

/// The best titles: with all of the words, or with more than one of them.
pub(super) fn find(
    db: &Connection,
    request: &SearchRequest,
    query: &Query,
    corpus: &Corpus,
) -> rusqlite::Result<Vec<Ranked>> {
    let filter = &request.filter;
    // A title has no speaker, and whoever asks within one session knows its title.
    if filter.session.is_some() || !filter.roles.is_empty() {
        return Ok(Vec::new());
    }
    let since = filter.since.map(time::to_seconds);
    let until = filter.until.map(time::to_seconds);
    let mut statement = db.prepare(SESSIONS)?;
    let mut found = Vec::new();
    let is_narrow = filter.user.is_some() || filter.source.is_some() || since.or(until).is_some();
    let most = if is_narrow { -1 } else { MOST_TITLES };
    for judged in judge_all(db, query, corpus, most)? {
        // Whatever comes now is worse than what was found.
        let is_beaten =
            |worst: &Ranked| (worst.matched_all, worst.score) > (judged.matched_all, judged.score);
        if found.len() >= MOST_RESULTS && found.last().is_some_and(is_beaten) {
            break;
        }
        let user = filter.user.as_ref().map(Whose::listed);
        let values = (&judged.title, user, &filter.source, since, until);
        let mut rows = statement.query(values)?;
        while let Some(row) = rows.next()? {
            found.push(Ranked {
                subject: Subject::Title(SessionId::from(String::from(text_ref(row.get_ref(0)?)))),
                score: judged.score,
                matched_all: judged.matched_all,
                timestamp: row.get_ref(1)?.as_f64().unwrap_or(0.0),
            });
        }
    }
    sort(&mut found);
    found.truncate(MOST_RESULTS);
    Ok(found)
}

struct Judged {
    title: String,
    score: f64,
    matched_all: bool,
}

/// Every title that answers the query, whoever it belongs to, the best first.
fn judge_all(
    db: &Connection,
    query: &Query,
    corpus: &Corpus,
    most: i64,
) -> rusqlite::Result<Vec<Judged>> {
    let matcher = Matcher::new(&query.terms);
    let mut words = Words::default();
    let mut statement = db.prepare(TITLES)?;
    let mut rows = statement.query([most])?;
    let mut judged = Vec::new();
    while let Some(row) = rows.next()? {
        judged.extend(judge(&text_ref(row.get_ref(0)?), query, corpus, (&matcher, &mut words)));
    }
    judged.sort_by(|a, b| b.matched_all.cmp(&a.matched_all).then(b.score.total_cmp(&a.score)));
    Ok(judged)
}

fn judge(
    title: &str,
    query: &Query,
    corpus: &Corpus,
    (matcher, words): (&Matcher, &mut Words),
) -> Option<Judged> {
    let hits = matcher.hits(title, words);
    if hits.is_empty() {
        return None;
    }
    let evidence = weigh(&hits, &query.terms, words.len());
    let needed = needed(&query.terms);
    let matched_all = match &query.condition {
        Some(condition) if !condition.holds(&evidence.present()) => return None,
        Some(_) => true,
        None => evidence.has_all(&needed),
    };
    let present = needed.iter().filter(|number| evidence.counts[**number] > 0.0).count();
    let is_worth_showing = matched_all || present >= 2;
    is_worth_showing.then(|| Judged {
        title: title.to_owned(),
        score: TITLE_WEIGHT * score(&evidence, &query.terms, corpus),
        matched_all,
    })
}
