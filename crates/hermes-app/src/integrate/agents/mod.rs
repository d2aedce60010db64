//! The agents that can be connected: one file for each, with where its files are and what is put in.

pub mod claude_code;
mod codex;
mod cursor;
mod goose;
mod hermes_agent;
mod openclaw;
mod opencode;
mod vscode;
mod zed;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::hermes_agent::PROVIDER;
use super::edit::{Format, Piece};
use super::site::Site;
use crate::problem::Problem;

/// An agent that can be connected.
#[expect(missing_docs, reason = "each is the name of an agent")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    ClaudeCode,
    Codex,
    Cursor,
    Openclaw,
    HermesAgent,
    Goose,
    Opencode,
    Vscode,
    Zed,
}

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The MCP server.
    Mcp,
    /// The hooks.
    Hooks,
}

/// What is put into one file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Pieces among what is there.
    Pieces {
        /// How the file is written.
        format: Format,
        /// What is put in.
        pieces: Vec<Piece>,
    },
    /// The whole file is ours.
    Whole(String),
}

/// One file of an agent and what is put there.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// What it is for.
    pub part: Part,
    /// Where it is.
    pub path: PathBuf,
    /// What is put into it.
    pub content: Content,
}

impl Target {
    fn pieces(part: Part, path: PathBuf, format: Format, pieces: Vec<Piece>) -> Target {
        Target { part, path, content: Content::Pieces { format, pieces } }
    }
}

/// Every agent, in the order of the table.
pub const ALL: &[Agent] = &[
    Agent::ClaudeCode,
    Agent::Codex,
    Agent::Cursor,
    Agent::Openclaw,
    Agent::HermesAgent,
    Agent::Goose,
    Agent::Opencode,
    Agent::Vscode,
    Agent::Zed,
];

impl Agent {
    /// Its name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
            Agent::Cursor => "cursor",
            Agent::Openclaw => "openclaw",
            Agent::HermesAgent => "hermes-agent",
            Agent::Goose => "goose",
            Agent::Opencode => "opencode",
            Agent::Vscode => "vscode",
            Agent::Zed => "zed",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Codex => "Codex",
            Agent::Cursor => "Cursor",
            Agent::Openclaw => "OpenClaw",
            Agent::HermesAgent => "Hermes Agent",
            Agent::Goose => "goose",
            Agent::Opencode => "opencode",
            Agent::Vscode => "VS Code",
            Agent::Zed => "Zed",
        }
    }

    /// Whether it calls us at events, and not only when its model asks.
    pub fn has_hooks(self) -> bool {
        matches!(self, Agent::ClaudeCode | Agent::Codex | Agent::Cursor | Agent::HermesAgent)
    }

    /// The files that connect it, as the site wants them.
    pub fn targets(self, site: &Site) -> Vec<Target> {
        let mut targets = match self {
            Agent::ClaudeCode => claude_code::targets(site),
            Agent::Codex => codex::targets(site),
            Agent::Cursor => cursor::targets(site),
            Agent::Openclaw => openclaw::targets(site),
            Agent::HermesAgent => hermes_agent::targets(site),
            Agent::Goose => goose::targets(site),
            Agent::Opencode => opencode::targets(site),
            Agent::Vscode => vscode::targets(site),
            Agent::Zed => zed::targets(site),
        };
        targets.retain(|target| match target.part {
            Part::Mcp => site.mcp,
            Part::Hooks => site.hooks,
        });
        targets
    }

    /// Whether it is on this machine.
    pub fn is_detected(self, site: &Site) -> bool {
        let (folder, programs): (PathBuf, &[&str]) = match self {
            Agent::ClaudeCode => (claude_code::folder(site), &["claude"]),
            Agent::Codex => (codex::folder(site), &["codex"]),
            Agent::Cursor => (site.user.join(".cursor"), &["cursor", "cursor-agent"]),
            Agent::Openclaw => (openclaw::folder(site), &["openclaw"]),
            Agent::HermesAgent => return hermes_agent::is_detected(site),
            Agent::Goose => (site.settings().join("goose"), &["goose"]),
            Agent::Opencode => (site.settings().join("opencode"), &["opencode"]),
            Agent::Vscode => (vscode::folder(site), &["code", "codium"]),
            Agent::Zed => (zed::folder(site), &["zed", "zeditor"]),
        };
        folder.is_dir() || site.has_program(programs)
    }

    /// Why it cannot be connected.
    pub fn obstacle(self, site: &Site) -> Option<String> {
        if self == Agent::HermesAgent { hermes_agent::obstacle(site) } else { None }
    }

    /// Why hooks must not be installed: a plugin of ours calls them already.
    pub fn plugin(self, site: &Site) -> Option<PathBuf> {
        match self {
            Agent::ClaudeCode => claude_code::plugin(site),
            Agent::Codex => codex::plugin(site),
            _ => None,
        }
    }

    /// What the user should know or do besides.
    pub fn remarks(self, site: &Site) -> Vec<String> {
        let said: &[&str] = match self {
            Agent::ClaudeCode => {
                &["Claude Code deletes transcripts after 30 days: import those that exist with \
                 `hermes import claude-code`"]
            }
            Agent::Codex if site.hooks => {
                &["Codex runs hooks only if you trust them: type /hooks in Codex and trust those \
                     of Hermes"]
            }
            Agent::Cursor if site.hooks && !site.is_project() => &[
                "Cursor uses the output of hooks only in its command line; for the editor, add a \
                 rule: `hermes integrate cursor --scope project` in a project",
            ],
            Agent::HermesAgent if site.hooks => &[
                "the plugin talks to the daemon: keep it running with `hermes start`",
                "restart Hermes Agent to load the plugin",
            ],
            Agent::Openclaw => &["restart the OpenClaw gateway to load it"],
            Agent::Vscode => &["VS Code asks once whether you trust the server"],
            _ => &[],
        };
        said.iter().map(|line| (*line).to_owned()).collect()
    }

    /// The command that does the same by hand, where a file cannot be read.
    pub fn by_hand(self, site: &Site) -> Option<String> {
        (self == Agent::Openclaw).then(|| openclaw::by_hand(site))
    }
}

/// The events of Claude Code and Codex that call us, with the matcher and how many seconds they may take.
pub fn events() -> &'static [(&'static str, Option<&'static str>, u64)] {
    &[
        ("SessionStart", Some("startup|resume|clear|compact"), 5),
        ("UserPromptSubmit", None, 3),
        ("Stop", None, 10),
        ("PreCompact", None, 10),
        ("SessionEnd", None, 3),
    ]
}

/// Whether an agent of this name calls `hermes hook`.
pub fn calls_hooks(name: &str) -> bool {
    let is_it = |agent: &&Agent| agent.name() == name && **agent != Agent::HermesAgent;
    ALL.iter().find(is_it).is_some_and(|agent| agent.has_hooks())
}

/// The agent of a name.
pub fn named(name: &str) -> Result<Agent, Problem> {
    ALL.iter().copied().find(|agent| agent.name() == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|agent| agent.name()).collect();
        Problem::usage(format!("there is no agent {name}"))
            .hint(format!("use one of {}", names.join(", ")))
    })
}
