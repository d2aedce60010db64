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
