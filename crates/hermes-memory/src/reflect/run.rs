//! Look back on every session that is over: its task, its events, its lessons, and the log of them.

use std::collections::BTreeSet;

use hermes_home::Home;
use hermes_home::reflections::{self, Section};
use hermes_store::memory::{
    Added, Admin, Change, EventKind, ItemKind, Memory, NewEvent, NewProcedure, NewSource, NewTask,
    OriginId, Procedure, ProcedureKind, Scope, Session, Trust, UserNumber,
};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::lessons::{Lesson, lessons};
use super::signs::Sign;
use super::work::{Outcome, Shows, Talk, Work, judge};
use super::{model, talks};
use crate::ask::Ask;
use crate::chunk::{self, Vectors, Words};
use crate::remember::user_id;
use crate::{Error, Result, task};

/// A session is over when nothing was said for this long, if nobody said so before.
pub const IDLE: SignedDuration = SignedDuration::from_mins(30);
const ACTOR: &str = "reflect";
const BATCH: usize = 50;
const EXTRACTOR: &str = "reflect";

/// How to look back.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// When.
    pub now: Timestamp,
    /// The zone of the days in the log.
    pub zone: &'a TimeZone,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// How many sessions at most.
    pub limit: usize,
}

/// What looking back came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sessions looked back on.
    pub sessions: u64,
    /// Those in which something was asked for and done.
    pub tasks: u64,
    /// New lessons.
    pub lessons: u64,
    /// New events.
    pub events: u64,
    /// Sections added to REFLECTIONS.md.
    pub written: u64,
    /// Whose sessions gave lessons.
    pub taught: Vec<UserNumber>,
    /// Sessions whose answer of a model could not be used: they are tried again.
    pub again: Vec<Trouble>,
}

/// A session that is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Trouble {
    /// The session.
    pub session_id: String,
    /// What went wrong.
    pub why: String,
}

/// Looks back on the sessions that are over, and brings the log up to date, also with what an earlier
/// run left undone. `progress` hears how many sessions are done; its error ends the work, and
/// nothing is lost.
pub fn run(
    home: &Home,
    store: &mut Memory,
    settings: &Settings<'_>,
    mut ask: Option<&mut Ask<'_>>,
    progress: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Report> {
    let mut report = Report { written: write_log(home, store, settings)?, ..Report::default() };
    let idle_since = settings.now - IDLE;
    while (report.sessions as usize) < settings.limit {
        let left = settings.limit - report.sessions as usize;
        let asked = left.min(BATCH).saturating_add(report.again.len());
        let mut waiting = store.sessions_to_reflect(Admin, idle_since, asked)?;
        waiting.retain(|one| report.again.iter().all(|known| known.session_id != one.session_id));
        if waiting.is_empty() {
            break;
        }
        for session in waiting {
            // Asked anew for each, so that one borrow ends before the next.
            let ask: Option<&mut Ask<'_>> = match &mut ask {
                None => None,
                Some(ask) => Some(&mut **ask),
            };
            match look_back_on(store, &session, settings, ask) {
                Err(Error::BadReply { model, why }) => report.again.push(Trouble {
                    session_id: session.session_id,
                    why: Error::BadReply { model, why }.to_string(),
                }),
                other => report.add(session.user, &other?),
            }
            progress(report.sessions)?;
        }
    }
    report.written += write_log(home, store, settings)?;
    Ok(report)
}

/// What one session gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gave {
    /// Whether something was asked for and done.
    pub is_task: bool,
    /// New lessons.
    pub lessons: u64,
    /// New events.
    pub events: u64,
}

impl Report {
    fn add(&mut self, user: UserNumber, gave: &Gave) {
        self.sessions += 1;
        if gave.lessons > 0 && !self.taught.contains(&user) {
            self.taught.push(user);
        }
        self.tasks += u64::from(gave.is_task);
        self.lessons += gave.lessons;
        self.events += gave.events;
    }
}

/// Looks back on one session and notes that it was done; doing it twice adds nothing.
pub fn look_back_on(
    store: &mut Memory,
    session: &Session,
    settings: &Settings<'_>,
    ask: Option<&mut Ask<'_>>,
) -> Result<Gave> {
    let scope = Scope::of(session.user);
    let talk = talks::read(store, scope, session)?;
    let mut gave = Gave::default();
    if let Some(work) = judge(&talk) {
        let mut taught = lessons(&work, &talk);
        // What the rules see is kept beside what a model sees: it costs nothing and is never wrong about words.
        if let Some(ask) = ask.filter(|_| !talk.imported) {
            taught.extend(model::lessons(&work, &talk, ask)?);
        }
        let noting = Noting { scope, settings, name: &task_name(store, scope, session)? };
        gave = noting.keep(store, &talk, &work, &taught)?;
    }
    store.mark_reflected(Admin, session.key, settings.now)?;
    Ok(gave)
}

/// What makes the task of a session unique: the session's id; a long session goes on under a next one.
fn task_name(store: &Memory, scope: Scope, session: &Session) -> Result<String> {
    let parts = store.sessions_named(scope, &session.session_id)?;
    let own: Vec<_> = parts.iter().filter(|part| part.user == session.user).collect();
    Ok(match own.iter().position(|part| part.key == session.key) {
        None | Some(0) => session.session_id.clone(),
        Some(place) => format!("{}#{}", session.session_id, place + 1),
    })
}

/// Whose work it is, and the name of the task.
struct Noting<'a> {
    scope: Scope,
    settings: &'a Settings<'a>,
    name: &'a str,
}

impl Noting<'_> {
    fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }

    fn keep(
        &self,
        store: &mut Memory,
        talk: &Talk,
        work: &Work,
        taught: &[Lesson],
    ) -> Result<Gave> {
        let session = &talk.session;
        let steps = serde_json::to_string(&talk.steps).unwrap_or_else(|_| "[]".to_owned());
        let task = NewTask {
            external_id: self.name,
            session: Some(session.key),
            task_type: work.task_type.as_str(),
            title: &work.title,
            started_at: session.started_at,
            ended_at: session.last_at,
            outcome: work.outcome.as_str(),
            steps: &steps,
            words: &work.words,
        };
        store.keep_task(self.scope, &task, self.change())?;
        let mut gave = Gave { is_task: true, ..Gave::default() };
        for lesson in taught {
            gave.lessons += u64::from(self.keep_lesson(store, work, lesson)?);
        }
        let is_first_time = self.keep_events(store, talk, work, &mut gave.events)?;
        if is_first_time && self.name == session.session_id {
            self.count_outcome(store, work.outcome)?;
        }
        Ok(gave)
    }

    /// Whether the lesson is new.
    fn keep_lesson(&self, store: &mut Memory, work: &Work, lesson: &Lesson) -> Result<bool> {
        let text = format!("{}\n{}", lesson.title, lesson.body);
        let sources: Vec<NewSource<'_>> =
            lesson.cited.iter().map(|one| source(one.episode, one.message, &one.quote)).collect();
        let origin = format!("{}/{}", self.name, lesson.key);
        let new = NewProcedure {
            kind: ProcedureKind::Reflection,
            task_type: Some(work.task_type.as_str()),
            title: &lesson.title,
            body: &lesson.body,
            outcome: Some(work.outcome.as_str()),
            trust: lesson.trust,
            shared: false,
            entities: &names(&work.title),
            sources: &sources,
            chunks: chunk::prepare(
                &Words { text: &text, ..Words::default() },
                self.settings.vectors,
            ),
            origin: Some(OriginId { source: ACTOR, external_id: &origin }),
            skill_path: None,
        };
        Ok(matches!(store.add_procedure(self.scope, &new, self.change())?, Added::New(_)))
    }

    /// The task, what came of it, or why it failed; returns whether the task was unknown.
    fn keep_events(
        &self,
        store: &mut Memory,
        talk: &Talk,
        work: &Work,
        new: &mut u64,
    ) -> Result<bool> {
        let session = &talk.session;
        let (episode, message, quote) = &work.asked;
        let task = Happened {
            kind: EventKind::Task,
            at: session.started_at,
            text: &work.title,
            why: None,
            trust: Trust::User,
            source: source(*episode, *message, quote),
        };
        let is_new = self.keep_event(store, session, &task)?;
        *new += u64::from(is_new);
        let said =
            |wanted: Sign| work.evidence.iter().rev().find(|one| one.shows == Shows::Said(wanted));
        let came = match (work.outcome, &work.answer) {
            (Outcome::Success, Some((episode, message, text))) => Some(Happened {
                kind: EventKind::Result,
                at: session.last_at,
                text,
                why: said(Sign::Praise).map(|one| format!("the user said: \"{}\"", one.quote)),
                trust: Trust::Agent,
                source: source(*episode, *message, text),
            }),
            (Outcome::Failure, _) => work.evidence.last().map(|one| Happened {
                kind: EventKind::Failure,
                at: one.at,
                text: &work.title,
                why: Some(why_failed(&one.shows, &one.quote)),
                trust: Trust::Agent,
                source: source(one.episode, one.message, &one.quote),
            }),
            _ => None,
        };
        if let Some(came) = came {
            *new += u64::from(self.keep_event(store, session, &came)?);
        }
        Ok(is_new)
    }

    fn keep_event(
        &self,
        store: &mut Memory,
        session: &Session,
        happened: &Happened<'_>,
    ) -> Result<bool> {
        let why = happened.why.as_deref();
        let text = match why {
            None => happened.text.to_owned(),
            Some(why) => format!("{}\n{why}", happened.text),
        };
        let kind = match happened.kind {
            EventKind::Task => "task",
            EventKind::Result => "result",
            EventKind::Failure => "failure",
            EventKind::Decision => "decision",
        };
        let origin = format!("{}/{kind}", self.name);
        let day = chunk::day_of(happened.at, self.settings.zone);
        let words = Words { text: &text, day: Some(day), ..Words::default() };
        let event = NewEvent {
            at: happened.at,
            kind: happened.kind,
            text: happened.text,
            why,
            trust: happened.trust,
            shared: false,
            entities: &names(happened.text),
            chunks: chunk::prepare(&words, self.settings.vectors),
            session: Some(session.key),
            sources: &[happened.source],
            origin: Some(OriginId { source: ACTOR, external_id: &origin }),
        };
        Ok(matches!(store.add_event(self.scope, &event, self.change())?, Added::New(_)))
    }

    /// What was handed out in the session helped, or did not.
    fn count_outcome(&self, store: &mut Memory, outcome: Outcome) -> Result<()> {
        if outcome == Outcome::Unclear {
            return Ok(());
        }
        let receipts = store.receipts_of(self.scope, self.name)?;
        let handed: BTreeSet<i64> = receipts
            .iter()
            .flat_map(|receipt| &receipt.items)
            .filter(|(kind, _)| *kind == ItemKind::Procedure)
            .map(|(_, id)| *id)
            .collect();
        let handed: Vec<i64> = handed.into_iter().collect();
        Ok(store.count_outcome(self.scope, &handed, outcome == Outcome::Success)?)
    }
}

/// An event before it is kept.
struct Happened<'a> {
    kind: EventKind,
    at: Timestamp,
    text: &'a str,
    why: Option<String>,
    trust: Trust,
    source: NewSource<'a>,
}

fn source(episode: i64, message: i64, quote: &str) -> NewSource<'_> {
    NewSource {
        episode: Some(episode),
        message: Some(message),
        quote: Some(quote),
        extractor: Some(EXTRACTOR),
    }
}

fn why_failed(shows: &Shows, quote: &str) -> String {
    match shows {
        Shows::Failed { tool, error: Some((_, words)), .. } => {
            format!("{tool} answered: \"{words}\"")
        }
        Shows::Failed { tool, .. } => format!("{tool} failed with {quote}"),
        _ => format!("the user said: \"{quote}\""),
    }
}

fn names(text: &str) -> Vec<String> {
    const MOST: usize = 8;
    let mut names = task::names(text);
    names.truncate(MOST);
    names
}

/// Adds what REFLECTIONS.md of each user lacks; returns how many sections.
pub fn write_log(home: &Home, store: &Memory, settings: &Settings<'_>) -> Result<u64> {
    let mut written = 0;
    for user in store.users(Admin)? {
        let held = store.list_procedures(Scope::of(user.number), None, usize::MAX)?;
        let sections: Vec<Section> = held
            .iter()
            .filter(|one| one.kind == ProcedureKind::Reflection && one.user == user.number)
            .map(|one| section(one, settings.zone))
            .collect();
        let Ok(id) = user_id(&user) else { continue };
        if !sections.is_empty() {
            written += reflections::append(home, id.as_ref(), &sections)? as u64;
        }
    }
    Ok(written)
}

fn section(procedure: &Procedure, zone: &TimeZone) -> Section {
    let day = chunk::day_of(procedure.recorded_at, zone);
    let kind = procedure.task_type.as_deref().unwrap_or("general");
    let outcome = procedure.outcome.as_deref().unwrap_or("unclear");
    Section {
        procedure: procedure.id,
        heading: format!("{day} {kind}, {outcome}: {}", procedure.title),
        body: procedure.body.clone(),
    }
}
