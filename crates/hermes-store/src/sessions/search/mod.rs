//! Search in every session: what was asked, what is found, best first.

mod answer;
mod candidates;
mod filter;
mod matching;
mod query;
mod rank;
mod rows;
mod scope;
mod snippet;
mod stop_words;
mod strict;
mod title;
mod variants;
mod windows;
mod word_tables;
mod words;

use jiff::Timestamp;

use self::candidates::{BUDGET, Selection};
use self::matching::{Matcher, needed};
use self::query::Query;
use self::rank::{Corpus, Evidence, role_weight, score, weigh};
use self::rows::Rows;
use self::windows::windows;
use self::words::Words;
use super::layout::FullText;
use super::{MessageState, SessionId, SessionStore, Whose};
use crate::Result;

pub use query::Mode;
pub use snippet::Snippet;

/// What is looked for, and how much of it is wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// The query as typed: bare words, or quotes, AND, OR, NOT and `prefix*`.
    pub query: String,
    /// Which messages may be found.
    pub filter: SearchFilter,
    /// How many results at most.
    pub limit: usize,
    /// How many messages before and after each result are shown with it.
    pub neighbours: usize,
}

impl SearchRequest {
    /// A search in everything, with ten results and one neighbour on each side.
    pub fn new(query: &str) -> SearchRequest {
        let filter = SearchFilter::default();
        SearchRequest { query: query.to_owned(), filter, limit: 10, neighbours: 1 }
    }
}

/// Which messages may be found; the default lets every message through that was not rewound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchFilter {
    /// Only sessions of this person.
    pub user: Option<Whose>,
    /// Only this session.
    pub session: Option<SessionId>,
    /// Only sessions from this source.
    pub source: Option<String>,
    /// Only messages of these roles; empty for every role.
    pub roles: Vec<String>,
    /// Only messages of this time or later.
    pub since: Option<Timestamp>,
    /// Only messages before this time.
    pub until: Option<Timestamp>,
    /// Also messages that were taken back.
    pub include_rewound: bool,
}

/// What was found, and how the query was understood.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SearchAnswer {
    /// The results, best first.
    pub results: Vec<SearchResult>,
    /// How the query was read.
    pub mode: Mode,
    /// The words and phrases that were looked for.
    pub terms: Vec<String>,
    /// Those that are in so many messages that they only helped to rank the others.
    pub too_common: Vec<String>,
    /// Those that are in no message that may be found.
    pub not_found: Vec<String>,
    /// What the asker should know, if anything.
    pub note: Option<String>,
}

/// One message, or one session by its title.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct SearchResult {
    /// What was found.
    pub kind: ResultKind,
    /// The message's number; none for a title.
    pub message_id: Option<i64>,
    /// The session it is in.
    pub session_id: SessionId,
    /// The session's title.
    pub title: Option<String>,
    /// Where the session comes from.
    pub source: String,
    /// Who spoke; none for a title.
    pub role: Option<String>,
    /// When it was said, or when the session began.
    pub timestamp: Timestamp,
    /// What was said, cut after some thousand characters.
    pub text: String,
    /// Whether `text` was cut.
    pub is_cut: bool,
    /// The part around the matches.
    pub snippet: Snippet,
    /// How good a match it is; comparable within one answer only.
    pub score: f64,
    /// Whether it has all of the words that say something.
    pub matched_all: bool,
    /// Whether the message is still part of the conversation.
    pub state: MessageState,
    /// The messages just before it, oldest first.
    pub before: Vec<Neighbour>,
    /// The messages just after it; for a title the first ones of the session.
    pub after: Vec<Neighbour>,
}

/// What a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultKind {
    /// A message.
    Message,
    /// A session whose title matches.
    Title,
}

/// A message beside a result, shortened.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Neighbour {
    /// The message's number.
    pub message_id: i64,
    /// Who spoke.
    pub role: String,
    /// When.
    pub timestamp: Timestamp,
    /// The beginning of what was said.
    pub text: String,
}

/// Bytes of text that one search reads word by word; long texts share it.
const READ_BYTES: usize = 3_000_000;
/// However many candidates there are, this much of each is read.
const LEAST_READ_BYTES: usize = 4_096;
/// What being new can add to a score, as a share of it.
const RECENCY_SHARE: f64 = 0.02;

/// A row that was read and matched.
struct Candidate {
    id: i64,
    evidence: Evidence,
    weight: f64,
    timestamp: f64,
    matched_all: bool,
}

/// A candidate or a title with its place in the order.
#[derive(Debug, Clone)]
struct Ranked {
    subject: Subject,
    score: f64,
    matched_all: bool,
    timestamp: f64,
}

#[derive(Debug, Clone)]
enum Subject {
    Message(i64),
    Title(SessionId),
}

impl SessionStore {
    /// Searches messages and titles; nothing that can be typed makes it fail, only the database can.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer> {
        let has_index =
            !matches!(self.layout().full_text(), FullText::None | FullText::Unusable { .. });
        let found = in_one_view(self.connection(), |db| search(db, request, has_index));
        found.map_err(|source| self.fault(source))
    }
}

/// Runs all statements of a search in one read transaction: they see the same rows, and the file
/// is locked once, not a thousand times.
fn in_one_view<T>(
    db: &rusqlite::Connection,
    search: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = db.unchecked_transaction()?;
    let found = search(&transaction)?;
    transaction.commit()?;
    Ok(found)
}

fn search(
    db: &rusqlite::Connection,
    request: &SearchRequest,
    has_index: bool,
) -> rusqlite::Result<SearchAnswer> {
    let mut query = query::parse(&request.query);
    if query.terms.is_empty() {
        query.notes.push("the query has no word to search for".to_owned());
        return Ok(describe(&query, &Selection::default(), &[], Vec::new()));
    }
    let mut rows = Rows::new(db, &request.filter)?;
    let mut selection = candidates::select(&mut rows, &mut query, has_index)?;
    let mut matcher = Matcher::new(&query.terms);
    let mut candidates = read_candidates(&mut rows, &query, &matcher, &selection)?;
    if selection.frequencies.is_none() {
        // Nobody asked the index, so only now it is known which phrases stand nowhere.
        let counts = count_frequencies(&candidates, query.terms.len());
        if query.take_apart(|number| counts[number] == 0.0) {
            matcher = Matcher::new(&query.terms);
            candidates = read_candidates(&mut rows, &query, &matcher, &selection)?;
        }
    }
    let corpus = corpus(rows.scope.size(), &mut selection, &candidates, query.terms.len());
    // It may still hold a huge message.
    drop(rows);
    let mut ranked = rank_candidates(&candidates, &query, &corpus);
    ranked.extend(title::find(db, request, &query, &corpus)?);
    let results = answer::present(db, request, (&matcher, &needed(&query.terms)), ranked)?;
    Ok(describe(&query, &selection, &corpus.frequencies, results))
}

/// Reads the chosen rows, best chances first, until the budget is used up.
fn read_candidates(
    rows: &mut Rows<'_>,
    query: &Query,
    matcher: &Matcher,
    selection: &Selection,
) -> rusqlite::Result<Vec<Candidate>> {
    let mut words = Words::default();
    let needed = needed(&query.terms);
    let most_bytes = (READ_BYTES / selection.ids.len().max(1)).max(LEAST_READ_BYTES);
    // Without counted frequencies the whole scope is read, and the frequencies come from that.
    let most = if selection.frequencies.is_some() { BUDGET } else { usize::MAX };
    let mut candidates = Vec::new();
    for id in &selection.ids {
        if candidates.len() >= most {
            break;
        }
        let is_verified = selection.verified.contains(id);
        let candidate = rows.read(*id, |found| {
            // What the index has not vouched for holds only of the whole text.
            let is_judged_whole = query.condition.is_some() && !is_verified;
            let reading = &mut Reading { words: &mut words, most_bytes, is_judged_whole };
            let evidence = read_evidence(&found.text, query, matcher, reading);
            let is_wanted = match &query.condition {
                Some(condition) => is_verified || condition.holds(&evidence.present()),
                None => is_verified || !evidence.is_empty(),
            };
            is_wanted.then(|| Candidate {
                id: found.id,
                weight: role_weight(&found.role),
                timestamp: found.timestamp,
                matched_all: is_verified || query.condition.is_some() || evidence.has_all(&needed),
                evidence,
            })
        })?;
        candidates.extend(candidate.flatten());
    }
    Ok(candidates)
}

/// How far a text is read.
struct Reading<'a> {
    words: &'a mut Words,
    /// Where the reading ends if there was a hit by then.
    most_bytes: usize,
    is_judged_whole: bool,
}

fn read_evidence(
    text: &str,
    query: &Query,
    matcher: &Matcher,
    reading: &mut Reading<'_>,
) -> Evidence {
    let mut evidence: Option<Evidence> = None;
    for (_, piece) in windows(text, reading.most_bytes) {
        let hits = matcher.hits(piece, reading.words);
        let more = weigh(&hits, &query.terms, reading.words.len());
        evidence = Some(match evidence {
            Some(before) => before.and(&more),
            None => more,
        });
        if !hits.is_empty() && !reading.is_judged_whole {
            break;
        }
    }
    evidence.unwrap_or_else(|| weigh(&[], &query.terms, 0))
}

fn corpus(rows: f64, selection: &mut Selection, candidates: &[Candidate], terms: usize) -> Corpus {
    let total: usize = candidates.iter().map(|candidate| candidate.evidence.length).sum();
    let mean_length = total as f64 / candidates.len().max(1) as f64;
    match selection.frequencies.take() {
        Some(frequencies) => Corpus { rows, frequencies, mean_length },
        None => Corpus {
            rows: selection.ids.len() as f64,
            frequencies: count_frequencies(candidates, terms),
            mean_length,
        },
    }
}

fn count_frequencies(candidates: &[Candidate], terms: usize) -> Vec<f64> {
    let has = |candidate: &&Candidate, term: usize| candidate.evidence.counts[term] > 0.0;
    (0..terms).map(|term| candidates.iter().filter(|c| has(c, term)).count() as f64).collect()
}

fn rank_candidates(candidates: &[Candidate], query: &Query, corpus: &Corpus) -> Vec<Ranked> {
    let times = || candidates.iter().map(|candidate| candidate.timestamp);
    let oldest = times().fold(f64::INFINITY, f64::min);
    let span = (times().fold(f64::NEG_INFINITY, f64::max) - oldest).max(1.0);
    let rank = |candidate: &Candidate| {
        let recency = 1.0 + RECENCY_SHARE * (candidate.timestamp - oldest) / span;
        Ranked {
            subject: Subject::Message(candidate.id),
            score: score(&candidate.evidence, &query.terms, corpus) * candidate.weight * recency,
            matched_all: candidate.matched_all,
            timestamp: candidate.timestamp,
        }
    };
    candidates.iter().map(rank).collect()
}

/// Best first: all of the words, then the score, then the newest.
fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| {
        let all = b.matched_all.cmp(&a.matched_all);
        all.then(b.score.total_cmp(&a.score)).then(b.timestamp.total_cmp(&a.timestamp))
    });
}

fn describe(
    query: &Query,
    selection: &Selection,
    frequencies: &[f64],
    results: Vec<SearchResult>,
) -> SearchAnswer {
    let needed = needed(&query.terms);
    let shown = |numbers: &[usize]| -> Vec<String> {
        numbers.iter().map(|number| query.terms[*number].shown.clone()).collect()
    };
    let nowhere = |number: &usize| frequencies.get(*number).is_some_and(|count| *count == 0.0);
    let missing: Vec<usize> = needed.iter().copied().filter(nowhere).collect();
    let notes: Vec<String> = query.notes.iter().chain(&selection.notes).cloned().collect();
    SearchAnswer {
        results,
        mode: query.mode,
        terms: shown(&needed),
        too_common: shown(&selection.dropped),
        not_found: shown(&missing),
        note: (!notes.is_empty()).then(|| notes.join("; ")),
    }
}

/// The words of a text exactly as FTS5's tokenizer unicode61 cuts them.
pub(super) fn split_words(text: &str) -> Vec<String> {
    words::split(text)
}
