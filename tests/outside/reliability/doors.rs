//! The ways in which something is told to the program by a command.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::model_server::ModelServer;
use crate::sandbox::Sandbox;
use crate::told::{Kind, answered, asked, fact_of};

/// One way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Turn,
    TurnWithIds,
    Append,
    Fact,
    Entry,
    Hook,
    Chat,
    Mcp,
}

pub(crate) const SESSION: &str = "harbour";

impl Door {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Door::Turn => Kind::Turn,
            Door::Chat => Kind::Conversation,
            Door::TurnWithIds | Door::Hook => Kind::ForeignTurn,
            Door::Append => Kind::Message,
            Door::Fact | Door::Mcp => Kind::Fact,
            Door::Entry => Kind::Entry,
        }
    }

    /// What must be there before.
    pub(crate) fn prepare(self, sandbox: &Sandbox, number: usize) {
        if self == Door::Hook {
            let event = json!({"hook_event_name": "UserPromptSubmit", "session_id": format!("h{number}"),
                "cwd": "/srv", "prompt": asked(number), "prompt_id": format!("p{number}")});
            sandbox.feed(&["hook", "claude-code"], event.to_string().as_bytes());
        }
    }

    fn arguments(self, number: usize) -> Vec<String> {
        let words: &[&str] = match self {
            Door::Turn => &[
                "memory",
                "turn",
                "--session",
                SESSION,
                "--user-text",
                "A",
                "--assistant-text",
                "B",
            ],
            Door::TurnWithIds => &["memory", "turn", "-"],
            Door::Append => &["sessions", "append", SESSION, "--role", "user", "S"],
            Door::Fact => &["memory", "fact", "add", "F"],
            Door::Entry => &["memory", "add", "E"],
            Door::Hook => &["hook", "claude-code"],
            Door::Chat => &["chat", "-q", "A"],
            Door::Mcp => &["mcp"],
        };
        let word = |word: &&str| match *word {
            "A" => asked(number),
            "B" => answered(number),
            "S" => format!("said {number}."),
            "F" => fact_of(number),
            "E" => format!("Drawer {number} is full"),
            other => other.to_owned(),
        };
        words.iter().map(word).collect()
    }

    /// What comes on standard input.
    pub(crate) fn input(self, number: usize) -> String {
        match self {
            Door::TurnWithIds => json!({"from": "my-agent", "session_id": "a1", "messages": [
                {"role": "user", "text": asked(number), "external_id": format!("q{number}")},
                {"role": "assistant", "text": answered(number), "external_id": format!("r{number}")}]})
            .to_string(),
            Door::Hook => json!({"hook_event_name": "Stop", "session_id": format!("h{number}"), "cwd": "/srv",
                "last_assistant_message": answered(number), "prompt_id": format!("p{number}")})
            .to_string(),
            Door::Mcp => mcp_lines(&fact_of(number)),
            _ => String::new(),
        }
    }

    /// The command itself, or another program that runs it.
    pub(crate) fn command(
        self,
        sandbox: &Sandbox,
        model: &ModelServer,
        under: &[String],
        number: usize,
    ) -> Command {
        let arguments = self.arguments(number);
        let program = env!("CARGO_BIN_EXE_hermes").to_owned();
        let all: Vec<&str> =
            under.iter().chain([&program]).chain(&arguments).map(String::as_str).collect();
        let mut command = sandbox.command_of(Path::new(all[0]), &all[1..]);
        if self == Door::Chat {
            model.point(&mut command);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Whether what was printed says that it is kept; a command that ended well does, an MCP server by its answer.
    pub(crate) fn is_kept(self, ended_well: bool, printed: &str) -> bool {
        match self {
            Door::Mcp => printed.contains("\"id\":2") && printed.contains("fact:"),
            _ => ended_well,
        }
    }
}

/// A call of the tool that adds a fact, as lines of JSON.
pub(crate) fn mcp_lines(text: &str) -> String {
    let first = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    format!("{first}\n{ready}\n{}\n", mcp_call(text))
}

pub(crate) fn mcp_call(text: &str) -> serde_json::Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "memory_add", "arguments": {"text": text}}})
}
