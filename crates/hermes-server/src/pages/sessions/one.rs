//! One session: what was said, what was put before the model, and what became of it.

use askama::Template;
use hermes_app::sessions::export::{self, Format};
use hermes_home::redaction::{self, Policy};
use hermes_store::memory::{ItemKind, Memory, MessageKey, Scope};
use hermes_store::sessions::{
    Message, MessageState, SessionId, SessionStore, SessionSummary, Window,
};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde::Serialize;

use super::NAME;
use crate::pages::show::{self, Head};
use crate::pages::text::{self, Html};
use crate::pages::visit::Frame;
use crate::pages::{Answer, Visit};
use hermes_app::pool::Seat;
use hermes_app::text::{one_line, thousands};

/// So many messages are on one page.
const MESSAGES: usize = 80;
/// So many are shown before the one that was asked for.
const BEFORE: usize = 12;

#[derive(Template, Serialize)]
#[template(path = "session.html")]
struct One {
    #[serde(skip)]
    frame: Frame,
    session: SessionSummary,
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    name: String,
    #[serde(skip)]
    tokens: String,
    results: Vec<Said>,
    /// What was put before the model, latest first.
    given: Vec<Given>,
    #[serde(skip)]
    earlier: Option<String>,
    #[serde(skip)]
    later: Option<String>,
}

#[derive(Serialize)]
struct Said {
    #[serde(flatten)]
    message: Message,
    #[serde(skip)]
    shown: Html,
    #[serde(skip)]
    calls: Vec<Call>,
    #[serde(skip)]
    is_hit: bool,
    #[serde(skip)]
    inspect: Option<String>,
}

impl Said {
    fn state(&self) -> Option<&'static str> {
        match self.message.state {
            MessageState::Active => None,
            MessageState::Compacted => Some("compacted"),
            MessageState::Rewound => Some("rewound"),
        }
    }

    fn is_tool(&self) -> bool {
        self.message.role == "tool"
    }
}

/// A tool that was called.
struct Call {
    name: String,
    input: String,
}

/// What was handed out at one time.
#[derive(Serialize)]
struct Given {
    at: Timestamp,
    items: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    id: String,
    text: String,
    #[serde(skip)]
    address: Option<String>,
}

pub(super) fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let (store, id, session) = super::found(seat, visit)?;
    if visit.asked("as") == Some("md") {
        return download(seat, &id);
    }
    let frame = visit.frame(seat)?;
    let address = frame.link(format_args!("sessions/{id}"));
    let (mut messages, earlier, later) = window(&store, &id, visit)?;
    let secrets = seat.app.config(&seat.home)?.config.recording.secrets;
    messages.iter_mut().for_each(|message| withhold(secrets, message));
    let words = visit.asked("q").map(text::asked_words).unwrap_or_default();
    let hit = visit.number("around").and_then(|message| i64::try_from(message).ok());
    let results = messages.into_iter().map(|message| said(message, hit, &words, &frame)).collect();
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let given = given(&memory.store, scope, id.as_str(), &frame)?;
    let count = u64::try_from(session.input_tokens + session.output_tokens).unwrap_or_default();
    let one = One {
        name: secrets
            .clean(&session.title.clone().or_else(|| session.preview.clone()).unwrap_or_default())
            .into_owned(),
        tokens: if count > 0 { thousands(count) } else { String::new() },
        frame,
        session,
        address,
        results,
        given,
        earlier,
        later,
    };
    let title = if one.name.is_empty() { id.to_string() } else { one.name.clone() };
    let head = Head { title, section: NAME, command: format!("hermes sessions show {id}") };
    show::view(visit, head, &one)
}

/// Puts names in place of secrets: the transcript keeps what was said, and a page may be looked at over a shoulder.
fn withhold(secrets: Policy, message: &mut Message) {
    message.text = secrets.clean(&message.text).into_owned();
    if secrets != Policy::Keep {
        message.parts = message.parts.take().map(redaction::redact_value);
        message.tool_calls = message.tool_calls.take().map(redaction::redact_value);
    }
}

/// A part of the transcript, with the addresses of what is before and after it.
fn window(
    store: &SessionStore,
    id: &SessionId,
    visit: &Visit,
) -> anyhow::Result<(Vec<Message>, Option<String>, Option<String>)> {
    let number = |name| visit.number(name).and_then(|message| i64::try_from(message).ok());
    let window = match (number("around"), number("from"), number("to")) {
        (Some(message), _, _) => {
            Window::Around { message, before: BEFORE, after: MESSAGES - BEFORE }
        }
        (None, Some(message), _) => Window::Around { message, before: 1, after: MESSAGES },
        (None, None, Some(message)) => Window::Around { message, before: MESSAGES, after: 0 },
        (None, None, None) => Window::First(MESSAGES + 1),
    };
    let mut messages = store.messages(id, window)?;
    messages.truncate(MESSAGES + 1);
    let first = store.messages(id, Window::First(1))?;
    let last = store.messages(id, Window::Last(1))?;
    let ends = |edge: &[Message], shown: Option<&Message>| {
        edge.first().map(|one| one.id) == shown.map(|one| one.id)
    };
    let earlier = (!ends(&first, messages.first())).then(|| at(visit, "to", messages.first()));
    let later = (!ends(&last, messages.last())).then(|| at(visit, "from", messages.last()));
    Ok((messages, earlier, later))
}

/// This page from, or up to, a message.
fn at(visit: &Visit, name: &str, message: Option<&Message>) -> String {
    let number = message.map(|message| message.id.to_string()).unwrap_or_default();
    let value = |other: &str| if other == name { number.as_str() } else { "" };
    let changes = ["around", "from", "to", "q"].map(|other| (other, value(other)));
    visit.here_with(&changes)
}

fn said(message: Message, hit: Option<i64>, words: &[String], frame: &Frame) -> Said {
    let shown = match (words.is_empty(), message.role.as_str()) {
        (false, _) => {
            Html(format!("<div class=\"talk\">{}</div>", text::marked(&message.text, words)))
        }
        (true, "assistant") => text::markdown(&message.text),
        (true, _) => Html(format!("<div class=\"talk\">{}</div>", text::escape(&message.text))),
    };
    let is_asked = message.role == "user" && !message.text.trim().is_empty();
    let inspect =
        is_asked.then(|| frame.link_with("inspector", "task", one_line(&message.text, 400)));
    Said { is_hit: hit == Some(message.id), calls: calls(&message), shown, inspect, message }
}

/// The calls of a message, in the forms in which programs write them.
fn calls(message: &Message) -> Vec<Call> {
    let listed = message.tool_calls.as_ref().and_then(|calls| calls.as_array());
    let one = |call: &serde_json::Value| {
        let function = call.get("function").unwrap_or(call);
        let input = function.get("arguments").or_else(|| function.get("input"));
        let input = match input {
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let name = function.get("name").and_then(|name| name.as_str()).unwrap_or("tool");
        Call { name: name.to_owned(), input }
    };
    listed.map(|listed| listed.iter().map(one).collect()).unwrap_or_default()
}

fn given(store: &Memory, scope: Scope, session: &str, frame: &Frame) -> anyhow::Result<Vec<Given>> {
    let mut all = Vec::new();
    for receipt in store.receipts_of(scope, session)? {
        let mut items = Vec::new();
        for (kind, id) in receipt.items {
            items.push(item(store, scope, kind, id, frame)?);
        }
        all.push(Given { at: receipt.at, items });
    }
    all.reverse();
    Ok(all)
}

fn item(
    store: &Memory,
    scope: Scope,
    kind: ItemKind,
    id: i64,
    frame: &Frame,
) -> anyhow::Result<Item> {
    let gone = || "no longer available".to_owned();
    let (id, text, address) = match kind {
        ItemKind::Fact => {
            let text = store.facts(scope, &[id])?.pop().map(|fact| fact.statement);
            (format!("fact:{id:03}"), text, Some(frame.link(format_args!("facts/{id}"))))
        }
        ItemKind::Procedure => {
            let text = store.procedures(scope, &[id])?.pop().map(|one| one.title);
            let address = format!("{}#procedure-{id}", frame.link("procedures"));
            (format!("procedure:{id}"), text, Some(address))
        }
        ItemKind::Event => {
            let text = store.events(scope, &[id])?.pop().map(|event| event.text);
            (format!("event:{id}"), text, None)
        }
        // Whole conversations are noted by their episode, whether a summary stands for it or not.
        ItemKind::Summary => {
            let address = Some(frame.link(format_args!("timeline/{id}")));
            (format!("episode:{id}"), episode(store, scope, id, frame)?, address)
        }
        ItemKind::Message => {
            let key = MessageKey::from_row(id);
            let text = store.messages(scope, &[key])?.pop().map(|message| message.text);
            ("message".to_owned(), text, None)
        }
    };
    Ok(Item { id, text: one_line(&text.unwrap_or_else(gone), 160), address })
}

/// How an episode begins, or what stands in its place.
fn episode(store: &Memory, scope: Scope, id: i64, frame: &Frame) -> anyhow::Result<Option<String>> {
    if let Some((_, summary)) = store.covering(scope, &[id])?.first() {
        return Ok(Some(format!("a conversation that is now summarised in episode:{summary}")));
    }
    let Some(episode) = store.episodes(scope, &[id])?.pop() else { return Ok(None) };
    if let Some(summary) = episode.body {
        return Ok(Some(summary));
    }
    let first = store.messages_of(scope, &episode)?.into_iter().next();
    let when = frame.minute(&episode.started_at);
    Ok(first.map(|message| format!("{when}: {}", message.text)))
}

fn download(seat: &Seat, id: &SessionId) -> anyhow::Result<Answer> {
    let (app, home) = (&seat.app, &seat.home);
    let mut bytes = Vec::new();
    let store = app.sessions(home, Access::Read)?;
    let zone = app.zone(home)?;
    export::write(Format::Markdown, &store, std::slice::from_ref(id), &zone, &mut bytes)?;
    let name = format!("{id}.md");
    Ok(Answer::Download { name, kind: "text/markdown; charset=utf-8", bytes })
}
