//! What a conversation shows and asks, whoever sits in front of it.

pub(crate) mod events;
pub(crate) mod plain;
pub(crate) mod terminal;

use hermes_agent::approval::{Request, Verdict};
use hermes_agent::toolbox::{Call, Outcome};
use hermes_app::problem::ErrorText;
use serde::Serialize;

use hermes_app::problem::{self, Kind};

/// What came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Input {
    /// Something was said.
    Line(String),
    /// What was being typed was given up.
    Cancelled,
    /// Nothing more comes.
    End,
}

/// What happens in a conversation.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// A session begins, or is taken up again.
    Began { session: &'a str, model: &'a str, is_resumed: bool },
    /// Something was recalled for a message.
    Recalled { items: usize, tokens: usize },
    /// More words of the answer.
    Text(&'a str),
    /// The words end here, for now or for good.
    TextEnd,
    /// A tool begins.
    ToolBegins { call: &'a Call, describe: &'a str },
    /// A tool has ended.
    ToolEnded { call: &'a Call, outcome: &'a Outcome },
    /// Something is remembered, and was read back.
    Remembered { id: &'a str, text: &'a str, undo: bool },
    /// Something worth a line.
    Notice(&'a str),
    /// What a command printed, with styles.
    Output(&'a str),
    /// Something went wrong; the session goes on.
    Problem(&'a ProblemShown),
    /// A turn is over.
    TurnEnded(&'a Figures),
    /// The session is over.
    Ended { session: &'a str, turns: usize },
}

/// What went wrong, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ProblemShown {
    /// What kind of failure it is.
    pub(crate) kind: Kind,
    /// What went wrong.
    pub(crate) message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<String>,
}

/// The numbers of a turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct Figures {
    /// The model that answered.
    pub(crate) model: String,
    /// Tokens in the window after it.
    pub(crate) window_used: usize,
    /// Tokens the window holds.
    pub(crate) window_size: usize,
    /// How many of them are memory.
    pub(crate) memory_tokens: usize,
    /// Tokens read, and not taken from a cache.
    pub(crate) input_tokens: u64,
    /// Tokens written.
    pub(crate) output_tokens: u64,
    /// Tokens taken from a cache.
    pub(crate) cached_tokens: u64,
    /// US dollars, where the price is known.
    pub(crate) cost: Option<f64>,
    /// Whether the person cancelled it, or it broke off.
    pub(crate) is_cut: bool,
    /// How it ended, in one word.
    pub(crate) ended: &'static str,
}

/// Who sits in front of a conversation.
pub(crate) trait Front {
    /// Waits for what comes in next.
    fn read(&mut self) -> anyhow::Result<Input>;
    /// Shows what happens.
    fn show(&mut self, event: &Event<'_>) -> anyhow::Result<()>;
    /// Asks before a change; no unless somebody says otherwise.
    fn ask(&mut self, request: &Request) -> Verdict;
    /// Asks yes or no; no unless somebody says otherwise.
    fn confirm(&mut self, question: &str, detail: &str) -> bool;
    /// Whether a person is there to be asked.
    fn is_interactive(&self) -> bool;
}

impl ProblemShown {
    /// An error as it is shown.
    pub(crate) fn of(error: &anyhow::Error) -> ProblemShown {
        let ErrorText { kind, message, hint } = problem::told(error);
        ProblemShown { kind, message, hint }
    }
}
