//! The tools that a model may call, whoever carries them out.

use hermes_llm::chat::Tool;
use serde_json::Value;

use crate::approval::{Request, Verdict};
use crate::window::Window;

/// What a model asks to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The model's name for this call.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// Its arguments, as the model wrote them.
    pub input: Value,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// For the model.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
    /// One line for the person: `wrote src/main.rs, 12 lines`; none: there is nothing to show.
    pub shown: Option<String>,
    /// Whether the turn ends here: the person said no, or a limit is reached.
    pub ends_turn: bool,
    /// Whether the text for the model holds words that are not the person's own: of files, commands, other sessions.
    pub is_outside: bool,
}

/// How a person is asked.
pub type Ask<'a> = dyn FnMut(&Request) -> Verdict + 'a;

/// The tools a model may call.
pub trait Toolbox {
    /// Their descriptions, always in the same order.
    fn tools(&self) -> Vec<Tool>;
    /// One line that says what a call would do.
    fn describe(&self, call: &Call) -> String;
    /// Carries a call out; a bad one is an outcome too. What the model has in its window says how far it is trusted.
    fn call(&mut self, call: &Call, window: &Window, ask: &mut Ask<'_>) -> Outcome;
}
