//! The list of facts: searched, narrowed, sorted, paged.

use askama::Template;
use hermes_store::memory::{Fact, FactFilter, FactOnly, FactOrder, Scope};
use jiff::Timestamp;
use serde::Serialize;

use super::NAME;
use crate::pages::show::{self, Head};
use crate::pages::text::{self, Html};
use crate::pages::visit::{Frame, ROWS};
use crate::pages::{Answer, Visit, shell_word};
use hermes_app::fact_view::Shown;
use hermes_app::hit::Hit;
use hermes_app::memory::OpenMemory;
use hermes_app::pool::Seat;
use hermes_app::reason::Reason;
use hermes_app::recall::Recall;
use hermes_app::search::{Filter, Kind, Question};

#[derive(Template, Serialize)]
#[template(path = "facts.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    wanted: Wanted,
    #[serde(skip)]
    tabs: Vec<Tab>,
    #[serde(skip)]
    sorts: Vec<Tab>,
    #[serde(skip)]
    next: Option<String>,
    #[serde(skip)]
    before: Option<String>,
    #[serde(skip)]
    reasons: [&'static str; 5],
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    fact: Shown,
    /// How it was found: `keyword`, `semantic`, `both`, `weak`.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<&'static str>,
    #[serde(skip)]
    text: Html,
    #[serde(skip)]
    address: String,
}

/// What the address asks for.
#[derive(Default)]
struct Wanted {
    q: String,
    entity: String,
    kind: String,
    show: String,
    sort: String,
}

struct Tab {
    name: String,
    address: String,
    is_here: bool,
}

pub(super) fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (app, home, memory) = seat.reader()?;
    let asker = visit.asker(&memory.store)?;
    let wanted = Wanted::of(visit);
    let conflicts = memory.store.conflicts(asker.scope)?.len();
    let (mut results, notes) = match wanted.q.is_empty() {
        true => {
            let found = listed(memory, asker.scope, visit, &wanted, app.now)?;
            let rows = found.iter().map(|fact| row(Shown::of(fact), None, &[], &frame));
            (rows.collect(), Vec::new())
        }
        false => {
            let question = Question {
                text: &wanted.q,
                kind: Kind::Facts,
                limit: ROWS,
                filter: Filter { entity: visit.asked("entity"), ..Filter::default() },
            };
            let recall = Recall { app, home, store: &memory.store, asker: &asker };
            let answer = recall.find(&question)?;
            (searched(memory, asker.scope, &answer.results, &wanted, &frame)?, answer.notes)
        }
    };
    let has_more = results.len() > ROWS;
    results.truncate(ROWS);
    let offset = visit.offset();
    let page_at = |offset: usize| {
        let offset = if offset == 0 { String::new() } else { offset.to_string() };
        visit.here_with(&[("offset", &offset)])
    };
    let list = List {
        tabs: tabs(visit, &frame, &wanted, conflicts),
        sorts: sorts(visit, &wanted),
        next: has_more.then(|| page_at(offset + ROWS)),
        before: (offset > 0).then(|| page_at(offset.saturating_sub(ROWS))),
        reasons: Reason::ALL.map(Reason::word),
        frame,
        results,
        notes,
        wanted,
    };
    let head = Head { title: NAME.to_owned(), section: NAME, command: list.wanted.command() };
    show::view(visit, head, &list)
}

fn listed(
    memory: &OpenMemory,
    scope: Scope,
    visit: &Visit,
    wanted: &Wanted,
    now: Timestamp,
) -> anyhow::Result<Vec<Fact>> {
    let (with_retired, only) = match wanted.show.as_str() {
        "all" => (true, FactOnly::Any),
        "forgotten" => (true, FactOnly::Retired),
        "pinned" => (false, FactOnly::Pinned),
        _ => (false, FactOnly::Any),
    };
    let order = match wanted.sort.as_str() {
        "oldest" => FactOrder::Oldest,
        "used" => FactOrder::MostUsed,
        _ => FactOrder::Newest,
    };
    let filter = FactFilter {
        kind: visit.asked("kind"),
        entity: visit.asked("entity"),
        with_retired,
        only,
        order,
        offset: visit.offset(),
        limit: Some(ROWS + 1),
        ..FactFilter::default()
    };
    Ok(memory.store.list_facts(scope, &filter, now)?)
}

fn searched(
    memory: &OpenMemory,
    scope: Scope,
    hits: &[Hit],
    wanted: &Wanted,
    frame: &Frame,
) -> anyhow::Result<Vec<Row>> {
    let words = text::asked_words(&wanted.q);
    let mut rows = Vec::new();
    for hit in hits {
        let fact = memory.store.find_fact(scope, &hit.id)?;
        if wanted.kind.is_empty() || fact.kind == wanted.kind {
            rows.push(row(Shown::of(&fact), Some(hit.found), &words, frame));
        }
    }
    Ok(rows)
}

fn row(fact: Shown, found: Option<&'static str>, words: &[String], frame: &Frame) -> Row {
    let text = text::marked(&fact.text, words);
    let address = frame.link(super::place(&fact.id));
    Row { fact, found, text, address }
}

fn tabs(visit: &Visit, frame: &Frame, wanted: &Wanted, conflicts: usize) -> Vec<Tab> {
    let names = [("", "Current"), ("pinned", "Pinned"), ("forgotten", "Forgotten"), ("all", "All")];
    let mut tabs: Vec<Tab> = names
        .into_iter()
        .map(|(value, name)| Tab {
            name: name.to_owned(),
            address: visit.here_with(&[("show", value), ("offset", ""), ("q", "")]),
            is_here: wanted.show == value,
        })
        .collect();
    tabs.push(Tab {
        name: format!("Conflicts ({conflicts})"),
        address: frame.link("facts/conflicts"),
        is_here: false,
    });
    tabs
}

fn sorts(visit: &Visit, wanted: &Wanted) -> Vec<Tab> {
    let names = [("", "newest"), ("oldest", "oldest"), ("used", "most used")];
    let tab = |(value, name): (&str, &str)| Tab {
        name: name.to_owned(),
        address: visit.here_with(&[("sort", value), ("offset", "")]),
        is_here: wanted.sort == value,
    };
    names.into_iter().map(tab).collect()
}

impl Wanted {
    fn of(visit: &Visit) -> Wanted {
        let text = |name| visit.asked(name).unwrap_or_default().to_owned();
        Wanted {
            q: text("q"),
            entity: text("entity"),
            kind: text("kind"),
            show: text("show"),
            sort: text("sort"),
        }
    }

    fn command(&self) -> String {
        if !self.q.is_empty() {
            return format!("hermes memory search {} --type facts", shell_word::quoted(&self.q));
        }
        let mut command = "hermes memory fact list --long".to_owned();
        if matches!(self.show.as_str(), "all" | "forgotten") {
            command += " --all";
        }
        for (flag, value) in [("--kind", &self.kind), ("--entity", &self.entity)] {
            if !value.is_empty() {
                command += &format!(" {flag} {}", shell_word::quoted(value));
            }
        }
        command
    }
}
