//! What background work asks of a model, without knowing which model it is.

use crate::Result;

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What the model is to do, the same for every call of one kind.
    pub system: String,
    /// What it is to do it with.
    pub user: String,
    /// The longest answer, in tokens.
    pub max_tokens: u32,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its words.
    pub text: String,
    /// The model that answered.
    pub model: String,
}

/// Asks a model; what it costs is counted, and a spent allowance refused, by whoever hands this in.
pub type Ask<'a> = dyn FnMut(&Prompt) -> Result<Reply> + 'a;

/// Models like to put JSON in a block of code.
pub(crate) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    inside.and_then(|rest| rest.trim_end().strip_suffix("```")).unwrap_or(text).trim()
}
