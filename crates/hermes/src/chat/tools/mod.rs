//! What a model may call in a conversation: memory, past sessions, skills, files and commands.

mod memory;
pub(crate) mod sessions;
mod skills;

use hermes_agent::toolbox::{Ask, Call, Outcome, Toolbox};
use hermes_home::tokens;
use hermes_llm::chat::Tool;
use hermes_store::sessions::SessionId;
use jiff::tz::TimeZone;

use super::Opening;
use crate::app::App;
use crate::clock;
use crate::desk::Asker;
use crate::desk::search::Answer;
use crate::output::one_line;
use crate::server::pool::Seat;

/// The tools of one conversation.
pub(crate) struct Tools {
    /// The settings, the home and the opened memory, for the tools alone.
    pub(crate) seat: Seat,
    asker: Asker,
    session: SessionId,
    /// Whether something was read in this turn that others may have written.
    has_read_outside: bool,
    /// How often the memory refused in this turn.
    memory_failures: u32,
}

impl Tools {
    /// The tools for a conversation.
    pub(crate) fn new(
        app: App,
        asker: &Asker,
        session: &SessionId,
        _opening: &Opening,
    ) -> anyhow::Result<Tools> {
        Ok(Tools {
            seat: Seat::alone(app)?,
            asker: asker.clone(),
            session: session.clone(),
            has_read_outside: false,
            memory_failures: 0,
        })
    }

    /// A turn begins.
    pub(crate) fn begin_turn(&mut self) {
        self.seat.app.now = clock::now();
        self.has_read_outside = false;
        self.memory_failures = 0;
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
        let mut all = vec![memory::tool(), sessions::tool()];
        all.extend(skills::tools());
        all
    }

    fn describe(&self, call: &Call) -> String {
        match call.name.as_str() {
            memory::NAME => memory::describe(&call.input),
            sessions::NAME => sessions::describe(&call.input),
            name => skills::describe(name, &call.input),
        }
    }

    fn call(&mut self, call: &Call, ask: &mut Ask<'_>) -> Outcome {
        match call.name.as_str() {
            memory::NAME => memory::call(self, &call.input, ask),
            sessions::NAME => sessions::call(self, &call.input),
            skills::LIST | skills::VIEW | skills::MANAGE => {
                skills::call(self, &call.name, &call.input, ask)
            }
            name => Outcome::failed(&format!("there is no tool {name}")),
        }
    }
}

/// What a search found, a line each.
fn lines_of(answer: &Answer, zone: &TimeZone) -> String {
    let mut lines: Vec<String> = Vec::new();
    for hit in &answer.results {
        let at = hit.at.map(|at| clock::minute(at, zone)).unwrap_or_default();
        let outdated = hit.superseded_by.as_ref().map(|by| format!(" [superseded by {by}]"));
        let place = [Some(at), hit.session_id.clone()].into_iter().flatten();
        let place: Vec<String> = place.filter(|part| !part.is_empty() && *part != hit.id).collect();
        lines.push(format!(
            "{} ({}){}: {}",
            hit.id,
            place.join(", "),
            outdated.unwrap_or_default(),
            one_line(&hit.snippet, 300)
        ));
    }
    if lines.is_empty() {
        lines.push("nothing found".to_owned());
    }
    lines.extend(answer.notes.iter().map(|note| format!("({note})")));
    lines.join("\n")
}
