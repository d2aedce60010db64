//! Takes in what the memory lacks: messages of state.db, whoever wrote them, and turns that wait in files.

use std::collections::HashMap;
use std::path::Path;

use hermes_store::memory::{Admin, Change, Chat, Memory, Offered, Scope, TakenIn};
use hermes_store::sessions::{LiveMessage, LiveSession, RowNames, SessionMark, SessionStore};
use hermes_store::sqlite::Access;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::identity;
use crate::record::ready::{self, AllReady, Conversation, Named, Ready, Spoken};
use crate::record::spool::{self, Drained};
use crate::record::turn::{self, STATE_DB, Settings, Turn};
use crate::record::{summaries, transcript, whose};
use crate::{Error, Result};

/// What catching up did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sessions of state.db that had changed.
    pub sessions: u64,
    /// Messages added.
    pub added: u64,
    /// Episodes begun.
    pub episodes: u64,
    /// Episodes taken out because the user took a message of theirs back.
    pub retired: u64,
    /// Sessions that are over since.
    pub ended: u64,
    /// What became of the turns that waited in files.
    pub spool: Drained,
    /// Sessions of an earlier version that say now by which name their user is known.
    pub sessions_named: u64,
    /// Summaries of an earlier version that are known by their numbers now.
    pub summaries_noted: u64,
    /// Sessions that could not be taken in, and why.
    pub problems: Vec<String>,
}

impl Report {
    /// Whether there was nothing to do.
    pub fn is_idle(&self) -> bool {
        *self == Report::default()
    }
}

/// A session is looked at for its end so long after it; idle sessions count as ended before.
const ENDS_FOR: SignedDuration = SignedDuration::from_hours(48);

/// How long the answer to a tool call is waited for before the turn is taken in without it.
const UNFINISHED_FOR: SignedDuration = SignedDuration::from_mins(10);

/// Takes in all that the memory lacks; doing it twice adds nothing.
pub fn catch_up(
    sessions: Option<&mut SessionStore>,
    store: &mut Memory,
    spool: &Path,
    settings: &Settings<'_>,
) -> Result<Report> {
    catch_up_telling(sessions, store, spool, settings, &mut || {})
}

/// The same; `tell` hears of each session and each turn that is in.
pub fn catch_up_telling(
    mut sessions: Option<&mut SessionStore>,
    store: &mut Memory,
    spool: &Path,
    settings: &Settings<'_>,
    tell: &mut dyn FnMut(),
) -> Result<Report> {
    let drained = drain(sessions.as_deref_mut(), store, spool, settings, tell)?;
    let mut report = Report { spool: drained, ..Report::default() };
    let Some(sessions) = sessions else { return Ok(report) };
    let names = transcript::names(sessions, settings.transcript_note, settings.now)?;
    report.summaries_noted = summaries::adopt(sessions, store, &names)?;
    if sessions.access() == Access::Write {
        report.sessions_named = whose::put_right(sessions, store, names.database())?;
    }
    let sessions = &*sessions;
    let taken = taken_in(store, &names)?;
    for mark in sessions.marks()? {
        let before = taken.get(mark.session_id.as_str());
        if !mark.is_of_interest(before, settings.now) {
            continue;
        }
        let done = |report: &Report| (report.added, report.retired, report.ended);
        let done_before = done(&report);
        let mut intake =
            Intake { sessions, names: &names, store, spool, settings, report: &mut report };
        match intake.session(&mark, before) {
            Err(Error::Store(error @ hermes_store::Error::Full { .. })) => {
                report.problems.push(format!("session {}: {error}", mark.session_id));
            }
            other => other?,
        }
        if done(&report) != done_before {
            tell();
        }
    }
    Ok(report)
}

/// Whether catching up would find something to take in.
pub fn is_needed(
    sessions: Option<&SessionStore>,
    store: &Memory,
    spool: &Path,
    transcript_note: &Path,
    now: Timestamp,
) -> Result<bool> {
    if crate::record::spool::waiting(spool) > 0 {
        return Ok(true);
    }
    let Some(sessions) = sessions else { return Ok(false) };
    let taken = taken_in(store, &transcript::names(sessions, transcript_note, now)?)?;
    let marks = sessions.marks()?;
    Ok(marks.iter().any(|mark| mark.has_changed(taken.get(mark.session_id.as_str()))))
}

/// The id of the database that a transcript is in.
pub fn database(sessions: &SessionStore, transcript_note: &Path, now: Timestamp) -> Result<String> {
    Ok(transcript::names(sessions, transcript_note, now)?.database().to_owned())
}

/// How far each session of this very database was taken in.
fn taken_in(store: &Memory, names: &RowNames) -> Result<HashMap<String, TakenIn>> {
    let taken = store.taken_in(Admin, names.database())?;
    Ok(taken.into_iter().map(|taken| (taken.session_id.clone(), taken)).collect())
}

/// What decides whether a session is looked at.
trait Interest {
    fn has_changed(&self, before: Option<&TakenIn>) -> bool;
    fn is_of_interest(&self, before: Option<&TakenIn>, now: Timestamp) -> bool;
}

impl Interest for SessionMark {
    fn has_changed(&self, before: Option<&TakenIn>) -> bool {
        before
            .is_none_or(|taken| (taken.last_message, taken.live) != (self.last_message, self.live))
    }

    fn is_of_interest(&self, before: Option<&TakenIn>, now: Timestamp) -> bool {
        self.has_changed(before)
            || self.ended_at.is_some_and(|ended| now.duration_since(ended) < ENDS_FOR)
    }
}

/// Sessions on their way into the memory.
struct Intake<'a> {
    sessions: &'a SessionStore,
    names: &'a RowNames,
    store: &'a mut Memory,
    spool: &'a Path,
    settings: &'a Settings<'a>,
    report: &'a mut Report,
}

impl Intake<'_> {
    fn session(&mut self, mark: &SessionMark, before: Option<&TakenIn>) -> Result<()> {
        let session = match self.sessions.live_session(&mark.session_id) {
            // Messages of a session that is gone: nobody knows whose they are.
            Err(hermes_store::Error::NotFound { .. }) => return Ok(()),
            other => other?,
        };
        if !session.is_talk() {
            return self.note(mark.session_id.as_str(), mark.last_message, mark.live, before);
        }
        if mark.has_changed(before) {
            self.report.sessions += 1;
            self.take_in(&session, mark, before)?;
        }
        self.end(&session)
    }

    fn take_in(
        &mut self,
        session: &LiveSession,
        mark: &SessionMark,
        before: Option<&TakenIn>,
    ) -> Result<()> {
        let after = before.map_or(0, |taken| taken.last_message);
        self.retire(session, before)?;
        let ours = summaries::of_session(self.sessions, self.store, &session.id, self.names)?;
        let mut messages = self.sessions.live_messages(session, after, &ours)?;
        let all = messages.len();
        messages.truncate(finished(&messages, session, self.settings.now));
        self.leave_to_file(session, after, &mut messages)?;
        let last = match messages.len() == all {
            true => mark.last_message,
            false => messages.last().map_or(after, |message| message.id),
        };
        self.record(session, &messages, before.is_none())?;
        let live = self.sessions.live_up_to(&session.id, last)?;
        self.note(session.id.as_str(), last, live, before)
    }

    /// A turn whose file still waits is recorded from there: the file says whose it is. What follows it waits too.
    fn leave_to_file(
        &self,
        session: &LiveSession,
        after: i64,
        messages: &mut Vec<LiveMessage>,
    ) -> Result<()> {
        if spool::waiting(self.spool) == 0 {
            return Ok(());
        }
        let marked = self.sessions.external_ids(&session.id, after)?;
        let held = marked.iter().find(|(_, mark)| spool::still_waits(self.spool, mark));
        if let Some((held, _)) = held {
            messages.retain(|message| message.id < *held);
        }
        Ok(())
    }

    /// Takes out what was taken in and then taken back.
    fn retire(&mut self, session: &LiveSession, before: Option<&TakenIn>) -> Result<()> {
        let Some(taken) = before else { return Ok(()) };
        if self.sessions.live_up_to(&session.id, taken.last_message)? >= taken.live {
            return Ok(());
        }
        let back = self.sessions.taken_back(&session.id, taken.last_message)?;
        let ids: Vec<String> = back.iter().map(|number| self.names.name(*number)).collect();
        let Some(scope) = self.find(session)? else { return Ok(()) };
        let id = session.id.as_str();
        let change = self.change();
        self.report.retired += self.store.retire_messages(scope, id, STATE_DB, &ids, change)?;
        Ok(())
    }

    /// Records messages. A session that this database brings for the first time is compared by its words: its
    /// messages may be known by another name, or by none because a program took them for others.
    fn record(
        &mut self,
        session: &LiveSession,
        messages: &[LiveMessage],
        is_first: bool,
    ) -> Result<()> {
        if messages.is_empty() {
            return Ok(());
        }
        let settings = self.settings;
        let spoken: Vec<Spoken<'_>> = messages.iter().map(spoken).collect();
        let named = |one: Ready| {
            let number = messages[one.place].id;
            let former = is_first.then(|| number.to_string());
            (one, Named { id: self.names.name(number), former })
        };
        let AllReady { messages: kept, refused } = ready::ready(&spoken, settings.secrets);
        if refused > 0 {
            self.report.problems.push(format!(
                "session {}: {refused} messages contain a secret and stay only in the transcript (recording.secrets: refuse)",
                session.id
            ));
        }
        let ready: Vec<(Ready, Named)> = kept.into_iter().map(named).collect();
        if ready.is_empty() {
            return Ok(());
        }
        let change = self.change();
        let scope = identity::resolve(self.store, whose::who(session), change)?;
        let zone = identity::zone_of(self.store, scope.user(), settings.zone)?;
        let conversation = Conversation {
            session_id: session.id.as_str(),
            channel: Some(&session.source),
            agent: None,
            project: session.project.as_deref(),
            source: STATE_DB,
            zone: &zone,
            now: settings.now,
            vectors: settings.vectors,
        };
        let others = match self.has_one_speaker(session)? {
            true => Vec::new(),
            false => self.others(scope, session)?,
        };
        let first_noted = self.first_noted(session, &others)?;
        let id = session.id.as_str();
        let mut is_known = self.known(scope, id, &ready, is_first)?;
        for other in &others {
            let theirs = self.known(*other, id, &ready, is_first)?;
            is_known.iter_mut().zip(theirs).for_each(|(known, theirs)| *known |= theirs);
        }
        let lacking = ready.into_iter().zip(is_known).filter(|(_, known)| !known);
        let (lacking, unknown): (Vec<_>, Vec<_>) = lacking
            .map(|(one, _)| one)
            .partition(|(one, _)| others.is_empty() || messages[one.place].id < first_noted);
        if !unknown.is_empty() {
            self.report.problems.push(format!(
                "session {}: several users take part in it, and {} of its messages name no user: they stay only in the transcript",
                session.id,
                unknown.len()
            ));
        }
        let recorded = ready::write(self.store, scope, &conversation, &lacking, change)?;
        self.report.added += recorded.added as u64;
        self.report.episodes += recorded.episodes as u64;
        Ok(())
    }

    /// Which messages are recorded as a user's already.
    fn known(
        &mut self,
        scope: Scope,
        session_id: &str,
        ready: &[(Ready, Named)],
        is_first: bool,
    ) -> Result<Vec<bool>> {
        let is_there = is_first && !self.store.sessions_named(scope, session_id)?.is_empty();
        if is_there {
            let offered: Vec<Offered<'_>> = ready
                .iter()
                .map(|(one, named)| Offered {
                    external_id: &named.id,
                    former_id: named.former.as_deref(),
                    text: &one.text,
                    said: one.said.as_deref(),
                    at: one.at,
                })
                .collect();
            return Ok(self.store.adopt(scope, STATE_DB, session_id, &offered)?);
        }
        let mut known = Vec::with_capacity(ready.len());
        for (one, named) in ready {
            let mut is_known = false;
            for text in std::iter::once(one.text.as_str()).chain(one.said.as_deref()) {
                let named = (named.id.as_str(), Some(text));
                let found = self.store.message_by_origin(scope, STATE_DB, session_id, named)?;
                is_known |= found.is_some();
            }
            known.push(is_known);
        }
        Ok(known)
    }

    /// The first message of a session whose turn was noted in a file: before it nobody but the session's own
    /// user spoke. None was: nothing is known about any of them.
    fn first_noted(&self, session: &LiveSession, others: &[Scope]) -> Result<i64> {
        if others.is_empty() {
            return Ok(i64::MIN);
        }
        let noted = self.sessions.external_ids(&session.id, i64::MIN)?;
        let first = noted.iter().find(|(_, mark)| spool::is_mark(mark));
        Ok(first.map_or(i64::MIN, |(id, _)| *id))
    }

    /// Whether all of a session was said by the one whom it names: nobody else's turn was noted in it. Such a session may
    /// be known as another's from before somebody said who that is.
    fn has_one_speaker(&self, session: &LiveSession) -> Result<bool> {
        let is_alone = whose::who(session).is_some_and(|who| who.chat == Chat::Direct);
        if !is_alone || !self.sessions.keeps_external_ids() {
            return Ok(false);
        }
        let noted = self.sessions.external_ids(&session.id, i64::MIN)?;
        Ok(!noted.iter().any(|(_, mark)| spool::is_mark(mark)))
    }

    /// Whoever else the memory knows to talk in a session: the transcript does not say whose a message is,
    /// and nobody's words may go to another.
    fn others(&self, scope: Scope, session: &LiveSession) -> Result<Vec<Scope>> {
        let mut others = Vec::new();
        for user in self.store.users(Admin)? {
            let other = Scope::of(user.number);
            let is_other = other != scope;
            if is_other && !self.store.sessions_named(other, session.id.as_str())?.is_empty() {
                others.push(other);
            }
        }
        Ok(others)
    }

    /// Says in the memory that the session is over, if it is.
    fn end(&mut self, session: &LiveSession) -> Result<()> {
        let Some(ended_at) = session.ended_at else { return Ok(()) };
        let Some(scope) = self.find(session)? else { return Ok(()) };
        let id = session.id.as_str();
        let known = self.store.sessions_named(scope, id)?;
        if known.iter().all(|part| part.ended_at.is_some()) {
            return Ok(());
        }
        self.report.ended += u64::from(self.store.end_session(scope, id, ended_at)?);
        Ok(())
    }

    fn find(&self, session: &LiveSession) -> Result<Option<Scope>> {
        identity::find(self.store, whose::who(session))
    }

    fn note(
        &mut self,
        session_id: &str,
        last_message: i64,
        live: i64,
        before: Option<&TakenIn>,
    ) -> Result<()> {
        let database = self.names.database().to_owned();
        let taken = TakenIn { database, session_id: session_id.to_owned(), last_message, live };
        if before == Some(&taken) {
            return Ok(());
        }
        Ok(self.store.note_taken_in(Admin, &taken, self.settings.now)?)
    }

    fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }
}

const ACTOR: &str = "catch_up";

fn spoken(message: &LiveMessage) -> Spoken<'_> {
    Spoken {
        role: &message.role,
        text: &message.text,
        at: message.at,
        tool_calls: message.tool_calls.as_ref(),
        tool_call_id: message.tool_call_id.as_deref(),
        tool_name: message.tool_name.as_deref(),
        failed: None,
    }
}

/// How many of the messages can be taken in: those of tools that are still at work wait, for a while.
fn finished(messages: &[LiveMessage], session: &LiveSession, now: Timestamp) -> usize {
    let is_work = |message: &LiveMessage| message.role == "tool" || message.tool_calls.is_some();
    let is_old = |message: &LiveMessage| now.duration_since(message.at) > UNFINISHED_FOR;
    match messages.last() {
        Some(last) if session.ended_at.is_none() && is_work(last) && !is_old(last) => {
            messages.iter().rposition(|message| !is_work(message)).map_or(0, |at| at + 1)
        }
        _ => messages.len(),
    }
}

/// Records the turns that wait in files, as they would have been at once: the transcript first, where it is
/// ours to write, then the memory; each message has an id, and is in each of the two once.
fn drain(
    mut sessions: Option<&mut SessionStore>,
    store: &mut Memory,
    spool: &Path,
    settings: &Settings<'_>,
    tell: &mut dyn FnMut(),
) -> Result<Drained> {
    spool::drain(spool, settings.zone, &mut |turn: Turn| {
        let kept = turn::keep(sessions.as_deref_mut(), &turn, settings)?;
        turn::remember(store, &turn, &kept, settings)?;
        tell();
        Ok(())
    })
}
