//! Turns are finished by whoever comes first: their own hook, the end of their session, the next hook, or the daemon.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use hermes_home::Home;
use hermes_memory::record::turn::{Caller as Reporter, Turn, TurnMessage};
use hermes_store::sessions::random_bytes;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::event::Event;
use super::recall::project_of;
use super::session::{self, Session};
use super::transcript::{self, Said, Tail};
use super::{elsewhere, keep};
use crate::app::App;

/// Why a turn is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Because {
    /// The next prompt of its session came.
    NextPrompt,
    /// Its session is over.
    Ended,
    /// Somebody else came by, and its own hook may still come.
    PassingBy,
}

/// When an answer is the last of its turn although the transcript does not say so.
const QUIET: Duration = Duration::from_secs(120);
/// The same where there is no transcript.
const LONG_QUIET: Duration = Duration::from_secs(600);
/// A session that was changed a moment ago has a hook of its own at work.
const OWN_WORK: Duration = Duration::from_secs(2);
/// How long a hook works for sessions other than its own.
const FOR_OTHERS: Duration = Duration::from_millis(300);
/// When a turn is looked at again that is over, and one of which nobody knows.
const SOON: SignedDuration = SignedDuration::from_secs(3);
const LATER: SignedDuration = SignedDuration::from_mins(3);

/// Tells the turn that its own hook says is over. What is wrong with it, if it can never be recorded.
pub fn stop(session: &mut Session, event: &Event, now: Timestamp) -> Option<String> {
    let is_this = event.turn.is_none() || session.turn.is_none() || event.turn == session.turn;
    if !is_this {
        // One that is left over: its own answer may be in the transcript.
        tell(session, Because::NextPrompt, now);
        session.close();
    }
    let prompt = event.prompt.clone().or(session.prompt.clone());
    let answers = Some(session.answers.join("\n\n")).filter(|text| !text.is_empty());
    let answer = event.answer.clone().or(answers);
    let told = told_of(session, prompt.as_deref());
    let is_answered = answer.is_some() || told.answer.is_some();
    if !is_answered && session.transcript.is_some() && prompt.is_some() {
        // The transcript lags: whoever comes next finds the answer there.
        session.prompt = prompt;
        session.is_stopped = true;
        return None;
    }
    let messages = messages(prompt, answer, told);
    push(session, messages, now)
}

/// Tells the turn that is under way in a session, if it is over. What is wrong with it, if it can never be recorded.
pub fn tell(session: &mut Session, because: Because, now: Timestamp) -> Option<String> {
    let mut fault = None;
    if session.is_open() && !session.id.is_empty() {
        let told = told_of(session, session.prompt.as_deref());
        let answers = Some(session.answers.join("\n\n")).filter(|text| !text.is_empty());
        let is_answered = told.answer.is_some() || answers.is_some();
        let is_over = match because {
            Because::NextPrompt | Because::Ended => true,
            Because::PassingBy => {
                session.is_stopped || session.is_ended || told.is_over || is_quiet(session, now)
            }
        };
        if is_answered && is_over {
            fault = push(session, messages(session.prompt.clone(), answers, told), now);
        }
    }
    // Who writes down nothing has nothing to wait for.
    let is_silent = session.transcript.is_none() || is_quiet(session, now);
    if session.is_ended && (!session.is_open() || is_silent) {
        session.is_ended = false;
        session.close();
        let ended = Turn { ended: true, ..empty(session) };
        match ended.fault() {
            None => session.told.push(ended.to_json()),
            found => fault = fault.or(found),
        }
    }
    fault
}

/// Finishes what other sessions left, as far as time allows.
pub fn others(app: &App, home: &Home, own: Option<&Path>) {
    let begun = Instant::now();
    for path in session::all(home) {
        let is_own = own == Some(path.as_path());
        if is_own || age(&path).is_none_or(|age| age < OWN_WORK) || !has_something(&path) {
            continue;
        }
        let (told, _) = session::change(&path, |session| {
            tell(session, Because::PassingBy, app.now);
            session.told.clone()
        });
        // It is noted as a failure when its own hooks come, or by the daemon.
        let _ = keep::record_all(app, home, &path, &told);
        if begun.elapsed() > FOR_OTHERS {
            return;
        }
    }
}

/// How many turns wait that hooks left: in the files of sessions, or outside of the home.
pub fn waiting(app: &App, home: &Home) -> usize {
    let left = |path: &PathBuf| {
        let mut session = session::read(path);
        tell(&mut session, Because::PassingBy, app.now);
        let is_left = age(path).is_none_or(|age| age >= OWN_WORK);
        if is_left { session.told.len() } else { 0 }
    };
    elsewhere::waiting(&app.env, home) + session::all(home).iter().map(left).sum::<usize>()
}

/// The files outside of every home in which turns may wait.
pub fn files_outside(app: &App) -> Vec<PathBuf> {
    elsewhere::files(&app.env)
}

/// When to look again at turns that may have to be finished without their own hook; none if there is none.
pub fn next_look(home: &Home) -> Option<SignedDuration> {
    let sessions = session::all(home).into_iter().map(|path| session::read(&path));
    let looks = sessions.filter_map(|session| match session {
        Session { is_stopped: true, .. } | Session { is_ended: true, .. } => Some(SOON),
        session if !session.told.is_empty() => Some(SOON),
        session => session.is_open().then_some(LATER),
    });
    looks.min()
}

/// Puts all that hooks left into the spool of the home, from where it is taken in.
pub fn to_spool(app: &App, home: &Home) -> anyhow::Result<()> {
    for path in session::all(home) {
        if !has_something(&path) {
            continue;
        }
        let (told, _) = session::change(&path, |session| {
            tell(session, Because::PassingBy, app.now);
            session.told.clone()
        });
        for turn in told {
            if let Ok(read) = Turn::from_json(&turn, &TimeZone::UTC) {
                keep::spool_put(home, &read, app.now)?;
            }
            session::change(&path, |session| session.told.retain(|other| *other != turn)).1?;
        }
    }
    elsewhere::collect(&app.env, home)
}

fn has_something(path: &Path) -> bool {
    let session = session::read(path);
    session.is_open() || session.is_ended || !session.told.is_empty()
}

fn age(path: &Path) -> Option<Duration> {
    let changed = path.metadata().and_then(|found| found.modified()).ok()?;
    SystemTime::now().duration_since(changed).ok()
}

/// Whether nothing more comes of a turn, by the time that passed since.
fn is_quiet(session: &Session, now: Timestamp) -> bool {
    let since_prompt = session.at.map(|at| now.duration_since(at).unsigned_abs());
    match &session.transcript {
        Some(path) => age(path).or(since_prompt).is_some_and(|age| age > QUIET),
        None => since_prompt.is_some_and(|age| age > LONG_QUIET),
    }
}

fn told_of(session: &Session, prompt: Option<&str>) -> Tail {
    let Some(path) = &session.transcript else { return Tail::default() };
    match prompt {
        Some(prompt) => transcript::turn_of(path, prompt, session.transcript_length),
        None => Some(transcript::tail(path)),
    }
    .unwrap_or_default()
}

/// Puts a turn of these messages among what is told of a session; each has an id from now on.
pub fn push(session: &mut Session, messages: Vec<TurnMessage>, now: Timestamp) -> Option<String> {
    if messages.is_empty() {
        session.close();
        return None;
    }
    let mut turn = Turn { messages, ..empty(session) };
    let [a, b, c] = random_bytes();
    let key = format!("{}-{}-{a:02x}{b:02x}{c:02x}", now.as_millisecond(), std::process::id());
    for (number, message) in turn.messages.iter_mut().enumerate() {
        message.external_id.get_or_insert_with(|| format!("hook:{key}:{}", number + 1));
        let said_at = session.at.filter(|_| message.role == "user");
        message.at = message.at.or(said_at).or(Some(now));
    }
    let fault = turn.fault();
    if fault.is_none() {
        session.told.push(turn.to_json());
    }
    session.close();
    fault
}

fn empty(session: &Session) -> Turn {
    Turn {
        session_id: Some(session.id.clone()),
        channel: session.agent.clone(),
        identity: None,
        user: None,
        agent: Some(session.agent.clone()),
        project: session.folder.as_deref().map(project_of),
        messages: Vec::new(),
        from: Reporter::Other(session.agent.clone()),
        ended: false,
    }
}

/// The prompt and the answer; the ids of the transcript where it says the same, so that an import knows them.
fn messages(prompt: Option<String>, answer: Option<String>, told: Tail) -> Vec<TurnMessage> {
    let pairs = [("user", prompt, told.prompt), ("assistant", answer, told.answer)];
    pairs.into_iter().filter_map(|(role, said, told)| message(role, said, told)).collect()
}

/// One message. Where the transcript has more of an answer, it is the same one.
fn message(role: &str, said: Option<String>, told: Option<Said>) -> Option<TurnMessage> {
    let told = told.filter(|told| said.as_deref().is_none_or(|said| is_same(role, told, said)));
    let text = match (&told, said) {
        (Some(told), Some(said)) if told.text.trim().len() <= said.trim().len() => said,
        (Some(told), _) => told.text.clone(),
        (None, said) => said?,
    };
    let (external_id, at) = told.map(|told| (told.id, told.at)).unwrap_or_default();
    Some(TurnMessage { external_id, at, ..TurnMessage::text(role, &text) })
}

fn is_same(role: &str, told: &Said, said: &str) -> bool {
    let (told, said) = (told.text.trim(), said.trim());
    told == said || (role == "assistant" && (told.contains(said) || said.contains(told)))
}

#[cfg(test)]
#[path = "finish_tests.rs"]
mod tests;
