//! Turns ranked rows into what the asker reads: text, snippet, neighbours.

use std::collections::HashMap;
use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, Row, Statement};

use super::matching::{Hit, Matcher};
use super::rank::source_weight;
use super::rows::{content_text, text_ref};
use super::snippet::{Snippet, cut, shorten};
use super::windows::{WINDOW, windows};
use super::words::Words;
use super::{Neighbour, Ranked, ResultKind, SearchRequest, SearchResult, Subject, sort};
use crate::sessions::content::text_of;
use crate::sessions::{MessageState, SessionId, time};

/// Characters of a result's text.
const TEXT_WIDTH: usize = 2_000;
/// Characters of a snippet.
const SNIPPET_WIDTH: usize = 240;
/// Characters of a neighbour's text.
const NEIGHBOUR_WIDTH: usize = 160;
/// For each result wanted so many are weighed by where their session comes from.
const WEIGHED: usize = 3;

const MESSAGE: &str = "
    select session_id, role, timestamp, content, tool_name, tool_calls, active, compacted
    from message_view where id = ?1";

const SESSION: &str = "
    select title, source, hidden, started_at from session_view where id = ?1";

const SESSION_OF: &str = "select session_id from message_view where id = ?1";

/// The ids first: otherwise every text of the session would be read and sorted.
const BEFORE: &str = "
    select id, role, timestamp, content from message_view where id in (
        select id from message_view
        where session_id = ?1 and id < ?2 and (?3 or active <> 0 or compacted <> 0)
          and octet_length(content) > 0
        order by id desc limit ?4)
    order by id desc";

const AFTER: &str = "
    select id, role, timestamp, content from message_view where id in (
        select id from message_view
        where session_id = ?1 and id > ?2 and (?3 or active <> 0 or compacted <> 0)
          and octet_length(content) > 0
        order by id limit ?4)
    order by id";

#[derive(Default)]
struct Session {
    title: Option<String>,
    source: String,
    is_hidden: bool,
    started_at: f64,
}

/// The best of the ranked rows as results, in order.
pub(super) fn present(
    db: &Connection,
    request: &SearchRequest,
    (matcher, marked): (&Matcher, &[usize]),
    mut ranked: Vec<Ranked>,
) -> rusqlite::Result<Vec<SearchResult>> {
    sort(&mut ranked);
    ranked.truncate(request.limit.saturating_mul(WEIGHED));
    let mut sessions = Sessions::new(db)?;
    for one in &mut ranked {
        one.score *= sessions.weight(&one.subject)?;
    }
    sort(&mut ranked);
    ranked.truncate(request.limit);
    let presenter = Presenter { matcher, marked, sessions: sessions.known };
    let mut messages = Messages {
        message: db.prepare(MESSAGE)?,
        before: db.prepare(BEFORE)?,
        after: db.prepare(AFTER)?,
        request,
    };
    ranked.iter().filter_map(|one| messages.result(&presenter, one).transpose()).collect()
}

/// The sessions of the results, each read once.
struct Sessions<'db> {
    known: HashMap<String, Session>,
    session: Statement<'db>,
    session_of: Statement<'db>,
}

impl<'db> Sessions<'db> {
    fn new(db: &'db Connection) -> rusqlite::Result<Sessions<'db>> {
        let (session, session_of) = (db.prepare(SESSION)?, db.prepare(SESSION_OF)?);
        Ok(Sessions { known: HashMap::new(), session, session_of })
    }

    /// How much a result counts for where it comes from.
    fn weight(&mut self, subject: &Subject) -> rusqlite::Result<f64> {
        let id = match subject {
            Subject::Title(session) => session.as_str().to_owned(),
            Subject::Message(id) => {
                let of_row = |row: &Row<'_>| Ok(text_of(row.get_ref(0)?).unwrap_or_default());
                self.session_of.query_row([id], of_row).optional()?.unwrap_or_default()
            }
        };
        if !self.known.contains_key(&id) {
            let session = self.session.query_row([&id], Session::from_row).optional()?;
            self.known.insert(id.clone(), session.unwrap_or_default());
        }
        Ok(self.known.get(&id).map_or(1.0, |s| source_weight(&s.source, s.is_hidden)))
    }
}

impl Session {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Session> {
        Ok(Session {
            title: text_of(row.get_ref(0)?).filter(|title| !title.is_empty()),
            source: text_of(row.get_ref(1)?).unwrap_or_default(),
            is_hidden: row.get_ref(2)?.as_i64().unwrap_or(0) != 0,
            started_at: row.get_ref(3)?.as_f64().unwrap_or(0.0),
        })
    }
}

/// The statements that read a result and what stands around it.
struct Messages<'a> {
    message: Statement<'a>,
    before: Statement<'a>,
    after: Statement<'a>,
    request: &'a SearchRequest,
}

impl Messages<'_> {
    fn result(
        &mut self,
        presenter: &Presenter<'_>,
        ranked: &Ranked,
    ) -> rusqlite::Result<Option<SearchResult>> {
        let found = match &ranked.subject {
            Subject::Title(session) => Some(presenter.title(session)),
            Subject::Message(id) => {
                self.message.query_row([id], |row| presenter.message(*id, row)).optional()?
            }
        };
        let Some(mut result) = found else { return Ok(None) };
        let session = result.session_id.as_str();
        result.after =
            neighbours(&mut self.after, session, result.message_id.unwrap_or(-1), self.request)?;
        if let Some(id) = result.message_id {
            result.before = neighbours(&mut self.before, session, id, self.request)?;
            result.before.reverse();
        }
        result.score = (ranked.score * 1000.0).round() / 1000.0;
        result.matched_all = ranked.matched_all;
        Ok(Some(result))
    }
}

fn neighbours(
    statement: &mut Statement<'_>,
    session: &str,
    from: i64,
    request: &SearchRequest,
) -> rusqlite::Result<Vec<Neighbour>> {
    if request.neighbours == 0 {
        return Ok(Vec::new());
    }
    let count = i64::try_from(request.neighbours).unwrap_or(i64::MAX);
    let values = (session, from, request.filter.include_rewound, count);
    let rows = statement.query_map(values, |row| {
        Ok(Neighbour {
            message_id: row.get(0)?,
            role: text_of(row.get_ref(1)?).unwrap_or_default(),
            timestamp: time::from_seconds(row.get_ref(2)?.as_f64().unwrap_or(0.0)),
            text: shorten(&content_text(row.get_ref(3)?), NEIGHBOUR_WIDTH),
        })
    })?;
    rows.collect()
}

/// What results are made with, once their rows are read.
struct Presenter<'a> {
    matcher: &'a Matcher,
    /// The terms worth marking: those that say something.
    marked: &'a [usize],
    sessions: HashMap<String, Session>,
}

impl Presenter<'_> {
    fn message(&self, id: i64, row: &Row<'_>) -> rusqlite::Result<SearchResult> {
        let content = content_text(row.get_ref(3)?);
        let mut snippet = self.snippet(&content);
        if snippet.marks.is_empty() {
            // The words may stand in the tool calls alone.
            let tools = [text_ref(row.get_ref(4)?), text_ref(row.get_ref(5)?)].join(" ");
            let of_tools = self.snippet(tools.trim());
            if !of_tools.marks.is_empty() || content.is_empty() {
                snippet = of_tools;
            }
        }
        let state = match (row.get::<_, bool>(6)?, row.get::<_, bool>(7)?) {
            (true, _) => MessageState::Active,
            (false, true) => MessageState::Compacted,
            (false, false) => MessageState::Rewound,
        };
        let session_id = text_of(row.get_ref(0)?).unwrap_or_default();
        Ok(SearchResult {
            kind: ResultKind::Message,
            message_id: Some(id),
            role: text_of(row.get_ref(1)?),
            timestamp: time::from_seconds(row.get_ref(2)?.as_f64().unwrap_or(0.0)),
            snippet,
            state,
            ..self.blank(&session_id, &content)
        })
    }

    fn title(&self, session: &SessionId) -> SearchResult {
        let title = self.sessions.get(session.as_str()).and_then(|s| s.title.clone());
        let title = title.unwrap_or_default();
        SearchResult { snippet: self.snippet(&title), ..self.blank(session.as_str(), &title) }
    }

    /// A result about the session that still lacks what only its message knows.
    fn blank(&self, session_id: &str, text: &str) -> SearchResult {
        let session = self.sessions.get(session_id);
        SearchResult {
            kind: ResultKind::Title,
            message_id: None,
            session_id: SessionId::from(session_id.to_owned()),
            title: session.and_then(|session| session.title.clone()),
            source: session.map(|session| session.source.clone()).unwrap_or_default(),
            role: None,
            timestamp: time::from_seconds(session.map_or(0.0, |session| session.started_at)),
            text: shorten(text, TEXT_WIDTH),
            is_cut: text.chars().nth(TEXT_WIDTH).is_some(),
            snippet: Snippet::default(),
            score: 0.0,
            matched_all: false,
            state: MessageState::Active,
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// The part around the first matches; a long text is read only up to there.
    fn snippet(&self, text: &str) -> Snippet {
        let mut words = Words::default();
        for (start, piece) in windows(text, WINDOW) {
            let hits = self.matcher.hits(piece, &mut words);
            let is_marked = |hit: &&Hit| self.marked.contains(&hit.term);
            let place = |hit: &Hit| (start + hit.start..start + hit.end, hit.term);
            let matches: Vec<(Range<usize>, usize)> =
                hits.iter().filter(is_marked).map(place).collect();
            if !matches.is_empty() {
                return cut(text, &matches, SNIPPET_WIDTH);
            }
        }
        cut(text, &[], SNIPPET_WIDTH)
    }
}
