//! Integrations: which agents are here and connected, what they did last; one is connected after a look at the change.

use askama::Template;
use axum::http::StatusCode;
use hermes_home::versions;
use jiff::Timestamp;
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, unknown_deed};
use hermes_app::hooks::counts::{Counts, Seen};
use hermes_app::integrate::record::Record;
use hermes_app::integrate::site::{self, Parts, Scope, Site};
use hermes_app::integrate::{self, FileShown, Standing, State, agents};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};

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

/// An agent, how it stands and what it did last.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    standing: Standing,
    #[serde(skip)]
    agent: &'static str,
    last_event: Option<LastEvent>,
    seen: Option<Seen>,
    #[serde(skip)]
    address: String,
    #[serde(skip)]
    removal: String,
}

impl Row {
    fn is_connected(&self) -> bool {
        let states = [self.standing.mcp, self.standing.hooks];
        states.iter().any(|state| matches!(state, State::Yes | State::Old))
    }

    /// Whether something of ours is there, but not as it should be.
    fn needs_care(&self) -> bool {
        let states = [self.standing.mcp, self.standing.hooks];
        states.iter().any(|state| matches!(state, State::Old | State::No))
    }

    fn badge(state: State) -> (&'static str, &'static str) {
        match state {
            State::Yes => ("good", "connected"),
            State::Old => ("care", "outdated"),
            State::None => ("", "not supported"),
            State::No => ("", "not connected"),
        }
    }

    fn tools(&self) -> (&'static str, &'static str) {
        Row::badge(self.standing.mcp)
    }

    fn hooks(&self) -> (&'static str, &'static str) {
        Row::badge(self.standing.hooks)
    }

    fn events(&self) -> u64 {
        self.seen.as_ref().map_or(0, |seen| seen.events.values().sum())
    }
}

#[derive(Serialize)]
struct LastEvent {
    name: String,
    at: Timestamp,
}

/// What would be written into the files of an agent, or taken out of them.
#[derive(Serialize)]
struct Plan {
    agent: String,
    changed: bool,
    files: Vec<FileShown>,
    remarks: Vec<String>,
    #[serde(skip)]
    removes: bool,
    #[serde(skip)]
    plan: integrate::Plan,
}

impl Plan {
    /// By which the change that was shown is known again.
    fn hash(&self) -> String {
        let all: Vec<String> = self
            .files
            .iter()
            .map(|file| format!("{}\n{}", file.path.display(), file.diff))
            .collect();
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
    page_with(seat, visit, StatusCode::OK, plan)
}

fn page_with(
    seat: &mut Seat,
    visit: &Visit,
    status: StatusCode,
    plan: Option<Plan>,
) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let counts = Counts::read(&seat.home.hook_counts());
    let row = |standing: Standing| {
        let agent = standing.agent.name();
        let seen = counts.of(agent).cloned();
        let last_event =
            seen.as_ref().map(|seen| LastEvent { name: seen.last_event.clone(), at: seen.last_at });
        let address = frame.link_with("integrations", "agent", agent);
        let removal = super::visit::with(&address, "remove", "1");
        Row { standing, agent, last_event, seen, address, removal }
    };
    let mut results: Vec<Row> = integrate::overview(&site(seat)?).into_iter().map(row).collect();
    results.sort_by_key(|row| (!row.is_connected(), !row.standing.detected));
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
    let agent = agents::named(agent)
        .map_err(|_| Problem::new(Kind::NotFound, format!("there is no agent {agent}")))?;
    let (site, record) = (site(seat)?, Record::read(&seat.home)?);
    let now = seat.app.now;
    let plan = match removes {
        true => integrate::disconnect(agent, &site, &record, now)?,
        false => integrate::connect(agent, &site, &record, now)?,
    };
    Ok(Plan {
        agent: plan.agent.clone(),
        changed: plan.changes(),
        files: plan.shown(),
        remarks: plan.remarks.clone(),
        removes,
        plan,
    })
}

fn site(seat: &Seat) -> anyhow::Result<Site> {
    site::site(&seat.app, &seat.home, Parts { scope: Scope::User, hooks: true, mcp: true })
}

/// Writes what was shown, and nothing else: where the files became others it is shown again.
fn change(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let removes = match visit.deed() {
        "connect" => false,
        "disconnect" => true,
        _ => return Err(unknown_deed(visit)),
    };
    let agent = visit.must_say("agent")?.to_owned();
    let mut plan = plan(seat, &agent, removes)?;
    let is_undo = visit.said("undo").is_some();
    if !is_undo && visit.said("seen") != Some(plan.hash().as_str()) {
        return page_with(seat, visit, StatusCode::CONFLICT, Some(plan));
    }
    integrate::apply(&mut plan.plan, &seat.home, seat.app.now)?;
    let (what, back_deed) = match removes {
        true => ("is disconnected", "connect"),
        false => ("is connected; Hermes kept a copy of each file as it was", "disconnect"),
    };
    let said = [vec![format!("{agent} {what}")], plan.remarks].concat().join(". ");
    let back = visit.frame(seat)?.link("integrations");
    let fields = [("agent", agent.as_str()), ("undo", "1")];
    Ok(Answer::Done { notice: Notice::new(said).undo(&back, back_deed, &fields), back })
}
