//! The context inspector: what a model would be given for a task, and why each thing is in it or not.

use std::time::Instant;

use askama::Template;
use hermes_home::config::Retrieval;
use hermes_memory::retrieval::{Item, Pass, Section};
use hermes_memory::search::{Looks, Part};
use hermes_store::memory::{ItemKind, Memory, MessageKey, Receipt, Scope};
use jiff::Timestamp;
use serde::Serialize;

use super::show::{self, Head};
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, facts, shell_word};
use hermes_app::context::{Given, Request};
use hermes_app::fact_view::name_of;
use hermes_app::pool::Seat;
use hermes_app::recall::Recall;
use hermes_app::text::one_line;

const NAME: &str = "Inspector";
/// How many of the latest contexts are offered.
const PAST: usize = 12;
/// How many things of one context are told.
const MOST: usize = 60;
/// How many candidates are shown on the page.
const CANDIDATES: usize = 50;

pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "i" });
    Page { path: "/p/{profile}/inspector", menu, show, deed: None }
}

#[derive(Template, Serialize)]
#[template(path = "inspector.html")]
struct Inspector {
    #[serde(skip)]
    frame: Frame,
    task: String,
    #[serde(skip)]
    session: String,
    /// One, or two that are compared.
    sides: Vec<Side>,
    /// Every candidate, kept or not.
    results: Vec<Candidate>,
    /// How many candidates are not shown on the page.
    #[serde(skip)]
    hidden: usize,
    #[serde(skip)]
    usual: Settings,
    #[serde(skip)]
    past: Vec<Past>,
    #[serde(skip)]
    handed: Vec<Past>,
}

/// What a context was made with, as it is typed.
#[derive(Clone, Default, Serialize)]
struct Settings {
    budget: usize,
    top_k: usize,
    min: f64,
    recency: usize,
    files: bool,
}

/// A context with what it costs.
#[derive(Serialize)]
struct Side {
    name: &'static str,
    settings: Settings,
    tokens: usize,
    budget: usize,
    task_type: String,
    names: Vec<String>,
    notes: Vec<String>,
    shares: Vec<Share>,
    text: String,
    took_ms: f64,
}

/// What a section takes of the budget.
#[derive(Serialize)]
struct Share {
    title: &'static str,
    tokens: usize,
    items: usize,
    #[serde(skip)]
    class: &'static str,
    /// In thousandths of the budget.
    #[serde(skip)]
    start: usize,
    #[serde(skip)]
    width: usize,
}

/// A thing that was thought of.
#[derive(Serialize)]
struct Candidate {
    name: String,
    section: &'static str,
    text: String,
    passes: Vec<&'static str>,
    score: f64,
    /// What the score is made of.
    parts: Vec<Part>,
    #[serde(skip_serializing_if = "Option::is_none")]
    relevance: Option<f64>,
    /// What the relevance rests on.
    evidence: Vec<Part>,
    tokens: usize,
    reason: String,
    /// For each side: nothing if it was kept, else why not; none if nobody thought of it.
    kept: Vec<Option<String>>,
    #[serde(skip)]
    address: Option<String>,
}

/// A context that was handed out.
struct Past {
    at: Timestamp,
    session: Option<String>,
    tokens: u32,
    words: String,
    things: Vec<(String, String, Option<String>)>,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (app, home, memory) = seat.reader()?;
    let asker = visit.asker(&memory.store)?;
    let retrieval = &app.config(home)?.config.memory.retrieval;
    let usual = Settings {
        budget: retrieval.context_budget_tokens as usize,
        top_k: retrieval.semantic_top_k as usize,
        min: retrieval.min_relevance_score,
        recency: retrieval.recency_episodes as usize,
        files: true,
    };
    let task = visit.asked("task").unwrap_or_default().to_owned();
    let session = visit.asked("session").unwrap_or_default().to_owned();
    let mut given = Vec::new();
    let looks = Looks::default();
    let recall = Recall { app, home, store: &memory.store, asker: &asker };
    if !task.is_empty() {
        for (name, end) in [("A", ""), ("B", "_b")] {
            if end.is_empty() || visit.asked("compare").is_some() {
                let settings = usual.changed(visit, end);
                let request = settings.request(&task, visit.asked("session"));
                let begun = Instant::now();
                let one = recall.give_among(&looks, &request)?;
                given.push((name, settings, one, begun.elapsed().as_secs_f64() * 1000.0));
            }
        }
    }
    let results = candidates(given.iter().map(|(_, _, given, _)| given), &frame);
    let page = Inspector {
        past: past(&memory.store, asker.scope, None, &frame)?,
        handed: match visit.asked("session").filter(|_| task.is_empty()) {
            Some(session) => past(&memory.store, asker.scope, Some(session), &frame)?,
            None => Vec::new(),
        },
        sides: given
            .into_iter()
            .map(|(name, settings, given, took_ms)| side(name, settings, given, took_ms))
            .collect(),
        hidden: results.len().saturating_sub(CANDIDATES),
        results,
        frame,
        session,
        usual,
        task,
    };
    let command = match page.task.is_empty() {
        true => String::new(),
        false => format!("hermes memory context {} --why", shell_word::quoted(&page.task)),
    };
    let head = Head { title: "Context inspector".to_owned(), section: NAME, command };
    show::view(visit, head, &page)
}

impl Settings {
    fn changed(&self, visit: &Visit, end: &str) -> Settings {
        let number = |name: &str| visit.number(&format!("{name}{end}"));
        let min = visit.asked(&format!("min{end}")).and_then(|text| text.parse().ok());
        Settings {
            budget: number("budget").unwrap_or(self.budget).min(200_000),
            top_k: number("k").unwrap_or(self.top_k).min(200),
            min: min.unwrap_or(self.min).clamp(0.0, 1.0),
            recency: number("recent").unwrap_or(self.recency).min(100),
            files: visit.asked(&format!("files{end}")) != Some("no"),
        }
    }

    fn request<'a>(&self, task: &'a str, session: Option<&'a str>) -> Request<'a> {
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let settings = Some(Retrieval {
            context_budget_tokens: number(self.budget),
            recency_episodes: number(self.recency),
            semantic_top_k: number(self.top_k),
            min_relevance_score: self.min,
        });
        Request { task, session, no_files: !self.files, settings, ..Request::default() }
    }
}

fn side(name: &'static str, settings: Settings, given: Given, took_ms: f64) -> Side {
    let context = given.context;
    let budget = context.budget.max(1);
    let mut start = 0;
    let mut shares = Vec::new();
    for filled in &context.sections {
        let width = (filled.tokens * 1000 / budget).max(1);
        let class = class_of(filled.section);
        let items = filled.items.len();
        let (title, tokens) = (filled.title, filled.tokens);
        shares.push(Share { title, tokens, items, class, start, width });
        start += width;
    }
    Side {
        name,
        settings,
        tokens: context.tokens,
        budget: context.budget,
        task_type: context.task_type.as_str().to_owned(),
        names: context.names,
        notes: context.notes,
        shares,
        text: given.text,
        took_ms: (took_ms * 10.0).round() / 10.0,
    }
}

fn class_of(section: Section) -> &'static str {
    match section {
        Section::Files => "s0",
        Section::Facts => "s1",
        Section::Procedures => "s2",
        Section::Events => "s3",
        Section::Episodes => "s4",
    }
}

/// Every candidate of every side, each once.
fn candidates<'a>(sides: impl Iterator<Item = &'a Given> + Clone, frame: &Frame) -> Vec<Candidate> {
    let count = sides.clone().count();
    let mut all: Vec<Candidate> = Vec::new();
    for (place, given) in sides.enumerate() {
        let kept = given.context.items().map(|item| (item, String::new()));
        let left = given.context.dropped.iter().map(|one| (&one.item, one.dropped.clone()));
        for (item, why) in kept.chain(left) {
            let known = all.iter().position(|one| one.name == item.name);
            let at = known.unwrap_or_else(|| {
                all.push(candidate(item, count, frame));
                all.len() - 1
            });
            if let Some(verdict) = all[at].kept.get_mut(place) {
                *verdict = Some(why);
            }
        }
    }
    all.sort_by_key(|one| one.kept.iter().flatten().all(|why| !why.is_empty()));
    all
}

fn candidate(item: &Item, count: usize, frame: &Frame) -> Candidate {
    Candidate {
        name: item.name.clone(),
        section: item.section.title(),
        text: one_line(&item.text, 160),
        passes: item.passes.iter().map(|pass| word(*pass)).collect(),
        score: (item.score * 1000.0).round() / 1000.0,
        parts: item.parts.clone(),
        relevance: item.relevance.map(|value| (value * 100.0).round() / 100.0),
        evidence: item.evidence.clone(),
        tokens: item.tokens,
        reason: item.reason.clone(),
        kept: vec![None; count],
        address: address(&item.name, frame),
    }
}

fn word(pass: Pass) -> &'static str {
    match pass {
        Pass::File => "file",
        Pass::Recency => "recent",
        Pass::Semantic => "semantic",
        Pass::Entity => "name",
        Pass::Procedural => "procedure",
        Pass::Time => "time",
    }
}

fn address(name: &str, frame: &Frame) -> Option<String> {
    let (kind, number) = name.split_once(':')?;
    match kind {
        "fact" => Some(frame.link(facts::place(name))),
        "episode" => Some(frame.link(format!("timeline/{number}"))),
        "procedure" => Some(frame.link("procedures")),
        _ => None,
    }
}

/// What was handed out last, with the words it was for; of one session all of it, with every thing.
fn past(
    store: &Memory,
    scope: Scope,
    session: Option<&str>,
    frame: &Frame,
) -> anyhow::Result<Vec<Past>> {
    let receipts = match session {
        Some(session) => store.receipts_of(scope, session)?,
        None => store.latest_receipts(scope, PAST)?,
    };
    let mut told = Vec::new();
    for receipt in receipts.into_iter().take(MOST) {
        let things = match session {
            Some(_) => things(store, scope, &receipt, frame)?,
            None => Vec::new(),
        };
        told.push(Past {
            words: words_of(store, scope, &receipt)?,
            at: receipt.at,
            session: receipt.session_id,
            tokens: receipt.tokens,
            things,
        });
    }
    Ok(told)
}

/// The user's words that a context was for: of the turn of its session that began nearest to it.
fn words_of(store: &Memory, scope: Scope, receipt: &Receipt) -> anyhow::Result<String> {
    let Some(session) = &receipt.session_id else { return Ok(String::new()) };
    let mut nearest = None;
    for named in store.sessions_named(scope, session)? {
        let episodes = store.episodes_of(scope, named.key)?;
        nearest = episodes
            .into_iter()
            .chain(nearest)
            .min_by_key(|one| one.started_at.duration_since(receipt.at).abs());
    }
    let Some(episode) = nearest else { return Ok(String::new()) };
    let first = store.messages_of(scope, &episode)?.into_iter().next();
    Ok(first.map(|message| one_line(&message.text, 300)).unwrap_or_default())
}

/// Name, words and address of each thing in a context.
fn things(
    store: &Memory,
    scope: Scope,
    receipt: &Receipt,
    frame: &Frame,
) -> anyhow::Result<Vec<(String, String, Option<String>)>> {
    let mut things = Vec::new();
    for (kind, id) in receipt.items.iter().take(MOST) {
        let (name, text) = match kind {
            ItemKind::Fact => {
                let found = store.facts(scope, &[*id])?.pop();
                (name_of(*id), found.map(|fact| fact.statement))
            }
            ItemKind::Procedure => {
                let found = store.procedures(scope, &[*id])?.pop();
                (format!("procedure:{id}"), found.map(|procedure| procedure.title))
            }
            ItemKind::Event => {
                let found = store.events(scope, &[*id])?.pop();
                (format!("event:{id}"), found.map(|event| event.text))
            }
            ItemKind::Message => {
                let found = store.messages(scope, &[MessageKey::from_row(*id)])?.pop();
                let name = found.as_ref().map(|message| format!("episode:{}", message.episode));
                (name.unwrap_or_default(), found.map(|message| message.text))
            }
            ItemKind::Summary => {
                let found = store.any_episode(scope, *id)?;
                let first = match &found {
                    Some(episode) if episode.body.is_none() => {
                        store.messages_of(scope, episode)?.into_iter().next()
                    }
                    _ => None,
                };
                let text = first.map(|message| message.text);
                (format!("episode:{id}"), text.or(found.and_then(|episode| episode.body)))
            }
        };
        let text =
            text.map_or_else(|| "no longer available".to_owned(), |text| one_line(&text, 160));
        things.push((name.clone(), text, address(&name, frame)));
    }
    Ok(things)
}

impl Candidate {
    /// Why it is not in a context, each reason once.
    fn refusals(&self) -> Vec<&str> {
        let mut why: Vec<&str> =
            self.kept.iter().flatten().map(String::as_str).filter(|why| !why.is_empty()).collect();
        why.dedup();
        why
    }
}

impl Inspector {
    /// The candidates that the page has room for; what was kept comes first.
    fn shown(&self) -> impl Iterator<Item = &Candidate> {
        self.results.iter().take(CANDIDATES)
    }

    /// What the form shows for a side: what was asked for, else what is usual.
    fn side_settings(&self, place: usize) -> &Settings {
        self.sides.get(place).or(self.sides.first()).map_or(&self.usual, |side| &side.settings)
    }
}
