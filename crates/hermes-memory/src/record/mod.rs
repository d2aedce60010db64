//! Take in messages from lines of JSON, one message a line.

mod line;
pub(crate) mod ready;
pub mod spool;
mod steps;
pub mod strip;
pub mod summaries;
pub(crate) mod transcript;
pub mod turn;
mod turn_json;
pub mod whose;

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead};

use hermes_home::redaction::{Kept, Policy};
use hermes_home::tokens;
use hermes_store::memory::{Change, Memory, NewMessage, Recorded, Scope, Trust, echo};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::chunk::{self, Vectors, Words};
use crate::{Error, Result};
use line::{Line, Said};

/// How messages are taken in.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// Which program or file they come from; with the external id it makes a message unique.
    pub source: &'a str,
    /// Who is meant where a line names no user.
    pub scope: Scope,
    /// The zone of times that name none.
    pub zone: &'a TimeZone,
    /// The time of messages that have none, and of the change.
    pub now: Timestamp,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// What is done with secrets.
    pub secrets: Policy,
}

/// What recording did, and what it could not do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Lines that are not blank.
    pub lines: u64,
    /// Messages added.
    pub added: u64,
    /// Messages that were there already.
    pub known: u64,
    /// Episodes begun.
    pub episodes: u64,
    /// The first lines that could not be taken in.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub more_problems: u64,
}

impl Report {
    /// Whether some lines could not be taken in.
    pub fn is_partial(&self) -> bool {
        !self.problems.is_empty()
    }
}

/// A line that could not be taken in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The number of the line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// A longer line is refused: it has to fit in memory several times over.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// How many bad lines a report names.
pub const MOST_PROBLEMS: usize = 20;

pub(crate) const MESSAGES_PER_TRANSACTION: usize = 500;
const BYTES_PER_TRANSACTION: usize = 4 * 1024 * 1024;
const ACTOR: &str = "record";

/// Records every message of the text, one JSON object a line. What was recorded before adds nothing;
/// a bad line is reported and the rest goes on. `progress` hears how many lines are durable.
pub fn record(
    store: &mut Memory,
    lines: &mut dyn BufRead,
    settings: &Settings<'_>,
    progress: &mut dyn FnMut(u64),
) -> Result<Report> {
    let mut recording = Recording {
        store,
        settings,
        waiting: Vec::new(),
        waiting_bytes: 0,
        seen: HashMap::new(),
        scopes: HashMap::new(),
        report: Report::default(),
    };
    let mut bytes = Vec::new();
    for number in 1.. {
        match read_line(lines, &mut bytes, LONGEST_LINE).map_err(Error::Unreadable)? {
            Read::End => break,
            Read::TooLong => {
                recording.report.lines += 1;
                recording.refuse(number, format!("the line is longer than {LONGEST_LINE} bytes"));
            }
            Read::Whole if bytes.trim_ascii().is_empty() => {}
            Read::Whole => {
                recording.report.lines += 1;
                let text = if number == 1 { without_mark(&bytes) } else { &bytes };
                recording.take(number, text)?;
                if recording.is_full() {
                    recording.write()?;
                    progress(recording.report.lines);
                }
            }
        }
    }
    recording.write()?;
    progress(recording.report.lines);
    Ok(recording.report)
}

/// A recording under way.
struct Recording<'a> {
    store: &'a mut Memory,
    settings: &'a Settings<'a>,
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
    /// How often each message without an id occurred; half a hash is enough to tell them apart.
    seen: HashMap<u64, u32>,
    scopes: HashMap<String, Scope>,
    report: Report,
}

/// A message that is read and not yet written.
struct Waiting {
    number: u64,
    scope: Scope,
    said: Said,
    /// What was said to the letter, where the text has something else in place of a secret.
    to_the_letter: Option<String>,
    external_id: String,
}

impl Recording<'_> {
    fn take(&mut self, number: u64, bytes: &[u8]) -> Result<()> {
        let line = match Line::parse(bytes, self.settings.zone) {
            Ok(line) => line,
            Err(reason) => {
                self.refuse(number, reason);
                return Ok(());
            }
        };
        let scope = match &line.user {
            Some(user) => self.scope_of(user)?,
            None => self.settings.scope,
        };
        let external_id = match &line.external_id {
            Some(id) => id.clone(),
            None => self.derive_id(&line, scope),
        };
        let mut said = line.said;
        if let Cow::Owned(left) = strip::strip(&said.text) {
            said.text = left;
        }
        let to_the_letter = match self.settings.secrets.keep(&said.text) {
            Kept::AsItIs => None,
            Kept::Redacted(clean) => Some(std::mem::replace(&mut said.text, clean)),
            Kept::Refused(kind) => {
                self.refuse(
                    number,
                    format!("it contains a secret ({kind}), and recording.secrets is refuse"),
                );
                return Ok(());
            }
        };
        said.caption =
            said.caption.map(|caption| self.settings.secrets.clean(&caption).into_owned());
        // What only repeated what was recalled says nothing.
        let is_echo =
            said.role == "tool" && line.tool.as_deref().is_some_and(echo::answers_from_memory);
        if is_echo {
            return Ok(());
        }
        if !said.text.trim().is_empty() || said.caption.is_some() {
            self.waiting_bytes += bytes.len();
            self.waiting.push(Waiting { number, scope, said, to_the_letter, external_id });
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.waiting.len() >= MESSAGES_PER_TRANSACTION
            || self.waiting_bytes >= BYTES_PER_TRANSACTION
    }

    fn refuse(&mut self, line: u64, reason: String) {
        if self.report.problems.len() < MOST_PROBLEMS {
            self.report.problems.push(Problem { line, reason });
        } else {
            self.report.more_problems += 1;
        }
    }

    fn scope_of(&mut self, user: &str) -> Result<Scope> {
        if let Some(scope) = self.scopes.get(user) {
            return Ok(*scope);
        }
        let scope = Scope::of(self.store.user_or_new(user, self.change())?);
        self.scopes.insert(user.to_owned(), scope);
        Ok(scope)
    }

    fn derive_id(&mut self, line: &Line, scope: Scope) -> String {
        let fingerprint = line.fingerprint(scope.user().get());
        let (half, _) = fingerprint.split_at(8);
        let half = half.iter().fold(0, |sum, byte| (sum << 8) | u64::from(*byte));
        let occurrence = self.seen.entry(half).or_default();
        let id = line::id_of(&fingerprint, *occurrence);
        *occurrence += 1;
        id
    }

    fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }

    /// Writes all that waits, one transaction for each user.
    fn write(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let mut groups: Vec<(Scope, Vec<&Waiting>)> = Vec::new();
        for one in &waiting {
            match groups.iter_mut().find(|(scope, _)| *scope == one.scope) {
                Some((_, group)) => group.push(one),
                None => groups.push((one.scope, vec![one])),
            }
        }
        groups.into_iter().try_for_each(|(scope, group)| self.write_group(scope, &group))
    }

    /// Writes messages of one user at once; if one has no room, one by one, to find out which.
    fn write_group(&mut self, scope: Scope, group: &[&Waiting]) -> Result<()> {
        match self.write_messages(scope, group) {
            Err(Error::Store(hermes_store::Error::Full { .. })) => {}
            other => return other,
        }
        for one in group {
            match self.write_messages(scope, &[one]) {
                Err(Error::Store(error @ hermes_store::Error::Full { .. })) => {
                    self.refuse(one.number, error.to_string());
                }
                other => other?,
            }
        }
        Ok(())
    }

    fn write_messages(&mut self, scope: Scope, group: &[&Waiting]) -> Result<()> {
        let settings = self.settings;
        let messages: Vec<_> = group.iter().map(|one| one.message(settings)).collect();
        let recorded = self.store.record(scope, &messages, self.change())?;
        self.note(&recorded);
        Ok(())
    }

    fn note(&mut self, recorded: &Recorded) {
        self.report.added += count(recorded.added);
        self.report.known += count(recorded.known);
        self.report.episodes += count(recorded.episodes);
    }
}

impl Waiting {
    fn message<'a>(&'a self, settings: &Settings<'a>) -> NewMessage<'a> {
        let said = &self.said;
        let at = said.at.unwrap_or(settings.now);
        let words = Words {
            text: &said.text,
            caption: said.caption.as_deref(),
            speaker: said.speaker.as_deref(),
            day: Some(chunk::day_of(at, settings.zone)),
        };
        let caption_tokens = said.caption.as_deref().map_or(0, tokens::estimate);
        NewMessage {
            session_id: &said.session_id,
            role: &said.role,
            speaker: said.speaker.as_deref(),
            text: &said.text,
            said: self.to_the_letter.as_deref(),
            caption: said.caption.as_deref(),
            at,
            channel: said.channel.as_deref(),
            agent: said.agent.as_deref(),
            project: said.project.as_deref(),
            source: settings.source,
            external_id: &self.external_id,
            former_id: None,
            trust: trust_of(&said.role),
            tokens: u32::try_from(tokens::estimate(&said.text) + caption_tokens)
                .unwrap_or(u32::MAX),
            chunks: chunk::prepare(&words, settings.vectors),
            steps: Vec::new(),
            imported: is_history(at, settings.now),
        }
    }
}

/// Whether a message was said so long before it was taken in that it counts as history brought in.
pub fn is_history(at: Timestamp, now: Timestamp) -> bool {
    const LIVE: jiff::SignedDuration = jiff::SignedDuration::from_hours(48);
    now.duration_since(at) > LIVE
}

/// How far the words of a role can be trusted.
pub fn trust_of(role: &str) -> Trust {
    match role {
        "user" => Trust::User,
        "assistant" => Trust::Agent,
        _ => Trust::Untrusted,
    }
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The bytes without the mark that some editors put at the start of a file.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// What came of reading a line.
#[derive(Debug, PartialEq, Eq)]
enum Read {
    Whole,
    TooLong,
    End,
}

/// Reads a line without ever holding more than `longest` bytes; a longer one is skipped.
fn read_line(from: &mut dyn BufRead, line: &mut Vec<u8>, longest: usize) -> io::Result<Read> {
    line.clear();
    let room = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let read = io::Read::take(&mut *from, room).read_until(b'\n', line)?;
    if read == 0 {
        return Ok(Read::End);
    }
    if line.len() <= longest || line.ends_with(b"\n") {
        return Ok(Read::Whole);
    }
    line.clear();
    from.skip_until(b'\n')?;
    Ok(Read::TooLong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_whole() {
        let mut text: &[u8] = b"12345\n1234567890\nlast";
        let mut line = Vec::new();
        let mut next = || {
            let read = read_line(&mut text, &mut line, 6).unwrap();
            (read, String::from_utf8(line.clone()).unwrap())
        };
        assert_eq!(next(), (Read::Whole, "12345\n".to_owned()));
        assert_eq!(next(), (Read::TooLong, String::new()));
        assert_eq!(next(), (Read::Whole, "last".to_owned()));
        assert_eq!(next(), (Read::End, String::new()));
    }

    #[test]
    fn only_the_user_and_the_agent_are_trusted() {
        assert_eq!(trust_of("user"), Trust::User);
        assert_eq!(trust_of("assistant"), Trust::Agent);
        assert_eq!(trust_of("tool"), Trust::Untrusted);
        assert_eq!(trust_of("system"), Trust::Untrusted);
    }
}
