//! An event of an agent, whatever form the agent gives it, and the answer in that form.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{claude_code, cursor, hermes_agent};
use crate::integrate::check::MARK;

/// An agent that calls hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Hermes Agent.
    HermesAgent,
}

impl Caller {
    /// The agent of a name.
    pub fn named(name: &str) -> Option<Caller> {
        match name {
            "claude-code" => Some(Caller::ClaudeCode),
            "codex" => Some(Caller::Codex),
            "cursor" => Some(Caller::Cursor),
            "hermes-agent" => Some(Caller::HermesAgent),
            _ => None,
        }
    }

    /// Whose event it is by its look: each agent has names of its own form for events.
    pub fn of_event(bytes: &[u8]) -> Caller {
        let event: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let name = event["hook_event_name"].as_str().unwrap_or_default();
        match name.chars().next() {
            _ if name.contains('_') => Caller::HermesAgent,
            Some(first) if first.is_lowercase() => Caller::Cursor,
            _ => Caller::ClaudeCode,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Caller::ClaudeCode => "claude-code",
            Caller::Codex => "codex",
            Caller::Cursor => "cursor",
            Caller::HermesAgent => "hermes-agent",
        }
    }

    /// What an event of this agent says; none if it is none.
    pub fn read(self, bytes: &[u8]) -> Option<Event> {
        let Ok(Value::Object(object)) = serde_json::from_slice(bytes) else { return None };
        let event = match self {
            Caller::ClaudeCode | Caller::Codex => claude_code::read(&object),
            Caller::Cursor => cursor::read(&object),
            Caller::HermesAgent => hermes_agent::read(&object),
        }?;
        let is_check = object.get(MARK).and_then(Value::as_bool) == Some(true);
        Some(Event { is_check, ..event })
    }

    /// The answer in the form of this agent; none where it wants nothing.
    pub fn answer(self, event: &Event, context: Option<&str>) -> Option<Value> {
        match self {
            Caller::ClaudeCode | Caller::Codex => claude_code::answer(event, context),
            Caller::Cursor => cursor::answer(event, context),
            Caller::HermesAgent => hermes_agent::answer(context),
        }
    }
}

/// What the event means for a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A session begins or goes on: what is always known.
    Start,
    /// The user said something: what belongs to it.
    Prompt,
    /// The agent answered, and may go on.
    Answer,
    /// The turn is over.
    Stop,
    /// The session is over.
    End,
    /// Nothing to do.
    Other,
}

/// An event of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// As the agent calls it.
    pub name: String,
    /// What it means for a memory.
    pub moment: Moment,
    /// The session, as the agent calls it.
    pub session: Option<String>,
    /// Which turn of the session.
    pub turn: Option<String>,
    /// The folder in which the agent works.
    pub folder: Option<PathBuf>,
    /// What the user said.
    pub prompt: Option<String>,
    /// What the agent answered.
    pub answer: Option<String>,
    /// Where the agent writes down what is said.
    pub transcript: Option<PathBuf>,
    /// Whether it is of a part of the agent that works for the agent: nobody's words.
    pub is_inner: bool,
    /// Whether it must leave no trace.
    pub is_check: bool,
}

impl Event {
    /// An event that says nothing more.
    pub fn new(name: &str, moment: Moment) -> Event {
        Event {
            name: name.to_owned(),
            moment,
            session: None,
            turn: None,
            folder: None,
            prompt: None,
            answer: None,
            transcript: None,
            is_inner: false,
            is_check: false,
        }
    }
}

/// A text that says something.
pub fn text(object: &Map<String, Value>, key: &str) -> Option<String> {
    let said = object.get(key)?.as_str()?;
    Some(said.to_owned()).filter(|said| !said.trim().is_empty())
}
