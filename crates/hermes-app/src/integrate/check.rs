//! Tries what is installed: the very commands in an agent's files, with an event that leaves no trace.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::agents::{Agent, Content, Part};
use super::site::Site;
use super::{edit, ours, plan};

/// What became of one command.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// The agent.
    pub agent: Agent,
    /// The part of it.
    pub part: Part,
    /// What was run.
    pub command: String,
    /// Whether it answered as it should.
    pub ok: bool,
    /// Why it should be written anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<String>,
    /// How long it took.
    pub milliseconds: u64,
    /// What it said.
    pub says: String,
}

impl Checked {
    /// What came of it, for people.
    pub fn told(&self) -> String {
        match &self.outdated {
            None => self.says.clone(),
            Some(why) => {
                let again = format!("`hermes integrate {}` rewrites it", self.agent.name());
                format!("{}; outdated: {why}; {again}", self.says)
            }
        }
    }
}

/// The mark of an event that must leave no trace.
pub const MARK: &str = "hermes_check";
/// The session that such an event says it is of.
pub const SESSION: &str = "hermes-check";

/// How long a hook may take at most, and a server to its first answer.
const HOOK_LIMIT: Duration = Duration::from_secs(3);
const SERVER_LIMIT: Duration = Duration::from_secs(5);

/// Runs every command of ours in the files of an agent, each once, as the agent would run it.
pub fn run(agent: Agent, site: &Site) -> Vec<Checked> {
    let mut seen: Vec<ours::Command> = Vec::new();
    let mut results = Vec::new();
    for target in agent.targets(site) {
        let Content::Pieces { format, .. } = target.content else { continue };
        let text = plan::read(&target.path).ok().flatten().unwrap_or_default();
        let value = edit::read(format, &text).unwrap_or_default();
        for command in ours::commands(&value) {
            if !seen.contains(&command) {
                results.push(check(agent, &command, site));
                seen.push(command);
            }
        }
    }
    results
}

fn check(agent: Agent, command: &ours::Command, site: &Site) -> Checked {
    let part = if command.is_hook() { Part::Hooks } else { Part::Mcp };
    let begun = Instant::now();
    let said = match part {
        Part::Hooks => start_hook(command, site).and_then(|child| {
            let answer = answer_of(child, &event(agent, site))?;
            understood(&answer, site)
        }),
        Part::Mcp => ask_server(&command.words),
    };
    let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (ok, says) = match said {
        Ok(says) => (true, says),
        Err(why) => (false, why),
    };
    let outdated = (part == Part::Hooks).then(|| outdated(command)).flatten();
    let command = command.words.join(" ");
    Checked { agent, part, command, ok, outdated, milliseconds, says }
}

/// What is no longer written like this, and why.
fn outdated(command: &ours::Command) -> Option<String> {
    let is_one_line = command.line.is_some() && !command.has_args;
    if !is_one_line {
        return Some(
            "Claude Code before 2.1.147 ignores `args` and calls the bare program".to_owned(),
        );
    }
    command.is_async.then(|| "background processes are killed when `claude -p` ends".to_owned())
}

/// A question in a session that is not recorded.
fn event(agent: Agent, site: &Site) -> Value {
    match agent {
        Agent::Cursor => json!({
            "hook_event_name": "sessionStart",
            "conversation_id": SESSION,
            "workspace_roots": [site.project],
            MARK: true,
        }),
        _ => json!({
            "hook_event_name": "UserPromptSubmit",
            "session_id": SESSION,
            "cwd": site.project,
            "prompt": "What is known about this project and how we work on it?",
            MARK: true,
        }),
    }
}

/// Starts a hook as an agent does that knows no `args`: its line in a shell, in the folder of the project, and
/// without the variables that only this terminal may have.
fn start_hook(command: &ours::Command, site: &Site) -> Result<Child, String> {
    let Some(line) = &command.line else { return start(&command.words) };
    let mut shell = Command::new("sh");
    shell.args(["-c", line.as_str()]).current_dir(&site.project);
    shell.env("CLAUDE_PROJECT_DIR", &site.project);
    for (name, _) in site.env.iter().filter(|(name, _)| name.starts_with("HERMES_")) {
        shell.env_remove(name);
    }
    shell.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    shell.spawn().map_err(|error| format!("could not start sh: {error}"))
}

/// What a hook answers to an event; an error if it would stand in the agent's way.
fn answer_of(mut child: Child, event: &Value) -> Result<Value, String> {
    let mut input = child.stdin.take().ok_or("it has no standard input")?;
    // One that refuses early closes the pipe; its exit code tells.
    let _ = input.write_all(event.to_string().as_bytes());
    drop(input);
    let output = child.stdout.take().ok_or("it has no standard output")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let _ = BufReader::new(output).read_to_string(&mut text);
        let _ = sender.send(text);
    });
    let text = receiver.recv_timeout(HOOK_LIMIT);
    let Ok(text) = text else {
        end(&mut child);
        return Err(format!("it took longer than {} ms", HOOK_LIMIT.as_millis()));
    };
    match child.wait() {
        Ok(status) if status.success() => {
            let answer = Some(text.trim()).filter(|text| !text.is_empty());
            let answer = answer.map(serde_json::from_str).transpose();
            answer.map(Option::unwrap_or_default).map_err(|_| "its output is not JSON".to_owned())
        }
        // As shells say it.
        Ok(status) if matches!(status.code(), Some(126 | 127)) => {
            Err("could not start: there is no such program, or it cannot be run".to_owned())
        }
        Ok(status) => Err(format!("it exited with {status}")),
        Err(error) => Err(error.to_string()),
    }
}

/// What the answer means: of which home it is, and whether that home can be used.
fn understood(answer: &Value, site: &Site) -> Result<String, String> {
    let about = &answer[MARK];
    let Some(home) = about["home"].as_str() else {
        return Err("it found no home to use".to_owned());
    };
    let whose = match home == site.home.folder().display().to_string() {
        true => String::new(),
        false => format!(" for the home {home}"),
    };
    match about["problem"].as_str() {
        Some(problem) => Err(format!(
            "it responded{whose}, but nothing can be recalled, and turns wait in files: {problem}"
        )),
        None => {
            let length = about["characters"].as_u64().unwrap_or_default();
            Ok(format!("responded with {length} characters{whose}"))
        }
    }
}

fn ask_server(words: &[String]) -> Result<String, String> {
    let mut child = start(words)?;
    let hello = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "hermes integrate --check", "version": env!("CARGO_PKG_VERSION")},
        },
    });
    let mut input = child.stdin.take().ok_or("it has no standard input")?;
    let _ = writeln!(input, "{hello}").and_then(|()| input.flush());
    let output = child.stdout.take().ok_or("it has no standard output")?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = BufReader::new(output).read_line(&mut line);
        let _ = sender.send(line);
    });
    let line = receiver.recv_timeout(SERVER_LIMIT).unwrap_or_default();
    drop(input);
    end(&mut child);
    let answer: Value = serde_json::from_str(&line).unwrap_or_default();
    match answer["result"]["serverInfo"]["name"].as_str() {
        Some(name) => Ok(format!("the server {name} responded")),
        None => Err("the server did not respond".to_owned()),
    }
}

fn start(words: &[String]) -> Result<Child, String> {
    let (program, arguments) = words.split_first().ok_or("there is no command")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map_err(|error| format!("could not start {program}: {error}"))
}

fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
