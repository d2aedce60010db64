//! What one profile passes to another, on purpose and noted on both sides.

use std::fs;
use std::io::{self, Write as _};

use anyhow::Context;
use hermes_home::layout::parse_profile;
use hermes_home::{Home, atomic, versions};
use hermes_memory::chunk::{self, Words};
use hermes_memory::handover::{self, Choice, Keeping, Kept, Summary};
use hermes_store::memory::{Admin, EventKind, NewEvent, Passed, Trust};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::asker::Asker;
use crate::embedding;
use crate::later;
use crate::memory::OpenMemory;
use crate::problem::{Kind, Problem};
use crate::recall::Recall;
use crate::search::{Kind as Searched, Question};
use crate::text::counted;

/// One handover as a profile notes it: no word of what was passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// When.
    pub at: Timestamp,
    /// `gave` or `took`.
    pub way: String,
    /// The other profile.
    pub profile: String,
    /// How many facts.
    pub facts: u64,
    /// The conversation that it became there.
    pub session: String,
    /// The SHA-256 of what was passed.
    pub sha256: String,
}

/// What is chosen to be passed on.
#[derive(Debug, Default)]
pub struct Wanted<'a> {
    /// Facts that belong to these words.
    pub query: Option<&'a str>,
    /// These facts.
    pub facts: &'a [String],
    /// What was asked, decided and learned in these sessions.
    pub sessions: &'a [String],
    /// What happened and was learned since; where nothing else is chosen, the last week.
    pub since: Option<&'a str>,
    /// What the person adds.
    pub note: Option<&'a str>,
}

/// What is passed from one profile to another, or would be.
#[derive(Debug, Serialize)]
pub struct HandoverReport {
    /// The profile that gives.
    pub from: String,
    /// The profile that takes.
    pub to: String,
    /// Whether it was done.
    pub done: bool,
    /// What.
    #[serde(flatten)]
    pub summary: Summary,
    /// What it became there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// The same as people read it.
    #[serde(skip)]
    pub text: String,
}

/// A handover that is ready.
pub struct Handover {
    from: Home,
    to: Home,
    /// What would be passed on.
    pub plan: HandoverReport,
}

const MOST_FOUND: usize = 10;

/// Gathers what would be passed from one profile to another; `default` is the home itself.
pub fn look(app: &App, from: &str, to: &str, wanted: &Wanted<'_>) -> anyhow::Result<Handover> {
    let (from, to) = (profile(app, from)?, profile(app, to)?);
    if from.profile_name() == to.profile_name() {
        return Err(Problem::usage("a profile cannot hand over to itself").into());
    }
    let summary = gather(app, &from, wanted)?;
    let [from_name, to_name] = [&from, &to].map(|home| home.profile_name().to_owned());
    if summary.is_empty() {
        let message = format!("there is nothing to hand over from profile {from_name}");
        return Err(Problem::new(Kind::NotFound, message)
            .hint("choose something with `--query`, `--fact`, `--session`, `--since` or `--note`")
            .into());
    }
    let text = summary.text(&from_name, &to_name);
    let plan =
        HandoverReport { from: from_name, to: to_name, done: false, summary, kept: None, text };
    Ok(Handover { from, to, plan })
}

impl Handover {
    /// Passes it on.
    pub fn carry_out(self, app: &App) -> anyhow::Result<HandoverReport> {
        let kept = pass(app, &self.from, &self.to, &self.plan)?;
        Ok(HandoverReport { kept: Some(kept), done: true, ..self.plan })
    }
}

/// What a profile passed on and took over, newest first.
pub fn list(app: &App) -> anyhow::Result<Vec<Noted>> {
    let mut results = noted(&app.existing_home()?)?;
    results.reverse();
    Ok(results)
}

fn profile(app: &App, name: &str) -> anyhow::Result<Home> {
    let home = app.root_home()?.sibling(parse_profile(name)?);
    if !home.folder().is_dir() {
        let message = format!("could not find profile {}", home.profile_name());
        let hint = "`hermes profile list` shows all profiles";
        return Err(Problem::new(Kind::NotFound, message).hint(hint).into());
    }
    Ok(home)
}

fn gather(app: &App, from: &Home, wanted: &Wanted<'_>) -> anyhow::Result<Summary> {
    let there = &app.for_profile(from);
    let memory = there.memory(from, Access::Read)?;
    let asker = Asker::owner();
    let mut ids = Vec::new();
    for id in wanted.facts {
        ids.push(memory.store.find_fact(asker.scope, id)?.id);
    }
    if let Some(text) = wanted.query {
        let (kind, limit) = (Searched::Facts, MOST_FOUND);
        let question = Question { text, kind, limit, ..Question::default() };
        let recall = Recall { app: there, home: from, store: &memory.store, asker: &asker };
        let answer = recall.find(&question)?;
        ids.extend(answer.results.iter().filter_map(|hit| number_of(&hit.id)));
    }
    for session in wanted.sessions {
        if memory.store.sessions_named(asker.scope, session)?.is_empty() {
            let message =
                format!("could not find session {session} in profile {}", from.profile_name());
            return Err(Problem::new(Kind::NotFound, message)
                .hint("`hermes sessions list` shows the sessions")
                .into());
        }
    }
    let is_chosen = !ids.is_empty() || !wanted.sessions.is_empty() || wanted.query.is_some();
    let since = match (wanted.since, is_chosen) {
        (Some(since), _) => Some(since),
        (None, false) if wanted.note.is_none() => Some("1w"),
        (None, _) => None,
    };
    let since = there.moment(from, since)?;
    let note = wanted.note.map(str::trim).filter(|note| !note.is_empty());
    let choice = Choice { facts: &ids, sessions: wanted.sessions, since, note };
    Ok(handover::gather(&memory.store, asker.scope, &choice, app.now)?)
}

fn number_of(id: &str) -> Option<i64> {
    id.strip_prefix("fact:")?.parse().ok()
}

/// Keeps it there, and notes it on both sides: in the chain, as an event, and in the list.
fn pass(app: &App, from: &Home, to: &Home, report: &HandoverReport) -> anyhow::Result<Kept> {
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
    let summary = &report.summary;
    let kept = handover::take_over(&mut took.store, scope, summary, &report.text, &keeping)?;
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
fn note_event(app: &App, memory: &mut OpenMemory, text: &str) -> anyhow::Result<()> {
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
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
    let mut file = options.open(&path).with_context(failed)?;
    let torn = atomic::is_torn(&mut file).with_context(failed)?;
    let line = serde_json::to_string(noted)?;
    let begin = if torn { "\n" } else { "" };
    file.write_all(format!("{begin}{line}\n").as_bytes()).with_context(failed)?;
    file.sync_all().with_context(failed)
}
