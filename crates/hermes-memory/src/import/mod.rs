//! Takes in what other programs keep, item by item: each thing once, as it was said, in bounded transactions.

mod fact;
mod known;

use hermes_home::redaction::Policy;
use hermes_import::{Fact, Item, Message, Role};
use hermes_store::memory::{Change, Memory, Recorded, Scope};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::chunk::Vectors;
use crate::record::ready::{self, Conversation, Ready, Spoken};
use crate::{Error, Result};
use known::Known;

/// How items are taken in.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// The program they come from; with the native id it makes each unique.
    pub source: &'a str,
    /// Whose they become.
    pub scope: Scope,
    /// The zone in which days are indexed.
    pub zone: &'a TimeZone,
    /// The time of the change.
    pub now: Timestamp,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// What is done with secrets.
    pub secrets: Policy,
}

/// What became of the items.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Messages added.
    pub messages: u64,
    /// Episodes begun.
    pub episodes: u64,
    /// Messages that were here already.
    pub known_messages: u64,
    /// Facts added.
    pub facts: u64,
    /// Facts that were here already.
    pub known_facts: u64,
    /// Messages and facts that stay forgotten.
    pub forgotten: u64,
    /// Messages and facts that hold a secret and were left out, because the settings say so.
    #[serde(skip_serializing_if = "is_none")]
    pub refused: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// How many messages or facts are written at once.
const AT_ONCE: usize = 1_000;
const BYTES_AT_ONCE: usize = 4 * 1024 * 1024;
/// A turn with more messages is written in parts.
const LONGEST_TURN: usize = 2_000;
const ACTOR: &str = "import";

/// Items on their way into a memory.
pub struct Intake<'a> {
    store: &'a mut Memory,
    settings: &'a Settings<'a>,
    known: Known,
    turn: Vec<Message>,
    waiting: Vec<(Ready, Message)>,
    waiting_bytes: usize,
    facts: Vec<Fact>,
    taken: Taken,
}

impl<'a> Intake<'a> {
    /// Nothing is taken in yet.
    pub fn new(store: &'a mut Memory, settings: &'a Settings<'a>) -> Intake<'a> {
        Intake {
            store,
            settings,
            known: Known::default(),
            turn: Vec::new(),
            waiting: Vec::new(),
            waiting_bytes: 0,
            facts: Vec::new(),
            taken: Taken::default(),
        }
    }

    /// Takes a message or a fact; files and skills are not a memory's to take.
    pub fn take(&mut self, item: Item) -> Result<()> {
        match item {
            Item::Message(message) => self.message(message),
            Item::Fact(fact) => {
                match self.settings.secrets.clean_or_refuse(&fact.text) {
                    Some(text) => self.facts.push(Fact { text: text.into_owned(), ..fact }),
                    None => self.taken.refused += 1,
                }
                if self.facts.len() >= AT_ONCE { self.write_facts() } else { Ok(()) }
            }
            Item::Note(_) | Item::Skill(_) => Ok(()),
        }
    }

    /// What is durable so far.
    pub fn taken(&self) -> &Taken {
        &self.taken
    }

    /// Writes what still waits.
    pub fn finish(mut self) -> Result<Taken> {
        self.end_turn()?;
        self.write_messages()?;
        self.write_facts()?;
        Ok(self.taken)
    }

    fn message(&mut self, message: Message) -> Result<()> {
        let begins = message.role == Role::User
            || self.turn.last().is_some_and(|last| last.session.id != message.session.id)
            || self.turn.len() >= LONGEST_TURN;
        if begins {
            self.end_turn()?;
        }
        self.turn.push(message);
        Ok(())
    }

    /// A turn is whole: its tools and their answers belong together.
    fn end_turn(&mut self) -> Result<()> {
        let turn = std::mem::take(&mut self.turn);
        let spoken: Vec<Spoken<'_>> = turn.iter().map(spoken).collect();
        let ready = ready::ready(&spoken, self.settings.secrets);
        drop(spoken);
        self.taken.refused += ready.refused as u64;
        for one in ready.messages {
            let message = &turn[one.place];
            let (store, settings) = (&*self.store, self.settings);
            if self.known.is_known(store, settings, message, &one)? {
                self.taken.known_messages += 1;
            } else {
                self.waiting_bytes += one.text.len();
                self.waiting.push((one, without_text(message)));
            }
        }
        if self.waiting.len() >= AT_ONCE || self.waiting_bytes >= BYTES_AT_ONCE {
            self.write_messages()?;
        }
        Ok(())
    }

    fn write_messages(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        match self.record(&waiting) {
            // One session has no room left: the others go on.
            Err(Error::Store(hermes_store::Error::Full { .. })) => {
                for one in waiting {
                    match self.record(&[one]) {
                        Err(Error::Store(hermes_store::Error::Full { .. })) => {}
                        other => other?,
                    }
                }
                Ok(())
            }
            other => other,
        }
    }

    fn record(&mut self, waiting: &[(Ready, Message)]) -> Result<()> {
        if waiting.is_empty() {
            return Ok(());
        }
        let settings = self.settings;
        let ids: Vec<String> = waiting.iter().map(|(_, message)| session_id(message)).collect();
        let messages: Vec<_> = waiting
            .iter()
            .zip(&ids)
            .map(|((ready, message), session_id)| {
                let session = &message.session;
                let conversation = Conversation {
                    session_id,
                    channel: session.channel.as_deref(),
                    agent: session.agent.as_deref(),
                    project: session.project.as_deref(),
                    source: settings.source,
                    zone: settings.zone,
                    now: settings.now,
                    vectors: settings.vectors,
                };
                // However young it is: a model reads it only when asked to.
                let mut made = ready.message(&conversation, &message.id, None);
                made.imported = true;
                made
            })
            .collect();
        let recorded = self.store.record(settings.scope, &messages, self.change())?;
        self.note(&recorded);
        Ok(())
    }

    fn note(&mut self, recorded: &Recorded) {
        self.taken.messages += recorded.added as u64;
        self.taken.known_messages += recorded.known as u64;
        self.taken.episodes += recorded.episodes as u64;
        self.taken.forgotten += recorded.buried as u64;
    }

    fn write_facts(&mut self) -> Result<()> {
        let facts = std::mem::take(&mut self.facts);
        if facts.is_empty() {
            return Ok(());
        }
        let change = self.change();
        fact::keep(self.store, self.settings, &facts, &mut self.taken, change)
    }

    fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }
}

/// How many of the items are here already, without taking any in.
pub struct Survey<'a> {
    store: &'a Memory,
    settings: &'a Settings<'a>,
    known: Known,
    found: Taken,
    /// The calls of the present turn: what a tool answers from a memory is not taken in.
    calls: Vec<Message>,
}

impl<'a> Survey<'a> {
    /// Nothing is looked at yet.
    pub fn new(store: &'a Memory, settings: &'a Settings<'a>) -> Survey<'a> {
        Survey {
            store,
            settings,
            known: Known::default(),
            found: Taken::default(),
            calls: Vec::new(),
        }
    }

    /// Looks whether an item is here.
    pub fn look(&mut self, item: &Item) -> Result<()> {
        match item {
            Item::Message(message) => {
                let last = self.calls.last();
                if message.role == Role::User
                    || last.is_some_and(|last| last.session.id != message.session.id)
                {
                    self.calls.clear();
                }
                let called: Vec<Message> = std::mem::take(&mut self.calls);
                let turn: Vec<Spoken<'_>> = called.iter().chain([message]).map(spoken).collect();
                let made = ready::ready(&turn, self.settings.secrets).messages;
                let here = turn.len() - 1;
                drop(turn);
                self.calls = called;
                if message.tool_calls.is_some() {
                    let tool_calls = message.tool_calls.clone();
                    self.calls.push(Message { tool_calls, ..without_text(message) });
                }
                for one in made.into_iter().filter(|one| one.place == here) {
                    match self.known.is_known(self.store, self.settings, message, &one)? {
                        true => self.found.known_messages += 1,
                        false => self.found.messages += 1,
                    }
                }
            }
            Item::Fact(fact) => match fact::is_known(self.store, self.settings, fact)? {
                true => self.found.known_facts += 1,
                false => self.found.facts += 1,
            },
            Item::Note(_) | Item::Skill(_) => {}
        }
        Ok(())
    }

    /// What was found: added would be what is not known.
    pub fn found(&self) -> &Taken {
        &self.found
    }
}

fn spoken(message: &Message) -> Spoken<'_> {
    Spoken {
        role: message.role.as_str(),
        text: &message.text,
        at: message.at,
        tool_calls: message.tool_calls.as_ref(),
        tool_call_id: message.tool_call_id.as_deref(),
        tool_name: None,
        failed: message.failed,
    }
}

/// The message for its ids: its words are in what was made of it.
fn without_text(message: &Message) -> Message {
    Message {
        session: message.session.clone(),
        id: message.id.clone(),
        role: message.role,
        text: String::new(),
        at: message.at,
        tool_calls: None,
        tool_call_id: None,
        failed: None,
    }
}

/// The id of the session on one line, as every command takes it.
fn session_id(message: &Message) -> String {
    let id: String = message.session.id.chars().filter(|c| !c.is_control()).collect();
    if id.trim().is_empty() { "untitled".to_owned() } else { id }
}
