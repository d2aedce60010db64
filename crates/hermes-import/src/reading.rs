//! A reading under way: what is wanted of it, what it hands out, and what it counts.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::item::{Fact, Item, Message, Note, Session, SkillFolder};
use crate::tally::{LeftOut, Tally};
use crate::{Error, Result};

/// What is wanted of a source.
#[derive(Debug, Clone)]
pub struct Options {
    /// Only what was said since.
    pub since: Option<Timestamp>,
    /// Only about this project: a folder with all that is in it, or the name of one.
    pub project: Option<String>,
    /// The zone of times that name none.
    pub zone: TimeZone,
}

/// Who takes the items; hears how far it is.
pub type Sink<'a> = dyn FnMut(Item, &Tally) -> ControlFlow<()> + 'a;

/// A reading under way.
pub(crate) struct Reading<'a> {
    pub(crate) options: &'a Options,
    sink: &'a mut Sink<'a>,
    pub(crate) tally: Tally,
    /// Hashes of what was handed out and may come again from another file.
    seen: HashSet<u64>,
    /// Hashes of the conversations that said something.
    sessions: HashSet<u64>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(options: &'a Options, sink: &'a mut Sink<'a>) -> Reading<'a> {
        Reading {
            options,
            sink,
            tally: Tally::default(),
            seen: HashSet::new(),
            sessions: HashSet::new(),
        }
    }

    /// Hands out a message, unless it is not asked for or says nothing.
    pub(crate) fn message(&mut self, message: Message) -> Result<()> {
        let is_silent = message.text.trim().is_empty();
        if is_silent && message.tool_calls.is_none() {
            return Ok(());
        }
        if self.options.since.is_some_and(|since| message.at < since) {
            self.leave(LeftOut::Older);
            return Ok(());
        }
        if !self.is_wanted(&message.session) {
            self.leave(LeftOut::OtherProjects);
            return Ok(());
        }
        if !is_silent {
            self.tally.messages += 1;
            self.tally.saw(message.at);
            if self.sessions.insert(hash(&message.session.id)) {
                self.tally.sessions += 1;
            }
        }
        self.give(Item::Message(message))
    }

    /// Hands out a fact, unless it says nothing.
    pub(crate) fn fact(&mut self, fact: Fact) -> Result<()> {
        if fact.text.trim().is_empty() {
            return Ok(());
        }
        if let (Some(since), Some(at)) = (self.options.since, fact.at)
            && at < since
        {
            self.leave(LeftOut::Older);
            return Ok(());
        }
        self.tally.facts += 1;
        self.give(Item::Fact(fact))
    }

    pub(crate) fn note(&mut self, note: Note) -> Result<()> {
        self.tally.notes += 1;
        self.give(Item::Note(note))
    }

    pub(crate) fn skill(&mut self, skill: SkillFolder) -> Result<()> {
        self.tally.skills += 1;
        self.give(Item::Skill(skill))
    }

    /// Whether something is seen for the first time; what comes again counts as repeated.
    pub(crate) fn is_first(&mut self, what: impl Hash) -> bool {
        let is_first = self.seen.insert(hash(what));
        if !is_first {
            self.leave(LeftOut::Repeated);
        }
        is_first
    }

    /// Whether a conversation was handed out before.
    pub(crate) fn has_said(&self, session: &str) -> bool {
        self.sessions.contains(&hash(session))
    }

    pub(crate) fn leave(&mut self, kind: LeftOut) {
        self.tally.leave(kind, 1);
    }

    fn give(&mut self, item: Item) -> Result<()> {
        match (self.sink)(item, &self.tally) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }

    fn is_wanted(&self, session: &Rc<Session>) -> bool {
        let Some(wanted) = &self.options.project else { return true };
        let Some(project) = &session.project else { return false };
        let (wanted, project) = (Path::new(wanted), Path::new(project));
        project.starts_with(wanted) || project.file_name() == Some(wanted.as_os_str())
    }
}

pub(crate) fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
