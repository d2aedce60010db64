//! Integrations: which agents are here and connected, what they did last; one is connected after a look at the change.

use askama::Template;
use axum::http::StatusCode;
use hermes_home::versions;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, command, unknown_deed};
use crate::failure::{Kind, Problem};
use crate::hook::counts::{Counts, Seen};
use crate::integrate::agents;
use crate::server::pool::Seat;

const NAME: &str = "Integrations";

/// The page.
pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "n" });
    Page { path: "/p/{profile}/integrations", menu, show, deed: Some(change) }
}

#[derive(Template, Serialize)]
#[template(path = "integrations.html")]
struct List {
    #[serde(skip)]
    frame: Frame,
    #[serde(skip)]
    address: String,
    results: Vec<Row>,
    /// What would be written for the agent that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
    /// Whether the files became others since the change was shown.
    #[serde(skip)]
    is_stale: bool,
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
    #[serde(skip)]
    removal: String,
}

impl Row {
    fn is_connected(&self) -> bool {
        [&self.mcp, &self.hooks].iter().any(|state| matches!(state.as_str(), "yes" | "old"))
    }

    /// Whether something of ours is there, but not as it should be.
    fn needs_care(&self) -> bool {
        [&self.mcp, &self.hooks].iter().any(|state| matches!(state.as_str(), "old" | "no"))
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

/// What would be written into the files of an agent, or taken out of them.
#[derive(Serialize, Deserialize)]
struct Plan {
    agent: String,
    changed: bool,
    files: Vec<File>,
    #[serde(default)]
    remarks: Vec<String>,
    #[serde(skip)]
    removes: bool,
}

#[derive(Serialize, Deserialize)]
struct File {
    path: String,
    #[serde(default)]
    diff: String,
    #[serde(default)]
    because: Option<String>,
}

impl Plan {
    /// By which the change that was shown is known again.
    fn hash(&self) -> String {
        let all: Vec<String> =
            self.files.iter().map(|file| format!("{}\n{}", file.path, file.diff)).collect();
        versions::hash(all.join("\0").as_bytes())
    }

    fn deed(&self) -> &'static str {
        if self.removes { "disconnect" } else { "connect" }
    }
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let plan = match visit.asked("agent") {
        Some(agent) => Some(plan(seat, agent, visit.asked("remove").is_some())?),
        None => None,
    };
    page_with(seat, visit, (StatusCode::OK, plan))
}

fn page_with(
    seat: &mut Seat,
    visit: &Visit,
    (status, plan): (StatusCode, Option<Plan>),
) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let mut results = command::ask::<Table>(seat, &["integrate"])?.results;
    let counts = Counts::read(&seat.home.hook_counts());
    for row in &mut results {
        row.seen = counts.of(&row.agent).cloned();
        row.address = frame.link_with("integrations", "agent", &row.agent);
        row.removal = super::visit::with(&row.address, "remove", "1");
    }
    results.sort_by_key(|row| (!row.is_connected(), !row.detected));
    let command = match &plan {
        Some(plan) if plan.removes => format!("hermes integrate --remove {} --dry-run", plan.agent),
        Some(plan) => format!("hermes integrate {} --dry-run", plan.agent),
        None => "hermes integrate".to_owned(),
    };
    let head = Head { title: NAME.to_owned(), section: NAME, command };
    let is_stale = status == StatusCode::CONFLICT;
    let address = frame.link("integrations");
    show::view_as(status, visit, head, &List { frame, address, results, plan, is_stale })
}

/// What would be written for an agent, or taken out.
fn plan(seat: &Seat, agent: &str, removes: bool) -> anyhow::Result<Plan> {
    if agents::ALL.iter().all(|known| known.name() != agent) {
        return Err(Problem::new(Kind::NotFound, format!("there is no agent {agent}")).into());
    }
    let words = words(agent, removes);
    let words: Vec<&str> = words.iter().copied().chain(["--dry-run"]).collect();
    let found = command::ask::<Plans>(seat, &words)?.results.pop();
    let found = found.ok_or_else(|| anyhow::anyhow!("nothing is known of {agent}"))?;
    Ok(Plan { removes, ..found })
}

fn words(agent: &str, removes: bool) -> Vec<&str> {
    match removes {
        true => vec!["integrate", "--remove", agent],
        false => vec!["integrate", agent],
    }
}

/// Writes what was shown, and nothing else: where the files became others it is shown again.
fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let removes = match visit.deed() {
        "connect" => false,
        "disconnect" => true,
        _ => return Err(unknown_deed(visit)),
    };
    let agent = visit.must_say("agent")?.to_owned();
    let plan = plan(seat, &agent, removes)?;
    let is_undo = visit.said("undo").is_some();
    if !is_undo && visit.said("seen") != Some(plan.hash().as_str()) {
        return page_with(seat, visit, (StatusCode::CONFLICT, Some(plan)));
    }
    let done = command::ask::<Plans>(seat, &words(&agent, removes))?;
    let remarks: Vec<String> = done.results.into_iter().flat_map(|plan| plan.remarks).collect();
    let (what, back_deed) = match removes {
        true => ("is no longer connected", "connect"),
        false => ("is connected; a copy of each file as it was is kept", "disconnect"),
    };
    let said = [vec![format!("{agent} {what}")], remarks].concat().join(". ");
    let back = visit.frame(seat)?.link("integrations");
    let fields = [("agent", agent.as_str()), ("undo", "1")];
    Ok(Answer::Done { notice: Notice::new(said).undo(&back, back_deed, &fields), back })
}
