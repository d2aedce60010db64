//! The agent's hands: reading, writing and searching files, and running commands.

mod arguments;
mod change;
mod confining;
mod find;
mod output;
mod patch;
mod read;
mod terminal;
mod tools;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hermes_home::Home;
use hermes_home::config::{Agent, Checkpoints};
use hermes_home::env::Env;
use hermes_home::secret::Secrets;
use hermes_llm::chat::Tool;
use jiff::Timestamp;
use serde_json::Value;

use crate::approval::Rules;
use crate::checkpoint::{Keeper, Limits, Store};
use crate::error::Result;
use crate::fence::Fence;
use crate::toolbox::{Ask, Call, Outcome};
use confining::Confining;
use output::{refused, short};

/// What a model can do with files and commands, as far as rules and the person let it.
#[derive(Debug)]
pub struct Hands {
    fence: Fence,
    rules: Rules,
    timeout: Duration,
    output_cap: usize,
    /// What a command finds in its environment.
    environment: Vec<(String, String)>,
    keeper: Option<Keeper>,
    cancel: Arc<AtomicBool>,
    /// What keeps commands inside of their folders; none: nothing does.
    confining: Option<Confining>,
}

/// What hands are made of.
pub struct Setup<'a> {
    /// The home, whose files are out of reach.
    pub home: &'a Home,
    /// Where relative paths begin and commands are run.
    pub working: &'a Path,
    /// What the settings say about the agent.
    pub agent: &'a Agent,
    /// What the settings say about checkpoints.
    pub checkpoints: &'a Checkpoints,
    /// The environment, of which commands get what is no secret.
    pub env: &'a Env,
    /// The session that checkpoints belong to.
    pub session: &'a str,
    /// The program that puts up walls around commands, this one itself; none: there are no walls.
    pub launcher: Option<&'a Path>,
    /// Set from elsewhere to end what is being done.
    pub cancel: Arc<AtomicBool>,
    /// When the session begins or goes on.
    pub now: Timestamp,
}

/// The names of the tools, in their order.
pub const NAMES: [&str; 6] = ["read_file", "write_file", "patch", "list_files", "grep", "terminal"];

impl Hands {
    /// Hands for one session.
    pub fn new(setup: &Setup<'_>) -> Result<Hands> {
        let Setup { home, agent, env, .. } = *setup;
        let expand = |text: &String| hermes_home::layout::expand_tilde(text, env);
        let others = agent.folders.iter().map(expand).collect::<Result<Vec<PathBuf>, _>>()?;
        let fence = Fence::new(home, setup.working, &others)?;
        let mut write_below = Vec::new();
        for text in &agent.write_below {
            let folder = fence.working().join(expand(text)?);
            // One that is not there lets nothing pass.
            write_below.extend(folder.canonicalize().ok());
        }
        let mut rules = Rules::new(&agent.allow, &agent.deny, write_below);
        rules.network.clone_from(&agent.network);
        let store = || Store::new(home, Limits::from(setup.checkpoints));
        let keeper =
            setup.checkpoints.enabled.then(|| Keeper::new(store(), setup.session, setup.now));
        Ok(Hands {
            fence,
            rules,
            timeout: Duration::from_secs(u64::from(agent.timeout_s)),
            output_cap: agent.output_cap as usize,
            environment: environment(home, env),
            keeper,
            cancel: Arc::clone(&setup.cancel),
            confining: setup.launcher.filter(|_| agent.confine).map(Confining::new),
        })
    }

    /// A turn begins: what is kept from now on belongs to it.
    pub fn begin(&mut self, turn: u32, now: Timestamp) {
        if let Some(keeper) = &mut self.keeper {
            keeper.begin(turn, now);
        }
    }

    /// The working folder, without links.
    pub fn folder(&self) -> &Path {
        self.fence.working()
    }

    /// The fence around what may be touched.
    pub fn fence(&self) -> &Fence {
        &self.fence
    }

    /// What keeps the states of files; none where the settings say so.
    pub fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// What is allowed and forbidden, with what was answered with `always`.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether a tool is one of these.
    pub fn has(name: &str) -> bool {
        NAMES.contains(&name)
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

impl Hands {
    /// The descriptions of the tools, always in the same order.
    pub fn tools(&self) -> Vec<Tool> {
        tools::tools()
    }

    /// One line that says what a call would do.
    pub fn describe(&self, call: &Call) -> String {
        let text = |name: &str| match call.input.get(name).and_then(Value::as_str) {
            Some(text) => short(text, 80),
            None => "?".to_owned(),
        };
        let place =
            |name: &str| if call.input.get(name).is_some() { text(name) } else { ".".to_owned() };
        match call.name.as_str() {
            "read_file" => format!("read {}", text("path")),
            "write_file" => format!("write {}", text("path")),
            "patch" => format!("patch {}", text("path")),
            "list_files" => format!("list {}", place("path")),
            "grep" => format!("search for {} in {}", text("pattern"), place("path")),
            "terminal" => format!("run {}", text("command")),
            name => format!("call {}", short(name, 80)),
        }
    }

    /// Carries a call out; a bad one is an outcome too.
    pub fn call(&mut self, call: &Call, ask: &mut Ask<'_>) -> Outcome {
        let outcome = match call.name.as_str() {
            "read_file" => self.read_file(call),
            "write_file" => self.write_file(call, ask),
            "patch" => self.patch(call, ask),
            "list_files" => self.list_files(call),
            "grep" => self.grep(call),
            "terminal" => self.terminal(call, ask),
            name => {
                Err(refused(format!("there is no tool {name:?}; there is {}", NAMES.join(", "))))
            }
        };
        outcome.unwrap_or_else(|refusal| refusal)
    }
}

/// The environment of commands: what is no secret by its name or value, and in no file of secrets.
fn environment(home: &Home, env: &Env) -> Vec<(String, String)> {
    let secrets = Secrets::read(home).unwrap_or_default();
    let hidden: Vec<&str> = secrets.names().collect();
    env.iter()
        .filter(|(name, value)| !hidden.contains(name) && !is_secret(name, value))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn is_secret(name: &str, value: &str) -> bool {
    const PARTS: [&str; 10] = [
        "TOKEN",
        "SECRET",
        "PASSW",
        "PASSPHRASE",
        "CREDENTIAL",
        "APIKEY",
        "DATABASE_URL",
        "CONNECTION_STRING",
        "WEBHOOK",
        "BEARER",
    ];
    let name = name.to_uppercase();
    let has_password = value.split_once("://").is_some_and(|(_, rest)| {
        let host = rest.split('/').next().unwrap_or_default();
        host.split_once('@').is_some_and(|(user, _)| user.contains(':'))
    });
    has_password
        || PARTS.iter().any(|part| name.contains(part))
        || name.split('_').any(|part| part == "KEY" || part == "KEYS")
}

#[cfg(test)]
mod tests;
