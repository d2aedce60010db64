//! The tool `session_search`: find what was said before, look around it, read a session, see which there are.

use hermes_agent::toolbox::Outcome;
use hermes_home::pasted::is_pasted;
use hermes_home::tokens;
use hermes_llm::chat::Tool;
use hermes_store::sessions::{
    Message, MessageState, SearchFilter, SearchRequest, SearchResult, SessionId, SessionStore,
    SessionSummary, Whose, Window,
};
use hermes_store::sqlite::Access;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Tools;
use crate::chat::opening;
use hermes_app::clock;
use hermes_app::problem;
use hermes_app::recall::Recall;
use hermes_app::search::{Filter, Kind, Question};
use hermes_app::text::one_line;

/// Its name.
pub(super) const NAME: &str = "session_search";
/// How many tokens an answer may have that finds sessions.
pub(crate) const DISCOVER_TOKENS: usize = 1_500;
/// How many tokens a session that is read may have.
const READ_TOKENS: usize = 6_000;
/// How many messages are searched for, so that enough sessions are among them.
const HITS: usize = 40;
const USUAL: usize = 3;
const MOST: usize = 10;

#[derive(Debug, Clone, Default, Deserialize)]
struct Arguments {
    query: Option<String>,
    limit: Option<usize>,
    sort: Option<String>,
    session_id: Option<String>,
    around_message_id: Option<i64>,
    window: Option<usize>,
    role_filter: Option<String>,
    since: Option<String>,
    until: Option<String>,
}

pub(super) fn tool() -> Tool {
    Tool {
        name: NAME.to_owned(),
        description: "Past conversations, word for word. With query: the sessions where it was said, best first. With session_id: read that session; with around_message_id too: the messages around one. With neither: the latest sessions. since and until take dates or words: 2026-05-31, yesterday, last tuesday.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer", "description": "sessions, 3 unless said, at most 10"},
                "sort": {"type": "string", "enum": ["newest", "oldest"]},
                "session_id": {"type": "string"},
                "around_message_id": {"type": "integer"},
                "window": {"type": "integer", "description": "messages before and after, 5 unless said, at most 20"},
                "role_filter": {"type": "string", "description": "user,assistant unless said"},
                "since": {"type": "string"},
                "until": {"type": "string"},
            },
        }),
    }
}

/// What a call would do, in one line.
pub(super) fn describe(input: &Value) -> String {
    let text = |key: &str| input[key].as_str().map(|text| one_line(text, 80));
    match (text("query").filter(|query| !query.is_empty()), text("session_id")) {
        (_, Some(id)) => format!("read session {id}"),
        (Some(query), None) => format!("search sessions for \"{query}\""),
        (None, None) => "list sessions".to_owned(),
    }
}

pub(super) fn call(tools: &mut Tools, input: &Value) -> Outcome {
    let asked: Arguments = match serde_json::from_value(input.clone()) {
        Ok(asked) => asked,
        Err(error) => {
            return Outcome::failed(&format!("the arguments are not understood: {error}"));
        }
    };
    match answer(tools, &asked).and_then(|told| withheld(tools, told)) {
        Ok(told) => Outcome {
            text: told.text,
            is_error: false,
            shown: Some(told.shown),
            ends_turn: false,
            is_outside: told.is_outside,
        },
        Err(error) => Outcome::failed(&problem::message(&error)),
    }
}

/// What is told of other sessions.
struct Told {
    /// For the model.
    text: String,
    /// For the person.
    shown: String,
    /// Whether anything in it is not the person's own words.
    is_outside: bool,
}

/// The transcript keeps what was said; a model gets names in place of secrets.
fn withheld(tools: &Tools, told: Told) -> anyhow::Result<Told> {
    let secrets = tools.seat.app.config(&tools.seat.home)?.config.recording.secrets;
    Ok(Told { text: secrets.clean(&told.text).into_owned(), ..told })
}

/// The sessions of whoever talks here.
struct Own {
    store: SessionStore,
    whose: Whose,
    zone: TimeZone,
}

fn answer(tools: &mut Tools, asked: &Arguments) -> anyhow::Result<Told> {
    let asker = tools.asker.clone();
    let (app, home, memory) = tools.seat.reader()?;
    let whose = asker.own_sessions(&memory.store)?;
    let zone = app.zone_of(home, &memory.store, asker.scope.user())?;
    let store = app.sessions(home, Access::Read)?;
    if let Some(selector) = &asked.session_id {
        let id = opening::own(&store, &whose, selector)?;
        return shown_session(&store, &id, asked, &zone);
    }
    let query = asked.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
    match query {
        Some(query) => discover(tools, &Own { store, whose, zone }, asked, query),
        None => browse(tools, &Own { store, whose, zone }, asked),
    }
}

/// A session that answers, with the message that does.
struct Found {
    session: String,
    at: jiff::Timestamp,
    title: Option<String>,
    source: String,
    message: Option<i64>,
    lines: Vec<String>,
    /// Whether anything in the lines or the title is not the person's own words.
    is_outside: bool,
}

/// The sessions where something was said.
fn discover(tools: &mut Tools, own: &Own, asked: &Arguments, query: &str) -> anyhow::Result<Told> {
    let Own { store, whose, zone } = own;
    let limit = asked.limit.unwrap_or(USUAL).clamp(1, MOST);
    let app = &tools.seat.app;
    let moment = |text: &Option<String>| {
        text.as_deref().map(|text| clock::parse_moment(text, app.now, zone)).transpose()
    };
    let roles = asked.role_filter.as_deref().unwrap_or("user,assistant");
    let filter = SearchFilter {
        user: Some(whose.clone()),
        roles: roles
            .split(',')
            .map(|role| role.trim().to_owned())
            .filter(|r| !r.is_empty())
            .collect(),
        since: moment(&asked.since)?,
        until: moment(&asked.until)?,
        ..SearchFilter::default()
    };
    let (since, until) = (filter.since, filter.until);
    let meant = Filter { since, until, ..Filter::default() };
    let question = Question { text: query, kind: Kind::Episodes, limit: HITS, filter: meant };
    let request = SearchRequest { query: query.to_owned(), filter, limit: HITS, neighbours: 1 };
    let answer = store.search(&request)?;
    let mut found: Vec<Found> = Vec::new();
    for result in &answer.results {
        let id = result.session_id.as_str();
        // Of the running session, only what left its window.
        let is_seen = id == tools.session.as_str() && result.state != MessageState::Compacted;
        let is_new = found.iter().all(|one| one.session != id) && !is_seen;
        if is_new && found.len() < limit {
            found.push(of_result(result));
        }
    }
    if found.len() < limit {
        by_meaning(tools, &mut found, &question, limit)?;
    }
    match asked.sort.as_deref() {
        Some("newest") => found.sort_by_key(|one| std::cmp::Reverse(one.at)),
        Some("oldest") => found.sort_by_key(|one| one.at),
        _ => {}
    }
    Ok(Told {
        text: listed(query, &found, zone),
        shown: format!("{} sessions found", found.len()),
        is_outside: found.iter().any(|one| one.is_outside),
    })
}

fn of_result(result: &SearchResult) -> Found {
    let role = result.role.as_deref().unwrap_or("title");
    let mut lines: Vec<String> = Vec::new();
    let shown = result.before.last().into_iter().chain(result.after.first());
    let is_outside = result.title.is_some()
        || role != "user"
        || is_pasted(&result.text)
        || shown.into_iter().any(|one| one.role != "user" || is_pasted(&one.text));
    let beside = |one: &hermes_store::sessions::Neighbour| {
        format!("  {}: {}", one.role, one_line(&one.text, 160))
    };
    lines.extend(result.before.last().map(beside));
    lines.push(format!("  > {role}: {}", one_line(&result.snippet.text, 360)));
    lines.extend(result.after.first().map(beside));
    Found {
        session: result.session_id.to_string(),
        at: result.timestamp,
        title: result.title.clone(),
        source: result.source.clone(),
        message: result.message_id,
        lines,
        is_outside,
    }
}

/// Sessions that say it in other words, from memory.db.
fn by_meaning(
    tools: &mut Tools,
    found: &mut Vec<Found>,
    question: &Question<'_>,
    limit: usize,
) -> anyhow::Result<()> {
    let (asker, running) = (tools.asker.clone(), tools.session.to_string());
    let (app, home, memory) = tools.seat.reader()?;
    let recall = Recall { app, home, store: &memory.store, asker: &asker };
    let answer = recall.find(question)?;
    for hit in &answer.results {
        let Some(session) = hit.session_id.clone() else { continue };
        let is_new = found.iter().all(|one| one.session != session) && session != running;
        if is_new && found.len() < limit {
            let role = hit.role.as_deref().unwrap_or("summary");
            found.push(Found {
                session,
                at: hit.at.unwrap_or(app.now),
                title: None,
                source: hit.channel.clone().unwrap_or_default(),
                message: hit.message_id,
                lines: vec![format!("  > {role}: {}", one_line(&hit.snippet, 360))],
                is_outside: hit.is_outside,
            });
        }
    }
    Ok(())
}

/// The answer as text; what does not fit into its tokens is left out, the worst first.
fn listed(query: &str, found: &[Found], zone: &TimeZone) -> String {
    if found.is_empty() {
        return format!("nothing was said about \"{}\" in other sessions", one_line(query, 120));
    }
    let head = "Sessions, best first. Read on with session_id, and around_message_id for the number after #.";
    let block = |one: &Found| {
        let title = one.title.as_deref().map(|title| format!(" \"{}\"", one_line(title, 80)));
        let number = one.message.map(|number| format!(" #{number}")).unwrap_or_default();
        format!(
            "[{}]{number} {} {}{}\n{}",
            one.session,
            clock::minute(one.at, zone),
            one.source,
            title.unwrap_or_default(),
            one.lines.join("\n")
        )
    };
    let mut blocks: Vec<String> = found.iter().map(block).collect();
    let all = blocks.len();
    let whole = |blocks: &[String]| {
        let left = all - blocks.len();
        let rest = if left > 0 { format!("\n({left} more did not fit)") } else { String::new() };
        format!("{head}\n{}{rest}", blocks.join("\n"))
    };
    while blocks.len() > 1 && tokens::estimate(&whole(&blocks)) > DISCOVER_TOKENS {
        blocks.pop();
    }
    whole(&blocks)
}

/// The latest sessions.
fn browse(tools: &mut Tools, own: &Own, asked: &Arguments) -> anyhow::Result<Told> {
    let Own { store, whose, zone } = own;
    let limit = asked.limit.unwrap_or(MOST).clamp(1, MOST);
    let app = &tools.seat.app;
    let moment = |text: &Option<String>| {
        text.as_deref().map(|text| clock::parse_moment(text, app.now, zone)).transpose()
    };
    let mut filter = opening::sessions_of(whose.clone(), limit + 1);
    (filter.since, filter.until) = (moment(&asked.since)?, moment(&asked.until)?);
    let mut sessions = store.list(&filter)?;
    sessions.retain(|session| session.id != tools.session);
    sessions.truncate(limit);
    if sessions.is_empty() {
        let (text, shown) = ("there are no other sessions".to_owned(), "none found".to_owned());
        return Ok(Told { text, shown, is_outside: false });
    }
    let line = |session: &SessionSummary| {
        let about =
            session.title.as_deref().or(session.preview.as_deref()).unwrap_or("nothing said");
        format!(
            "[{}] {} {} messages, {}: \"{}\"",
            session.id,
            clock::minute(session.last_active, zone),
            session.message_count,
            session.source,
            one_line(about, 100)
        )
    };
    let lines: Vec<String> = sessions.iter().map(line).collect();
    // Titles may be a model's.
    let is_outside = sessions.iter().any(|session| session.title.is_some());
    Ok(Told { text: lines.join("\n"), shown: format!("{} sessions", lines.len()), is_outside })
}

/// A session, or the part of it around a message.
fn shown_session(
    store: &SessionStore,
    id: &SessionId,
    asked: &Arguments,
    zone: &TimeZone,
) -> anyhow::Result<Told> {
    const FIRST: usize = 20;
    const LAST: usize = 10;
    let (mut messages, gap) = match asked.around_message_id {
        Some(message) => {
            let each = asked.window.unwrap_or(5).clamp(1, 20);
            (store.messages(id, Window::Around { message, before: each, after: each })?, None)
        }
        None => {
            let first = store.messages(id, Window::First(FIRST))?;
            let last = store.messages(id, Window::Last(LAST))?;
            let end = first.last().map_or(0, |message| message.id);
            let new: Vec<Message> = last.into_iter().filter(|one| one.id > end).collect();
            let is_gap = new.first().is_some_and(|_| first.len() == FIRST);
            let gap = is_gap.then_some(end);
            (first.into_iter().chain(new).collect(), gap)
        }
    };
    messages.retain(|message| {
        message.state != MessageState::Rewound && !message.text.trim().is_empty()
    });
    let each = READ_TOKENS * 3 / messages.len().max(1);
    let session = store.session(id)?;
    let title = session.title.as_deref().map(|title| format!(" \"{}\"", one_line(title, 80)));
    let mut lines = vec![format!("Session {id}{}", title.unwrap_or_default())];
    for message in &messages {
        lines.push(format!(
            "#{} {} {}: {}",
            message.id,
            clock::minute(message.timestamp, zone),
            message.role,
            one_line(&message.text, each.clamp(160, 1_200))
        ));
        if gap == Some(message.id) {
            lines
                .push("(… messages between are left out; ask with around_message_id …)".to_owned());
        }
    }
    while tokens::estimate(&lines.join("\n")) > READ_TOKENS && lines.len() > 2 {
        lines.pop();
    }
    let is_own = |message: &Message| message.role == "user" && !is_pasted(&message.text);
    Ok(Told {
        text: lines.join("\n"),
        shown: format!("{} messages", messages.len()),
        is_outside: !messages.iter().all(is_own),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_finds_sessions_stays_within_its_tokens() {
        let word = "Überraschungsmoment déjà-vu 東京の天気 ".repeat(40);
        let found: Vec<Found> = (0..10)
            .map(|number| Found {
                session: format!("20260101_000000_{number:06}"),
                at: jiff::Timestamp::UNIX_EPOCH,
                title: Some(word.clone()),
                source: "telegram".into(),
                message: Some(number),
                lines: (0..3).map(|_| format!("  > user: {}", one_line(&word, 360))).collect(),
                is_outside: false,
            })
            .collect();
        let text = listed("x", &found, &TimeZone::UTC);
        assert!(tokens::estimate(&text) <= DISCOVER_TOKENS, "{}", tokens::estimate(&text));
        assert!(text.contains("more did not fit"));
    }
}
