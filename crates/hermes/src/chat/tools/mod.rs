//! What a model may call in a conversation: memory, past sessions, skills, files and commands.

mod memory;
pub(crate) mod sessions;
mod skills;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hermes_agent::hands::{Hands, Setup};
use hermes_agent::toolbox::{Ask, Call, Outcome, Toolbox};
use hermes_agent::window::Window;
use hermes_home::config::Agent;
use hermes_home::tokens;
use hermes_llm::chat::Tool;
use hermes_store::sessions::SessionId;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::Opening;
use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::pool::Seat;
use hermes_app::search::Answer;

/// The tools of one conversation.
pub(crate) struct Tools {
    /// The settings, the home and the opened memory, for the tools alone.
    pub(crate) seat: Seat,
    /// Files and commands.
    pub(crate) hands: Hands,
    pub(super) asker: Asker,
    session: SessionId,
    /// How often the memory refused in this turn.
    memory_failures: u32,
}

impl Tools {
    /// The tools for a conversation.
    pub(crate) fn new(
        app: App,
        asker: &Asker,
        session: &SessionId,
        opening: &Opening,
        cancel: &Arc<AtomicBool>,
    ) -> anyhow::Result<Tools> {
        let seat = Seat::alone(app)?;
        let config = &seat.app.config(&seat.home)?.config;
        let hands = Hands::new(&Setup {
            home: &seat.home,
            working: &opening.folder,
            agent: &with_allowed(&config.agent, &opening.allow),
            checkpoints: &config.checkpoints,
            env: &seat.app.env,
            session: session.as_str(),
            launcher: std::env::current_exe().ok().as_deref(),
            cancel: Arc::clone(cancel),
            now: seat.app.now,
        })?;
        Ok(Tools {
            hands,
            asker: asker.clone(),
            session: session.clone(),
            memory_failures: 0,
            seat,
        })
    }

    /// A turn begins.
    pub(crate) fn begin_turn(&mut self, number: usize) {
        let now = clock::now();
        self.seat.app.now = now;
        self.hands.begin(u32::try_from(number).unwrap_or(u32::MAX), now);
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
        all.extend(self.hands.tools());
        all
    }

    fn describe(&self, call: &Call) -> String {
        match call.name.as_str() {
            memory::NAME => memory::describe(&call.input),
            sessions::NAME => sessions::describe(&call.input),
            name if Hands::has(name) => self.hands.describe(call),
            name => skills::describe(name, &call.input),
        }
    }

    fn call(&mut self, call: &Call, window: &Window, ask: &mut Ask<'_>) -> Outcome {
        match call.name.as_str() {
            memory::NAME | sessions::NAME if self.asker.is_unasked() => Outcome::failed(
                "the memory cannot be reached now: go on without it, and say so if it matters",
            ),
            memory::NAME => memory::call(self, &call.input, window, ask),
            sessions::NAME => sessions::call(self, &call.input),
            skills::LIST | skills::VIEW | skills::MANAGE => {
                skills::call(self, &call.name, &call.input, ask)
            }
            name if Hands::has(name) => self.hands.call(call, ask),
            name => Outcome::failed(&format!("there is no tool {name}")),
        }
    }
}

/// Whether what a tool answered, as it was written down, only says what it did: nothing in it was read somewhere.
pub(super) fn only_reports(tool: Option<&str>, answer: &str) -> bool {
    match tool {
        // What it found by searching is no JSON.
        Some(memory::NAME) => matches!(
            serde_json::from_str(answer),
            Ok(Value::Object(told)) if told.contains_key("success")
        ),
        Some(skills::LIST | skills::MANAGE) => true,
        _ => false,
    }
}

/// The settings with what was allowed on the command line: `write FOLDER`, or the first words of a command.
fn with_allowed(agent: &Agent, allow: &[String]) -> Agent {
    let mut agent = agent.clone();
    for rule in allow {
        match rule.trim().strip_prefix("write ") {
            Some(folder) => agent.write_below.push(folder.trim().to_owned()),
            None => agent.allow.push(rule.trim().to_owned()),
        }
    }
    agent
}

/// What a search found, a line each.
fn lines_of(answer: &Answer, zone: &TimeZone) -> String {
    let mut lines: Vec<String> = answer.results.iter().map(|hit| hit.line(zone)).collect();
    if lines.is_empty() {
        lines.push("nothing found".to_owned());
    }
    lines.extend(answer.notes.iter().map(|note| format!("({note})")));
    lines.join("\n")
}
