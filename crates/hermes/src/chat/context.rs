//! What is in the window now, with what each part costs.

use hermes_agent::prompt::Section;
use hermes_agent::window::Filled;
use hermes_memory::retrieval;
use serde::Serialize;

use super::Conversation;

/// The window as a table.
#[derive(Debug, Serialize)]
pub(crate) struct ContextTable {
    /// The sections of the system prompt.
    pub(crate) sections: Vec<Section>,
    /// What the tools cost.
    pub(crate) tool_tokens: usize,
    /// The turns, the summary and what was recalled for them.
    pub(crate) window: Filled,
    /// What all of it costs.
    pub(crate) tokens: usize,
    /// What was recalled last and why, and what was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

impl Conversation {
    /// What is in the window now; the same struct that feeds the model.
    pub(crate) fn context_table(&self) -> ContextTable {
        let window = self.window.filled();
        let tool_tokens = self.tools.tokens();
        ContextTable {
            sections: self.prompt.sections.clone(),
            tool_tokens,
            tokens: self.prompt.tokens() + tool_tokens + window.used,
            window,
            why: self.last_recall.as_ref().map(|given| retrieval::why(&given.context)),
        }
    }
}
