//! What was read, what was left out on purpose, and what could not be read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

/// How many problems are named; the rest are counted.
pub const MOST_PROBLEMS: usize = 20;

/// What an import found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Files that were read.
    pub files: u64,
    /// Conversations with something to take in.
    pub sessions: u64,
    /// Messages with words.
    pub messages: u64,
    /// Facts.
    pub facts: u64,
    /// Files that stand for themselves.
    pub notes: u64,
    /// Skills.
    pub skills: u64,
    /// The time of the first message.
    pub first: Option<Timestamp>,
    /// The time of the last message.
    pub last: Option<Timestamp>,
    /// What was left out on purpose, by kind.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// The first things that could not be read.
    pub problems: Vec<Problem>,
    /// How many more there are.
    pub more_problems: u64,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; none where the whole file is meant.
    pub line: Option<u64>,
    /// What is wrong.
    pub reason: String,
}

/// What is left out on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftOut {
    /// The instructions of the program.
    SystemPrompts,
    /// Text that the program put into a message: reminders, environment, instructions.
    InjectedContext,
    /// What a model thought, readable or not.
    Reasoning,
    /// Remarks of the program about itself.
    Remarks,
    /// Summaries that a program wrote in the place of messages.
    Summaries,
    /// The work of agents that another conversation sent.
    Subagents,
    /// Begun by a schedule, not by a person.
    Scheduled,
    /// Said in groups, where nothing tells whose words they are.
    Groups,
    /// Messages that are hidden or were taken back.
    Hidden,
    /// Answers that were replaced by others.
    OtherBranches,
    /// What is in several files.
    Repeated,
    /// Pictures and other attachments.
    Attachments,
    /// Older than asked for.
    Older,
    /// About other projects than asked for.
    OtherProjects,
    /// Links to somewhere else.
    Links,
    /// Files that no import reads.
    OtherFiles,
}

impl LeftOut {
    /// The kind as people read it.
    pub fn title(self) -> &'static str {
        match self {
            LeftOut::SystemPrompts => "system prompts",
            LeftOut::InjectedContext => "injected context",
            LeftOut::Reasoning => "reasoning",
            LeftOut::Remarks => "notices of the program",
            LeftOut::Summaries => "summaries",
            LeftOut::Subagents => "subagents",
            LeftOut::Scheduled => "scheduled runs",
            LeftOut::Groups => "group chats",
            LeftOut::Hidden => "hidden or undone",
            LeftOut::OtherBranches => "other branches",
            LeftOut::Repeated => "repeated",
            LeftOut::Attachments => "attachments",
            LeftOut::Older => "older",
            LeftOut::OtherProjects => "other projects",
            LeftOut::Links => "links",
            LeftOut::OtherFiles => "other files",
        }
    }
}

impl Tally {
    /// Whether something could not be read.
    pub fn is_partial(&self) -> bool {
        !self.problems.is_empty()
    }

    pub(crate) fn leave(&mut self, kind: LeftOut, count: u64) {
        if count > 0 {
            *self.left_out.entry(kind).or_default() += count;
        }
    }

    pub(crate) fn problem(&mut self, file: &Path, line: Option<u64>, reason: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            let reason = reason.into();
            self.problems.push(Problem { file: file.to_owned(), line, reason });
        } else {
            self.more_problems += 1;
        }
    }

    pub(crate) fn saw(&mut self, at: Timestamp) {
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }
}
