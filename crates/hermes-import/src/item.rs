//! What an import hands out: messages, facts, notes and skills, each with what makes it unique where it comes from.

use std::path::PathBuf;
use std::rc::Rc;

use jiff::Timestamp;
use serde_json::Value;

/// One thing that another program keeps.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// Something that was said.
    Message(Message),
    /// Something that is known.
    Fact(Fact),
    /// A file that stands for itself, such as a persona.
    Note(Note),
    /// A folder with a SKILL.md.
    Skill(SkillFolder),
}

/// The conversation that a message belongs to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// Its id in the program it comes from.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// The folder or repository it was about.
    pub project: Option<String>,
    /// The agent that answered.
    pub agent: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// Where it took place.
    pub channel: Option<String>,
    /// Other conversations that may hold the same messages.
    pub kin: Kin,
}

/// The ids of conversations that this one was resumed or forked from, or that were from it.
pub type Kin = Vec<String>;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool that the agent called.
    Tool,
}

impl Role {
    /// The role as it is kept.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        }
    }
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The conversation.
    pub session: Rc<Session>,
    /// What makes it unique in the conversation.
    pub id: String,
    /// Who speaks.
    pub role: Role,
    /// The words; none where tools were called without a word.
    pub text: String,
    /// When.
    pub at: Timestamp,
    /// The tools called, as a JSON list.
    pub tool_calls: Option<Value>,
    /// The call this answers.
    pub tool_call_id: Option<String>,
    /// Whether the tool failed, where that is known.
    pub failed: Option<bool>,
}

/// Something that is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fact {
    /// What makes it unique in the program it comes from.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// What kind of fact, if the program says one we know.
    pub kind: Option<&'static str>,
    /// Whom or what it is about.
    pub subject: Option<String>,
    /// The names it mentions.
    pub names: Vec<String>,
    /// When it was noted, if that is known.
    pub at: Option<Timestamp>,
    /// Until when it holds.
    pub until: Option<Timestamp>,
    /// How sure the program was, from 0 to 1.
    pub confidence: Option<f64>,
}

/// A file that stands for itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Its name, such as `SOUL.md`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// A folder with a SKILL.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillFolder {
    /// The name of the folder.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
}
