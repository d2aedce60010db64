//! hermes handover: what one profile passes to another, on purpose and noted on both sides

use crate::terminal::Terminal;
use std::fs;
use std::io::{self, Write as _};

use anyhow::Context;
use clap::{Args, Subcommand};
use hermes_home::layout::parse_profile;
use hermes_home::{Home, atomic, versions};
use hermes_memory::chunk::{self, Words};
use hermes_memory::handover::{self, Choice, Keeping, Kept, Summary};
use hermes_store::memory::{
    Admin, EventKind, Events as _, Facts as _, Lifecycle as _, NewEvent, Passed, People as _,
    Trust, Vectors as _,
};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::embedding;
use hermes_app::later;
use hermes_app::memory::Memory;
use hermes_app::problem::{Kind, Problem};
use hermes_app::search::{self, Kind as Searched, Wish};
use hermes_app::text::{counted, printable};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The profile that passes something on; `default` is the home itself
    #[arg(required = true)]
    from: Option<String>,
    /// The profile that takes it over
    #[arg(required = true)]
    to: Option<String>,
    /// Facts that belong to these words
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// These facts; can be given several times
    #[arg(long = "fact", alias = "facts", value_name = "ID", value_delimiter = ',')]
    facts: Vec<String>,
    /// What was asked, decided and learned in this session; can be given several times
    #[arg(long = "session", value_name = "ID")]
    sessions: Vec<String>,
    /// What happened and was learned since (2d, 1w, 2026-05-31) [default: 1w, where nothing else is chosen]
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// What you add in your own words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Only show what would be passed on
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what this profile passed on and took over, newest first
    List,
}

/// One handover as a profile notes it: no word of what was passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Noted {
    at: Timestamp,
    /// `gave` or `took`.
    way: String,
    /// The other profile.
    profile: String,
    /// How many facts.
    facts: u64,
    /// The conversation that it became there.
    session: String,
    /// The SHA-256 of what was passed.
    sha256: String,
}

#[derive(Debug, Serialize)]
struct Listed {
    results: Vec<Noted>,
}

#[derive(Debug, Serialize)]
struct Report {
    from: String,
    to: String,
    done: bool,
    #[serde(flatten)]
    summary: Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
    #[serde(skip)]
    text: String,
}

const MOST_FOUND: usize = 10;

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    if let Some(Command::List) = arguments.command {
        let home = app.existing_home()?;
        let mut results = noted(&home)?;
        results.reverse();
        app.out.show(&Listed { results })?;
        return Ok(Outcome::Done);
    }
    let (from, to) = homes(arguments, app)?;
    let there = app.for_profile(&from);
    let summary = gather(arguments, app, &there, &from)?;
    let names = [&from, &to].map(|home| home.profile_name().to_owned());
    let [from_name, to_name] = names;
    if summary.is_empty() {
        let message = format!("there is nothing to pass on from profile {from_name}");
        return Err(Problem::new(Kind::NotFound, message)
            .hint("choose with `--query`, `--fact`, `--session`, `--since` or `--note`")
            .into());
    }
    let text = summary.text(&from_name, &to_name);
    let mut report =
        Report { from: from_name, to: to_name, done: false, summary, kept: None, text };
    if arguments.dry_run {
        app.out.show(&report)?;
        return Ok(Outcome::Done);
    }
    if !app.json {
        app.out.show(&report)?;
    }
    let question = format!("pass this from profile {} to profile {}?", report.from, report.to);
    confirm::consent(app.asking, &question)?;
    report.kept = Some(pass(app, (&from, &to), &report)?);
    report.done = true;
    app.out.show(&report)?;
    Ok(Outcome::Done)
}

fn homes(arguments: &Arguments, app: &App) -> anyhow::Result<(Home, Home)> {
    let root = app.root_home()?;
    let of = |name: &Option<String>| -> anyhow::Result<Home> {
        let home = root.sibling(parse_profile(name.as_deref().unwrap_or("default"))?);
        if !home.folder().is_dir() {
            let message = format!("could not find profile {}", home.profile_name());
            let hint = "see them with `hermes profile list`";
            return Err(Problem::new(Kind::NotFound, message).hint(hint).into());
        }
        Ok(home)
    };
    let (from, to) = (of(&arguments.from)?, of(&arguments.to)?);
    if from.profile_name() == to.profile_name() {
        return Err(Problem::usage("a profile hands nothing over to itself").into());
    }
    Ok((from, to))
}

fn gather(arguments: &Arguments, app: &App, there: &App, from: &Home) -> anyhow::Result<Summary> {
    let memory = there.memory(from, Access::Read)?;
    let asker = Asker::owner();
    let mut ids = Vec::new();
    for id in &arguments.facts {
        ids.push(memory.store.find_fact(asker.scope, id)?.id);
    }
    if let Some(text) = &arguments.query {
        let wish = Wish { text, kind: Searched::Facts, limit: MOST_FOUND, ..Wish::default() };
        let answer = search::find(there, from, (&memory.store, &asker), &wish)?;
        ids.extend(answer.results.iter().filter_map(|hit| number_of(&hit.id)));
    }
    for session in &arguments.sessions {
        if memory.store.sessions_named(asker.scope, session)?.is_empty() {
            let message =
                format!("could not find session {session} in profile {}", from.profile_name());
            return Err(Problem::new(Kind::NotFound, message)
                .hint("see them with `hermes sessions list`")
                .into());
        }
    }
    let is_chosen = !ids.is_empty() || !arguments.sessions.is_empty() || arguments.query.is_some();
    let since = match (&arguments.since, is_chosen) {
        (Some(since), _) => Some(since.as_str()),
        (None, false) if arguments.note.is_none() => Some("1w"),
        (None, _) => None,
    };
    let zone = there.zone(from)?;
    let since = since.map(|since| clock::parse_moment(since, app.now, &zone)).transpose()?;
    let note = arguments.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
    let choice = Choice { facts: &ids, sessions: &arguments.sessions, since, note };
    Ok(handover::gather(&memory.store, asker.scope, &choice, app.now)?)
}

fn number_of(id: &str) -> Option<i64> {
    id.strip_prefix("fact:")?.parse().ok()
}

/// Keeps it there, and notes it on both sides: in the chain, as an event, and in the list.
fn pass(app: &App, (from, to): (&Home, &Home), report: &Report) -> anyhow::Result<Kept> {
    let (giver, taker) = (app.for_profile(from), app.for_profile(to));
    let (mut gave, mut took) =
        (giver.memory(from, Access::Write)?, taker.memory(to, Access::Write)?);
    let zone = taker.zone(to)?;
    let session = format!("handover-{}-{}", report.from, app.now.as_millisecond());
    let keeping = Keeping {
        from: &report.from,
        session_id: &session,
        zone: &zone,
        vectors: embedding::vectors(took.store.active_model()?.as_ref()),
        change: app.change(),
    };
    let scope = Asker::owner().scope;
    let summary = (&report.summary, report.text.as_str());
    let kept = handover::take_over(&mut took.store, scope, summary, &keeping)?;
    let count = counted(report.summary.key_facts.len() as u64, "fact");
    for (memory, given, other) in [(&mut took, false, &report.from), (&mut gave, true, &report.to)]
    {
        let text = match given {
            true => format!("Handed over {count} to profile {other}"),
            false => format!("Took over {count} from profile {other}"),
        };
        note_event(app, memory, &text)?;
        let passed = Passed { given, profile: other, text: &report.text };
        memory.store.note_handover(Admin, &passed, app.change())?;
    }
    for (home, way, other) in [(to, "took", &report.from), (from, "gave", &report.to)] {
        note(
            home,
            &Noted {
                at: app.now,
                way: way.to_owned(),
                profile: other.clone(),
                facts: report.summary.key_facts.len() as u64,
                session: session.clone(),
                sha256: versions::hash(report.text.as_bytes()),
            },
        )?;
    }
    later::fill_in(to, &taker, &mut took.store)?;
    later::fill_in(from, &giver, &mut gave.store)?;
    Ok(kept)
}

/// What the timeline says of it.
fn note_event(app: &App, memory: &mut Memory, text: &str) -> anyhow::Result<()> {
    let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
    let words = Words { text, caption: None, speaker: None, day: None };
    let event = NewEvent {
        at: app.now,
        kind: EventKind::Result,
        text,
        why: None,
        trust: Trust::User,
        shared: false,
        entities: &[],
        chunks: chunk::prepare(&words, vectors),
        session: None,
        sources: &[],
        origin: None,
    };
    memory.store.add_event(Asker::owner().scope, &event, app.change())?;
    Ok(())
}

fn noted(home: &Home) -> anyhow::Result<Vec<Noted>> {
    let path = home.handovers();
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.with_context(|| format!("could not read {}", path.display()))?,
    };
    let lines = text.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

fn note(home: &Home, noted: &Noted) -> anyhow::Result<()> {
    let path = home.handovers();
    let failed = || format!("could not write to {}", path.display());
    if !home.own().exists() {
        atomic::make_folder(&home.own())?;
    }
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(&path).with_context(failed)?;
    let torn = atomic::is_torn(&mut file).with_context(failed)?;
    let line = serde_json::to_string(noted)?;
    let begin = if torn { "\n" } else { "" };
    file.write_all(format!("{begin}{line}\n").as_bytes()).with_context(failed)?;
    file.sync_all().with_context(failed)
}

impl Show for Report {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Some(kept) = &self.kept else {
            return self.text.lines().try_for_each(|line| page.line(printable(line)));
        };
        let new = counted(kept.facts.len() as u64, "new fact");
        page.line(format_args!(
            "profile {} took over {new} ({} known already), as session {}",
            self.to, kept.known, kept.session
        ))
    }
}

impl Show for Listed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            let at = one.at.strftime("%Y-%m-%d %H:%M");
            let way = if one.way == "gave" { "to" } else { "from" };
            let facts = counted(one.facts, "fact");
            page.line(format_args!(
                "{at}  {} {way} profile {}: {facts}, session {}",
                one.way, one.profile, one.session
            ))?;
        }
        Ok(())
    }
}
