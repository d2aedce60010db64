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
pub(crate) struct Checked {
    pub(crate) agent: Agent,
    pub(crate) part: Part,
    pub(crate) command: String,
    pub(crate) ok: bool,
    pub(crate) milliseconds: u64,
    pub(crate) says: String,
}

/// The mark of an event that must leave no trace.
pub(crate) const MARK: &str = "hermes_check";
/// The session that such an event says it is of.
pub(crate) const SESSION: &str = "hermes-check";

/// How long a hook may take at most, and a server to its first answer.
const HOOK_LIMIT: Duration = Duration::from_secs(1);
const SERVER_LIMIT: Duration = Duration::from_secs(5);

/// Runs every command of ours in the files of an agent, each once.
pub(crate) fn run(agent: Agent, site: &Site) -> Vec<Checked> {
    let mut seen: Vec<Vec<String>> = Vec::new();
    let mut results = Vec::new();
    for target in agent.targets(site) {
        let Content::Pieces { format, .. } = target.content else { continue };
        let text = plan::read(&target.path).ok().flatten().unwrap_or_default();
        let value = edit::read(format, &text).unwrap_or_default();
        for words in ours::commands(&value) {
            if !seen.contains(&words) {
                results.push(check(agent, &words, site));
                seen.push(words);
            }
        }
    }
    results
}

fn check(agent: Agent, words: &[String], site: &Site) -> Checked {
    let part = if words.iter().any(|word| word == "hook") { Part::Hooks } else { Part::Mcp };
    let begun = Instant::now();
    let said = match part {
        Part::Hooks => ask_hook(words, &event(agent, site)),
        Part::Mcp => ask_server(words),
    };
    let milliseconds = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (ok, says) = match said {
        Ok(says) => (true, says),
        Err(why) => (false, why),
    };
    Checked { agent, part, command: words.join(" "), ok, milliseconds, says }
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

fn ask_hook(words: &[String], event: &Value) -> Result<String, String> {
    let mut child = start(words)?;
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
            let answer = serde_json::from_str::<Value>(&text);
            if !text.trim().is_empty() && answer.is_err() {
                return Err("its answer is not JSON".to_owned());
            }
            Ok(format!("answered with {} characters", text.chars().count()))
        }
        Ok(status) => Err(format!("it ended with {status}")),
        Err(error) => Err(error.to_string()),
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
        Some(name) => Ok(format!("the server {name} answered")),
        None => Err("the server did not answer".to_owned()),
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
