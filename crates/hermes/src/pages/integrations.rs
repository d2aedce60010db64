//! Integrations: which agents are here, which are connected, what they did last, and how to connect one.

use askama::Template;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, command};
use crate::hook::counts::{Counts, Seen};
use crate::server::pool::Seat;

const NAME: &str = "Integrations";

/// The page.
pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "n" });
    Page { path: "/p/{profile}/integrations", menu, show, deed: None }
}

#[derive(Template, Serialize)]
#[template(path = "integrations.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Row>,
    /// What would be written for the agent that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
}

/// As `hermes integrate` shows it.
#[derive(Serialize, Deserialize)]
struct Row {
    agent: String,
    detected: bool,
    mcp: String,
    hooks: String,
    last_event: Option<LastEvent>,
    #[serde(skip_deserializing)]
    seen: Option<Seen>,
    #[serde(skip)]
    address: String,
}

impl Row {
    fn is_connected(&self) -> bool {
        [&self.mcp, &self.hooks].iter().any(|state| matches!(state.as_str(), "yes" | "old"))
    }

    fn badge(&self, state: &str) -> (&'static str, &'static str) {
        match state {
            "yes" => ("good", "connected"),
            "old" => ("care", "of an older version"),
            "none" => ("", "has none"),
            _ => ("", "no"),
        }
    }

    fn events(&self) -> u64 {
        self.seen.as_ref().map_or(0, |seen| seen.events.values().sum())
    }
}

#[derive(Serialize, Deserialize)]
struct LastEvent {
    name: String,
    at: Timestamp,
}

#[derive(Deserialize)]
struct Table {
    results: Vec<Row>,
}

#[derive(Deserialize)]
struct Plans {
    results: Vec<Plan>,
}

#[derive(Serialize, Deserialize)]
struct Plan {
    agent: String,
    changed: bool,
    files: Vec<File>,
}

#[derive(Serialize, Deserialize)]
struct File {
    path: String,
    #[serde(default)]
    diff: String,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let mut results = command::ask::<Table>(seat, &["integrate"])?.results;
    let counts = Counts::read(&seat.home.hook_counts());
    for row in &mut results {
        row.seen = counts.of(&row.agent).cloned();
        row.address = frame.link_with("integrations", "agent", &row.agent);
    }
    results.sort_by_key(|row| (!row.is_connected(), !row.detected));
    let plan = match visit.asked("agent") {
        Some(agent) if results.iter().any(|row| row.agent == agent) => {
            command::ask::<Plans>(seat, &["integrate", agent, "--dry-run"])?.results.pop()
        }
        _ => None,
    };
    let command = "hermes integrate".to_owned();
    let head = Head { title: NAME.to_owned(), section: NAME, command };
    show::view(visit, head, &List { frame, results, plan })
}
