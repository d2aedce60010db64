//! The list of sessions, latest first, and those in which something was said.

use askama::Template;
use hermes_home::pins;
use hermes_store::sessions::{SessionKind, SessionSummary};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::NAME;
use super::order::{Order, Wanted};
use super::prune::{self, Plan};
use crate::pages::shell_word;
use crate::pages::show::{self, Head};
use crate::pages::text::{self, Html};
use crate::pages::visit::{Frame, ROWS};
use crate::pages::{Answer, Visit};
use hermes_app::hit::Hit;
use hermes_app::pool::Seat;
use hermes_app::recall::Recall;
use hermes_app::search::{Filter, Kind, Question};
use hermes_app::text::thousands;

#[derive(Template, Serialize)]
#[template(path = "sessions.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hits: Vec<Found>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip)]
    previous: Option<String>,
    #[serde(skip)]
    q: String,
    #[serde(skip)]
    source: String,
    #[serde(skip)]
    sources: Vec<String>,
    #[serde(skip)]
    kind: String,
    /// What would be deleted if the old ones went.
    #[serde(skip_serializing_if = "Option::is_none")]
    prune: Option<Plan>,
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    session: SessionSummary,
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    tokens: String,
}

impl Row {
    /// Its title, else its first words.
    fn name(&self) -> &str {
        let session = &self.session;
        session.title.as_deref().or(session.preview.as_deref()).unwrap_or("no messages yet")
    }

    fn mark(&self) -> Option<&'static str> {
        match self.session.kind {
            SessionKind::Conversation => None,
            SessionKind::Branch => Some("branch"),
            SessionKind::Continuation => Some("continued"),
            SessionKind::Subagent => Some("subagent"),
            SessionKind::Cron => Some("cron"),
        }
    }
}

/// A message in which it was said.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    hit: Hit,
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    shown: Html,
}

pub(super) fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let prune = visit.asked("older").map(|older| prune::plan(seat, older)).transpose()?;
    let (q, kind) = (visit.asked("q"), visit.asked("kind").unwrap_or("all"));
    let (app, home, memory) = seat.reader()?;
    let asker = visit.asker(&memory.store)?;
    let whose = asker.sessions(&memory.store)?;
    let store = app.sessions(home, Access::Read)?;
    let source = visit.asked("source");
    let mut hits = Vec::new();
    if let Some(q) = q {
        let question = Question {
            text: q,
            kind: Kind::Sessions,
            limit: ROWS,
            filter: Filter { channel: source, ..Filter::default() },
        };
        let recall = Recall { app, home, store: &memory.store, asker: &asker };
        let found = recall.find(&question)?;
        hits = found.results.into_iter().map(|hit| Found::of(hit, q, &frame)).collect();
    }
    let (order, mut ids);
    if q.is_some() {
        order = Order::without_latest(seat, whose)?;
        ids = Vec::new();
    } else {
        order = Order::of(seat, &store, whose)?;
        let wanted = Wanted { source, kinds: kinds(kind) };
        ids = order.ids(&wanted, visit.offset(), ROWS + 1);
    }
    let is_more = ids.len() > ROWS;
    ids.truncate(ROWS);
    let mut rows = store.sessions(&ids)?;
    let pinned = pins::read(&seat.home)?;
    let secrets = seat.app.config(&seat.home)?.config.recording.secrets;
    for session in &mut rows {
        let clean = |text: String| secrets.clean(&text).into_owned();
        session.preview = session.preview.take().map(clean);
        session.title = session.title.take().map(clean);
        session.pinned |= pinned.contains(session.id.as_str());
    }
    let list = List {
        results: rows.into_iter().map(|session| Row::of(session, &frame)).collect(),
        hits,
        next: is_more.then(|| page(visit, visit.offset() + ROWS)),
        previous: (visit.offset() > 0).then(|| page(visit, visit.offset().saturating_sub(ROWS))),
        q: q.unwrap_or_default().to_owned(),
        source: source.unwrap_or_default().to_owned(),
        sources: order.sources(),
        kind: kind.to_owned(),
        prune,
        frame,
    };
    let command = match q {
        _ if list.prune.is_some() => "hermes sessions prune --dry-run".to_owned(),
        Some(q) => format!("hermes sessions search {}", shell_word::quoted(q)),
        None => "hermes sessions list".to_owned(),
    };
    let head = Head { title: NAME.to_owned(), section: NAME, command };
    show::view(visit, head, &list)
}

fn page(visit: &Visit, offset: usize) -> String {
    let offset = if offset == 0 { String::new() } else { offset.to_string() };
    visit.here_with(&[("offset", &offset)])
}

/// The kinds that go by one name.
fn kinds(name: &str) -> &'static [SessionKind] {
    match name {
        "chats" => &[SessionKind::Conversation, SessionKind::Branch, SessionKind::Continuation],
        "automation" => &[SessionKind::Cron, SessionKind::Subagent],
        _ => &[],
    }
}

impl Row {
    fn of(session: SessionSummary, frame: &Frame) -> Row {
        let count = session.input_tokens + session.output_tokens;
        let tokens = u64::try_from(count).ok().filter(|count| *count > 0).map(thousands);
        Row {
            address: frame.link(format_args!("sessions/{}", session.id)),
            tokens: tokens.unwrap_or_default(),
            session,
        }
    }
}

impl Found {
    fn of(hit: Hit, question: &str, frame: &Frame) -> Found {
        let session = hit.session_id.clone().unwrap_or_default();
        let place = frame.link(format_args!("sessions/{session}"));
        let address = match hit.message_id {
            Some(message) => format!(
                "{}#m{message}",
                crate::pages::visit::with(
                    &crate::pages::visit::with(&place, "around", &message.to_string()),
                    "q",
                    question
                )
            ),
            None => place,
        };
        let shown = text::marked(&hit.snippet, &text::asked_words(question));
        Found { address, shown, hit }
    }
}
