//! hermes import: the histories and memories that people already have

mod auto;
pub(crate) mod bring;
mod places;
mod shown;

use crate::terminal::Terminal;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hermes_import::Source;

use crate::cli::memory;
use crate::cli::memory::whose::Whose;
use crate::failure::Outcome;

#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:
  hermes import auto                             list what is on this machine, with the command for each
  hermes import claude-code --dry-run            show what would be imported
  hermes import chatgpt ~/Downloads/export.zip   show the plan, ask, then import
Items that were imported before are not added again. The source is never changed.")]
pub(crate) enum Command {
    /// List the histories on this machine, with the command that imports each one; changes nothing
    Auto(auto::Arguments),
    /// Import transcripts of Claude Code [default: $CLAUDE_CONFIG_DIR, else ~/.claude]
    ClaudeCode(Arguments),
    /// Import rollouts of Codex, plain or compressed [default: $CODEX_HOME, else ~/.codex]
    Codex(Arguments),
    /// Import the export of ChatGPT: the zip, its folder, or conversations.json
    Chatgpt(Arguments),
    /// Import the export of Claude.ai: the zip, its folder, or conversations.json
    ClaudeAi(Arguments),
    /// Import memory and sessions of OpenClaw [default: ~/.openclaw]
    Openclaw(Arguments),
    /// Import another home of Hermes Agent: its conversations and its memory files
    HermesAgent(Arguments),
    /// Import memories of Mem0 from JSON: a list, or an object with `results`
    Mem0(Arguments),
    /// Import the memory.jsonl of the MCP reference memory server [default: $MEMORY_FILE_PATH]
    Reference(Arguments),
    /// Import the memory_store.db of Holographic
    Holographic(Arguments),
    /// Import a folder of Markdown files, such as an Obsidian vault
    Markdown(Arguments),
    /// Import JSON lines with role, content and ts
    Jsonl(Arguments),
    /// Import a file written by `hermes memory export`
    Hermes(memory::import::Arguments),
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File or folder to import
    pub(crate) path: Option<PathBuf>,
    /// Show what would be imported, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Import only what was said since then (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Import only conversations about this project: a folder, or its name
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// Replace what looks like a password or a key
    #[arg(long)]
    pub(crate) redact: bool,
    /// Afterwards, extract facts with the model of model.light (shows tokens and cost first)
    #[arg(long)]
    pub(crate) with_model: bool,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let (source, arguments) = match command {
        Command::Auto(arguments) => return auto::run(arguments, app),
        Command::Hermes(arguments) => return memory::import::run(arguments, app),
        Command::ClaudeCode(arguments) => (Source::ClaudeCode, arguments),
        Command::Codex(arguments) => (Source::Codex, arguments),
        Command::Chatgpt(arguments) => (Source::ChatGpt, arguments),
        Command::ClaudeAi(arguments) => (Source::ClaudeAi, arguments),
        Command::Openclaw(arguments) => (Source::OpenClaw, arguments),
        Command::HermesAgent(arguments) => (Source::HermesAgent, arguments),
        Command::Mem0(arguments) => (Source::Mem0, arguments),
        Command::Reference(arguments) => (Source::ReferenceMemory, arguments),
        Command::Holographic(arguments) => (Source::Holographic, arguments),
        Command::Markdown(arguments) => (Source::MarkdownFolder, arguments),
        Command::Jsonl(arguments) => (Source::Jsonl, arguments),
    };
    bring::run(source, arguments, app)
}
