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
  hermes import auto                             what is on this machine, and the command for each
  hermes import claude-code --dry-run            what would come in
  hermes import chatgpt ~/Downloads/export.zip   shows the plan, then asks
What was imported before adds nothing; the source is only read.")]
pub(crate) enum Command {
    /// List the histories on this machine, with the command for each; changes nothing
    Auto(auto::Arguments),
    /// Transcripts of Claude Code [default: $CLAUDE_CONFIG_DIR, else ~/.claude]
    ClaudeCode(Arguments),
    /// Rollouts of Codex, plain or packed [default: $CODEX_HOME, else ~/.codex]
    Codex(Arguments),
    /// The export of ChatGPT: the zip, its folder, or conversations.json
    Chatgpt(Arguments),
    /// The export of Claude.ai: the zip, its folder, or conversations.json
    ClaudeAi(Arguments),
    /// Memory and sessions of OpenClaw [default: ~/.openclaw]
    Openclaw(Arguments),
    /// Another home of Hermes Agent: what was said in its state.db, and its memory files
    HermesAgent(Arguments),
    /// Memories of Mem0 as JSON: a list, or one with `results`
    Mem0(Arguments),
    /// The memory.jsonl of the MCP reference memory server [default: $MEMORY_FILE_PATH]
    Reference(Arguments),
    /// The memory_store.db of Holographic
    Holographic(Arguments),
    /// A folder of Markdown files, such as an Obsidian vault
    Markdown(Arguments),
    /// JSON lines with role, content and ts
    Jsonl(Arguments),
    /// A file that `hermes memory export` wrote
    Hermes(memory::import::Arguments),
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where it is
    pub(crate) path: Option<PathBuf>,
    /// Only say what would come in
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Only what was said since (2d, 1w, 2026-05-31)
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only about this project: a folder, or its name
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<String>,
    #[command(flatten)]
    pub(crate) whose: Whose,
    /// Replace what looks like a password or a key
    #[arg(long)]
    pub(crate) redact: bool,
    /// Let the model of model.light read it afterwards (shows tokens and cost first)
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
