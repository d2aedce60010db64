//! The overview: how much there is, how it grew, how work and backups stand, what was written last.

use std::path::PathBuf;

use askama::Template;
use hermes_home::layout::MemoryTarget;
use hermes_home::{Home, memory_file, soul};
use hermes_store::memory::{Admin, Counts, Growth, Schedule};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::figures;
use super::notice::Notice;
use super::plot::{self, Bar};
use super::show::{self, Head};
use super::text::Html;
use super::visit::Frame;
use super::{Answer, Menu, Page, Visit, facts, sessions, unknown_deed};
use hermes_app::app::App;
use hermes_app::backup;
use hermes_app::daemon::jobs;
use hermes_app::hooks::counts::Counts as Hooks;
use hermes_app::memory::OpenMemory;
use hermes_app::pool::Seat;
use hermes_app::problem::Problem;
use hermes_app::text::{bytes, thousands};
use hermes_app::{reason, rules};

const NAME: &str = "Overview";
/// How many of the last writes are shown.
const WRITES: usize = 10;
/// How many days the plot shows.
const DAYS: u32 = 90;

pub(super) fn page() -> Page {
    let menu = Some(Menu { name: NAME, key: "o" });
    Page { path: "/p/{profile}/", menu, show, deed: Some(run_now) }
}

#[derive(Template, Serialize)]
#[template(path = "overview.html")]
struct Overview {
    #[serde(skip)]
    frame: Frame,
    is_empty: bool,
    counts: Counts,
    growth: Vec<Day>,
    always_loaded: Vec<Loaded>,
    sizes: Vec<Size>,
    schedules: Vec<Schedule>,
    backups: Standing,
    integrations: Vec<Seen>,
    /// The last writes.
    results: Vec<Write>,
    #[serde(skip)]
    cards: Vec<Card>,
    #[serde(skip)]
    plot: Html,
    #[serde(skip)]
    loaded_tokens: usize,
}

struct Card {
    name: &'static str,
    figure: String,
    more: String,
    address: String,
}

/// What came on a day.
#[derive(Serialize)]
struct Day {
    day: String,
    facts: u64,
    episodes: u64,
}

/// A file that every session pays for.
#[derive(Serialize)]
struct Loaded {
    file: &'static str,
    tokens: usize,
}

#[derive(Serialize)]
struct Size {
    what: &'static str,
    bytes: u64,
    #[serde(skip)]
    shown: String,
}

/// How it stands with the backups.
#[derive(Serialize)]
struct Standing {
    colour: &'static str,
    newest: Option<Timestamp>,
    drilled: Option<Timestamp>,
    reasons: Vec<(String, String)>,
}

/// What was last heard of an agent.
#[derive(Serialize)]
struct Seen {
    agent: String,
    last_event: String,
    last_at: Timestamp,
    events: u64,
    failures: u64,
}

#[derive(Serialize)]
struct Write {
    at: Timestamp,
    by: String,
    action: String,
    item: String,
    #[serde(skip)]
    address: Option<String>,
}

fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let scope = visit.scope(&seat.reader()?.2.store)?;
    let begin = first_day(frame.now, &frame)?;
    let counts = (*figures::counts(seat)?).clone();
    sessions::order::prepare(seat);
    let growth = days(begin, &figures::growth(seat, scope, begin)?, &frame);
    let (app, home, memory) = seat.reader()?;
    let bars: Vec<Bar> = growth
        .iter()
        .map(|day| Bar { name: day.day.clone(), parts: [day.facts, day.episodes] })
        .collect();
    let always_loaded = loaded(app, home)?;
    let page = Overview {
        is_empty: counts.facts + counts.raw_episodes + counts.compressed_episodes == 0,
        cards: cards(&counts, &frame),
        plot: plot::bars(&bars, "Facts and episodes added on each of the last 90 days")?,
        growth,
        loaded_tokens: always_loaded.iter().map(|file| file.tokens).sum(),
        always_loaded,
        sizes: sizes(home, memory),
        schedules: memory.store.schedules(Admin)?,
        backups: standing(app, home),
        integrations: seen(home),
        results: writes(memory, &frame)?,
        counts,
        frame,
    };
    let command = "hermes memory status --verbose".to_owned();
    let head = Head { title: NAME.to_owned(), section: NAME, command };
    show::view(visit, head, &page)
}

/// Lets a kind of job be done at once.
fn run_now(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    if visit.deed() != "run" {
        return Err(unknown_deed(visit));
    }
    let kind = visit.must_say("kind")?;
    if !jobs::can(kind) {
        return Err(Problem::usage(format!("there is no job type {kind:?}")).into());
    }
    let (app, home, memory) = seat.writer()?;
    let is_new = jobs::queue_now(&mut memory.store, &jobs::name_here(app, home, kind), app.now)?;
    let text = match is_new {
        true => format!("Queued {kind}"),
        false => format!("{kind} is already queued"),
    };
    Ok(Answer::Done { back: visit.back(), notice: Notice::new(text) })
}

/// Midnight of the first day that is shown.
fn first_day(now: Timestamp, frame: &Frame) -> anyhow::Result<Timestamp> {
    let today = now.to_zoned(frame.zone.clone()).start_of_day()?.timestamp();
    Ok(today - SignedDuration::from_hours(24 * i64::from(DAYS - 1)))
}

fn days(begin: Timestamp, grown: &[Growth], frame: &Frame) -> Vec<Day> {
    let day = |number: u32| {
        let found = grown.iter().find(|one| one.day == number).copied().unwrap_or_default();
        // Noon, so that a day that is an hour longer or shorter is still the same one.
        let noon = begin + SignedDuration::from_hours(24 * i64::from(number) + 12);
        let name = noon.to_zoned(frame.zone.clone()).strftime("%-d %b").to_string();
        Day { day: name, facts: found.facts, episodes: found.episodes }
    };
    (0..DAYS).map(day).collect()
}

fn cards(counts: &Counts, frame: &Frame) -> Vec<Card> {
    let card = |name, count: u64, more: String, rest: &str| Card {
        name,
        figure: thousands(count),
        more,
        address: frame.link(rest),
    };
    let retired = format!(
        "{} forgotten or superseded, {} held back",
        thousands(counts.retired_facts),
        thousands(counts.quarantined)
    );
    let summaries = format!("{} as summaries", thousands(counts.compressed_episodes));
    let lessons = format!("{} lessons", thousands(counts.reflections));
    vec![
        card("facts", counts.facts, retired, "facts"),
        card("episodes", counts.raw_episodes + counts.compressed_episodes, summaries, "timeline"),
        card("messages", counts.messages, String::new(), "sessions"),
        card("procedures", counts.procedures, lessons, "procedures"),
        card("events", counts.events, String::new(), "timeline?show=events"),
        card("names", counts.entities, String::new(), "facts"),
        card("open jobs", counts.open_jobs, String::new(), "jobs"),
    ]
}

fn loaded(app: &App, home: &Home) -> anyhow::Result<Vec<Loaded>> {
    let mut files = vec![Loaded { file: "SOUL.md", tokens: soul::show(home)?.tokens }];
    for (file, target) in
        [("MEMORY.md", MemoryTarget::Memory), ("USER.md", MemoryTarget::User(None))]
    {
        let read = memory_file::read(home, &target, rules::of_file(app, home, &target)?)?;
        files.push(Loaded { file, tokens: read.tokens });
    }
    Ok(files)
}

fn sizes(home: &Home, memory: &OpenMemory) -> Vec<Size> {
    let files = [("memory.db", memory.path.clone()), ("state.db", home.state_db())];
    let size = |(what, path): (&'static str, PathBuf)| {
        let bytes_of = path.metadata().map_or(0, |found| found.len());
        Size { what, bytes: bytes_of, shown: bytes(bytes_of) }
    };
    files.into_iter().map(size).collect()
}

fn standing(app: &App, home: &Home) -> Standing {
    let none = |what: String, hint: &str| Standing {
        colour: "bad",
        newest: None,
        drilled: None,
        reasons: vec![(what, hint.to_owned())],
    };
    match backup::status::of_home(app, home) {
        Ok(None) => none(
            "No backups are made: if the disk fails, everything is lost".to_owned(),
            "hermes backup setup",
        ),
        Err(error) => none(hermes_app::problem::message(&error), "hermes backup status"),
        Ok(Some(standing)) => Standing {
            colour: match standing.colour {
                hermes_backup::status::Colour::Green => "good",
                hermes_backup::status::Colour::Amber => "care",
                hermes_backup::status::Colour::Red => "bad",
            },
            newest: standing.newest,
            drilled: standing.drilled,
            reasons: standing.reasons.into_iter().map(|one| (one.what, one.hint)).collect(),
        },
    }
}

fn seen(home: &Home) -> Vec<Seen> {
    let counts = Hooks::read(&home.hook_counts());
    counts
        .all()
        .map(|(agent, seen)| Seen {
            agent: agent.to_owned(),
            last_event: seen.last_event.clone(),
            last_at: seen.last_at,
            events: seen.events.values().sum(),
            failures: seen.failures,
        })
        .collect()
}

fn writes(memory: &OpenMemory, frame: &Frame) -> anyhow::Result<Vec<Write>> {
    let entries = memory.store.audit_log(Admin, WRITES)?.into_iter();
    Ok(entries
        .map(|entry| Write {
            address: match entry.item.split_once(':') {
                Some(("fact", _)) => Some(frame.link(facts::place(&entry.item))),
                Some(("episode", id)) => Some(frame.link(format!("timeline/{id}"))),
                _ => None,
            },
            at: entry.at,
            by: reason::told(&entry.actor, None),
            action: entry.action.replace('.', " "),
            item: entry.item,
        })
        .collect())
}
