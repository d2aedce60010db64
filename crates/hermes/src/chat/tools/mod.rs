//! What a model may call in a conversation: memory, past sessions, skills, files and commands.

use hermes_agent::toolbox::{Ask, Call, Outcome, Toolbox};
use hermes_home::tokens;
use hermes_llm::chat::Tool;
use hermes_store::sessions::SessionId;

use super::Opening;
use crate::app::App;
use crate::desk::Asker;
use crate::server::pool::Seat;

/// The tools of one conversation.
pub(crate) struct Tools {
    /// The settings, the home and the opened memory, for the tools alone.
    pub(crate) seat: Seat,
    asker: Asker,
    session: SessionId,
}

impl Tools {
    /// The tools for a conversation.
    pub(crate) fn new(
        app: App,
        asker: &Asker,
        session: &SessionId,
        _opening: &Opening,
    ) -> anyhow::Result<Tools> {
        Ok(Tools { seat: Seat::alone(app)?, asker: asker.clone(), session: session.clone() })
    }

    /// What the descriptions of the tools cost.
    pub(crate) fn tokens(&self) -> usize {
        let cost = |tool: &Tool| {
            tokens::estimate(&tool.description) + tokens::estimate(&tool.parameters.to_string())
        };
        self.tools().iter().map(cost).sum()
    }
}

impl Toolbox for Tools {
    fn tools(&self) -> Vec<Tool> {
        Vec::new()
    }

    fn describe(&self, call: &Call) -> String {
        call.name.clone()
    }

    fn call(&mut self, call: &Call, _ask: &mut Ask<'_>) -> Outcome {
        let _ = (&self.asker, &self.session);
        Outcome::failed(&format!("there is no tool {}", call.name))
    }
}
