//! Search everything: one box, where to look, and how each thing was found.

use askama::Template;
use jiff::Timestamp;
use serde::Serialize;

use super::facets::{self, Choice, Facet};
use super::show::{self, Head};
use super::text::{self, Html};
use super::visit::{Frame, ROWS, with};
use super::{Answer, Menu, Page, Visit, facts, shell_word};
use hermes_app::clock;
use hermes_app::hit::Hit;
use hermes_app::pool::Seat;
use hermes_app::recall::Recall;
use hermes_app::search::{Answer as Found, Filter, Kind, Question, Source};

const NAME: &str = "Search";
/// What is less likely is shown only where there is little else.
const LEAST: f64 = 0.01;
const FEWEST: usize = 8;
/// How many letters of a hit are shown.
const LONGEST: usize = 420;

pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "" });
    Page { path: "/p/{profile}/search", menu, show, deed: None }
}

#[derive(Template, Serialize)]
#[template(path = "search.html")]
struct Search {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Row>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip)]
    asked: Asked,
    #[serde(skip)]
    tabs: Vec<Choice>,
    /// What the results could be narrowed to, counted among them.
    facets: Vec<Facet>,
    took_ms: u64,
}

/// What the address asks for.
#[derive(Default)]
struct Asked {
    q: String,
    kind: String,
    entity: String,
    channel: String,
    project: String,
    source: String,
    since: String,
    until: String,
}

#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    hit: Hit,
    #[serde(skip)]
    shown: Html,
    #[serde(skip)]
    address: Option<String>,
    #[serde(skip)]
    score: String,
}

/// Where one can look: how the address and the tab say it.
const KINDS: [(&str, &str, Kind); 7] = [
    ("", "All", Kind::All),
    ("facts", "Facts", Kind::Facts),
    ("episodes", "Episodes", Kind::Episodes),
    ("sessions", "Sessions", Kind::Sessions),
    ("procedures", "Procedures", Kind::Procedures),
    ("events", "Events", Kind::Events),
    ("files", "Files", Kind::Files),
];

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let begun = std::time::Instant::now();
    let frame = visit.frame(seat)?;
    let asked = Asked::of(visit);
    let (app, home, memory) = seat.reader()?;
    let asker = visit.asker(&memory.store)?;
    let moment = |name: &str| -> Result<Option<Timestamp>, hermes_app::problem::Problem> {
        let text = visit.asked(name);
        text.map(|text| clock::parse_moment(text, app.now, &frame.zone)).transpose()
    };
    let question = Question {
        text: &asked.q,
        kind: asked.place(),
        limit: ROWS,
        filter: Filter {
            session: visit.asked("session"),
            channel: visit.asked("channel"),
            project: visit.asked("project"),
            source: visit.asked("source"),
            entity: visit.asked("entity"),
            since: moment("since")?,
            until: moment("until")?,
            ..Filter::default()
        },
    };
    let recall = Recall { app, home, store: &memory.store, asker: &asker };
    let mut answer = match asked.q.is_empty() {
        true => Found { results: Vec::new(), notes: Vec::new() },
        false => recall.find(&question)?,
    };
    let mut place = 0;
    answer.results.retain(|hit| {
        place += 1;
        place <= FEWEST || is_likely(hit)
    });
    let words = text::asked_words(&asked.q);
    let names = facets::names(&memory.store, asker.scope, &answer.results)?;
    let facets = facets::of(visit, &answer.results, &names, app.now);
    let tabs = tabs(visit, &asked, &answer.results);
    let results = answer.results.into_iter().map(|hit| row(hit, &words, &frame)).collect();
    let head = Head { title: asked.title(), section: NAME, command: asked.command() };
    let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let page = Search { frame, results, notes: answer.notes, tabs, facets, asked, took_ms };
    show::view(visit, head, &page)
}

/// Whether it may be meant at all; what has no such figure was found by its words.
fn is_likely(hit: &Hit) -> bool {
    hit.relevance.is_none_or(|relevance| relevance >= LEAST)
}

fn row(mut hit: Hit, words: &[String], frame: &Frame) -> Row {
    let address = address(&hit, frame);
    let score = match hit.relevance {
        Some(relevance) if relevance < 0.01 => "Match below 1 %".to_owned(),
        Some(relevance) => format!("Match {:.0} %", relevance * 100.0),
        None => String::new(),
    };
    let short: String = hit.snippet.chars().take(LONGEST).collect();
    let shown = text::marked(&short, words);
    // What is long is had at its own address.
    hit.text = hit.text.chars().take(LONGEST * 4).collect();
    Row { hit, shown, address, score }
}

fn address(hit: &Hit, frame: &Frame) -> Option<String> {
    match hit.kind {
        "fact" => Some(frame.link(facts::place(&hit.id))),
        "message" | "summary" => {
            let episode = hit.id.strip_prefix("episode:")?;
            let episode = episode.split(['#', '/']).next()?;
            Some(frame.link(format!("timeline/{episode}")))
        }
        "session" => {
            let session = frame.link(format!("sessions/{}", hit.id));
            Some(match hit.message_id {
                Some(message) => {
                    format!("{}#m{message}", with(&session, "around", &message.to_string()))
                }
                None => session,
            })
        }
        "procedure" => Some(frame.link("procedures")),
        "event" => Some(frame.link_with("timeline", "show", "events")),
        "file" => {
            let name = hit.id.split('#').next()?;
            let name = name.rsplit('/').next()?.trim_end_matches(".md").to_lowercase();
            Some(frame.link(format!("files/{name}")))
        }
        _ => None,
    }
}

/// Where to look; what all of it holds is counted.
fn tabs(visit: &Visit, asked: &Asked, hits: &[Hit]) -> Vec<Choice> {
    let count = |kind: Kind| hits.iter().filter(|hit| place_of(hit) == kind).count();
    let named = |name: &str, kind: Kind| match count(kind) {
        found if found > 0 && asked.place() == Kind::All => format!("{name} ({found})"),
        _ => name.to_owned(),
    };
    let tab = |(value, name, kind): (&str, &str, Kind)| Choice {
        name: named(name, kind),
        address: visit.here_with(&[("type", value)]),
        is_here: asked.kind == value,
    };
    KINDS.into_iter().map(tab).collect()
}

/// Where one looks for such a thing.
fn place_of(hit: &Hit) -> Kind {
    match hit.kind {
        "fact" => Kind::Facts,
        "message" | "summary" => Kind::Episodes,
        "procedure" => Kind::Procedures,
        "event" => Kind::Events,
        "file" => Kind::Files,
        _ => Kind::Sessions,
    }
}

impl Row {
    /// How it was found, in a sentence.
    fn how(&self) -> String {
        let words = match self.hit.words.is_empty() {
            true => "contains none of the keywords".to_owned(),
            false => format!("contains {}", self.hit.words.join(", ")),
        };
        match self.hit.cosine {
            Some(cosine) => format!("{words}; similarity of meaning {cosine:.2}"),
            None => words,
        }
    }
}

impl Search {
    /// Every source, for the form.
    fn sources(&self) -> [&'static str; 5] {
        Source::ALL.map(Source::word)
    }
}

impl Asked {
    fn of(visit: &Visit) -> Asked {
        let text = |name| visit.asked(name).unwrap_or_default().to_owned();
        Asked {
            q: text("q"),
            kind: text("type"),
            entity: text("entity"),
            channel: text("channel"),
            project: text("project"),
            source: text("source"),
            since: text("since"),
            until: text("until"),
        }
    }

    fn place(&self) -> Kind {
        let found = KINDS.into_iter().find(|(value, _, _)| *value == self.kind);
        found.map_or(Kind::All, |(_, _, kind)| kind)
    }

    fn title(&self) -> String {
        match self.q.is_empty() {
            true => NAME.to_owned(),
            false => format!("{} – {NAME}", self.q),
        }
    }

    fn command(&self) -> String {
        if self.q.is_empty() {
            return String::new();
        }
        let mut command = format!("hermes memory search {}", shell_word::quoted(&self.q));
        let flags = [
            ("--type", &self.kind),
            ("--entity", &self.entity),
            ("--channel", &self.channel),
            ("--project", &self.project),
            ("--source", &self.source),
            ("--since", &self.since),
            ("--until", &self.until),
        ];
        for (flag, value) in flags.into_iter().filter(|(_, value)| !value.is_empty()) {
            command += &format!(" {flag} {}", shell_word::quoted(value));
        }
        command
    }
}
