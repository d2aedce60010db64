//! What is asked before a change, and what rules already say about it.

mod danger;
mod options;
mod rules;
mod shell;

use std::path::PathBuf;

pub use rules::{Decision, Rules, Ruling};
pub(crate) use rules::{folders_of, only_reads};

/// What is about to happen, as it is shown to the person: exactly this is done, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What sort of change it is.
    pub kind: Kind,
    /// One line: `write src/main.rs`.
    pub title: String,
    /// All of it: the difference of a file, or the command.
    pub detail: String,
    /// The folder it happens in.
    pub folder: PathBuf,
    /// What the answer `always` would cover for the rest of the session; none: it cannot be given.
    pub always: Option<String>,
    /// What may be edited before it is done; none: nothing.
    pub editable: Option<String>,
    /// What keeps a command inside of its folders and from the network, in one line; none: it is no command.
    pub confinement: Option<String>,
}

/// What sort of change is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file is written.
    Write,
    /// A command is run.
    Run,
    /// Something that is remembered is taken away.
    Forget,
    /// A skill is made or changed.
    Skill,
}

/// What the person answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// This time.
    Once,
    /// This and its like for the rest of the session.
    Always,
    /// This time, with another text.
    Edited(String),
    /// No, and perhaps why.
    No {
        /// What the model is told.
        reason: Option<String>,
    },
}
