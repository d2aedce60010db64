//! The command tree. One file for each noun.

pub(crate) mod alone;
pub(crate) mod backup;
mod chat;
mod checkpoint;
mod claw;
mod config;
pub(crate) mod dashboard;
mod db;
mod demo;
pub(crate) mod doctor;
mod forget;
mod handover;
pub(crate) mod help;
mod hook;
mod import;
pub(crate) mod init;
mod integrate;
mod jobs;
mod logs;
mod mcp;
pub(crate) mod memory;
mod model;
pub(crate) mod one_of;
mod paths;
mod profile;
mod reference;
mod run;
mod service;
mod sessions;
mod shell;
pub(crate) mod skills;
mod soul;
mod start;
mod status;
mod stop;
mod token;
pub(crate) mod unknown;
mod user;
pub(crate) mod views;

use crate::terminal::{Global, Terminal};

use std::ffi::OsString;

use clap::{FromArgMatches as _, Parser, Subcommand};
use hermes_backup::restore;

use crate::failure::Outcome;

/// Persistent memory for AI agents, in one binary.
///
/// Hermes stores what your agent should know tomorrow: a persona and facts in Markdown files
/// you can edit, and every conversation in a database you can search, export and prune. A daemon
/// extracts facts and lessons from conversations, and summarises old ones.
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Chat with a model that remembers you
    Chat(chat::Arguments),
    /// Run one task with the agent, and report the result
    Run(run::Arguments),
    /// Store an entry that every session loads
    ///
    /// The same as `hermes memory add`.
    Add(memory::change::Add),
    /// Search the memory and all conversations
    #[command(after_help = memory::search::EVERYWHERE)]
    Search(memory::search::Arguments),
    /// Print the context that a model gets for a task
    ///
    /// The same as `hermes memory context`.
    Context(memory::context::Arguments),
    /// Forget facts, by id or by words
    ///
    /// Lists the facts that match the words and asks before it forgets them. No answer uses a
    /// forgotten fact; `hermes memory fact restore` restores it.
    #[command(after_help = forget::EXAMPLES)]
    Forget(forget::Arguments),
    /// Create and check the home, and start the daemon
    ///
    /// Creates the home if it is missing. The daemon runs in the background.
    Start(start::Arguments),
    /// Open the dashboard in a browser
    Dashboard(dashboard::Arguments),
    /// Stop the daemon
    Stop,
    /// Restart the daemon
    Restart,
    /// Show the state of the daemon, its jobs and schedules
    Status(status::Arguments),
    /// Print the daemon's log
    Logs(logs::Arguments),
    /// List, run and retry background jobs
    #[command(subcommand, visible_alias = "job")]
    Jobs(jobs::Command),
    /// Start the daemon automatically when the machine starts
    #[command(subcommand)]
    Service(service::Command),
    /// Create a home: folders, example files, an empty session database
    Init(init::Arguments),
    /// Print the paths of all files and folders of the home
    Paths,
    /// Check everything, and name the command that repairs each problem
    Doctor(doctor::Arguments),
    /// Manage profiles; each is a complete home of its own
    #[command(subcommand)]
    Profile(profile::Command),
    /// Hand over goals, decisions, open points and facts from one profile to another; both record it
    Handover(handover::Arguments),
    /// Read and change settings
    #[command(subcommand)]
    Config(config::Command),
    /// Read and change the memory: MEMORY.md and USER.md, facts, conversations, the context for a task
    #[command(subcommand)]
    Memory(memory::Command),
    /// Manage the memory database: a file, or a PostgreSQL server that several machines share
    #[command(subcommand)]
    Db(db::Command),
    /// Import histories and memories of other programs
    ///
    /// Knows Claude Code, Codex, ChatGPT, Claude.ai and more.
    #[command(subcommand)]
    Import(import::Command),
    /// Migrate from OpenClaw
    #[command(subcommand)]
    Claw(claw::Command),
    /// List and test chat models, and show what each is used for
    #[command(subcommand)]
    Model(model::Command),
    /// Show and edit the persona in SOUL.md
    #[command(subcommand)]
    Soul(soul::Command),
    /// Manage skills: descriptions of how to do a kind of task, in folders with a SKILL.md
    #[command(subcommand, visible_alias = "skill")]
    Skills(skills::Command),
    /// List, read, search, export, import and prune conversations
    #[command(subcommand, visible_alias = "session")]
    Sessions(sessions::Command),
    /// List and restore checkpoints: files as they were before the agent changed them
    #[command(subcommand, visible_alias = "checkpoints")]
    Checkpoint(checkpoint::Command),
    /// Create, verify, send, restore and test encrypted backups
    #[command(subcommand, visible_alias = "backups")]
    Backup(backup::Command),
    /// Connect Claude Code, Codex, Cursor and other agents
    ///
    /// Knows Claude Code, Codex, Cursor, OpenClaw, Hermes Agent, goose, opencode, VS Code and Zed.
    Integrate(integrate::Arguments),
    /// Handle one event of an agent; `hermes integrate` sets it up
    Hook(hook::Arguments),
    /// Manage the users of the agent, their channel accounts and time zones
    #[command(subcommand, visible_alias = "users")]
    User(user::Command),
    /// Run an MCP server on standard input and output, for one agent
    Mcp(mcp::Arguments),
    /// Manage tokens for the HTTP API
    #[command(subcommand, visible_alias = "tokens")]
    Token(token::Command),
    /// Print a completion script for your shell
    Completions(shell::Completions),
    /// Print the manual page, or write all manual pages to a folder
    Man(shell::Man),
    /// Explain a command, or list all commands
    Help(help::Arguments),
    /// Create a demo home with half a year of an invented person's memory
    Demo(demo::Arguments),
    /// Print a reference page in Markdown
    #[command(hide = true)]
    Reference(reference::Arguments),
}

/// Understands a command line, beginning with the name of the program.
pub(crate) fn parse(
    words: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<Cli, clap::Error> {
    let mut command = help::command();
    let matches = command.try_get_matches_from_mut(words)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> anyhow::Result<Outcome> {
    carry_out(cli.command, &mut Terminal::new(cli.global))
}

/// Runs a command given as words, on what is open already.
pub(crate) fn run_words(words: &[&str], app: &mut Terminal) -> anyhow::Result<Outcome> {
    let parsed = parse(std::iter::once("hermes").chain(words.iter().copied()))?;
    carry_out(parsed.command, app)
}

fn carry_out(command: Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    see_to_cut_off_restore(&command, app)?;
    match command {
        Command::Chat(arguments) => chat::run(arguments, app),
        Command::Run(arguments) => run::run(arguments, app),
        Command::Add(arguments) => memory::run(memory::Command::Add(arguments), app),
        Command::Search(arguments) => memory::search::everywhere(arguments, app),
        Command::Context(arguments) => memory::run(memory::Command::Context(arguments), app),
        Command::Forget(arguments) => forget::run(&arguments, app),
        Command::Help(arguments) => help::run(&arguments, app),
        Command::Start(arguments) => start::run(&arguments, app),
        Command::Dashboard(arguments) => dashboard::run(&arguments, app),
        Command::Stop => stop::stop(app),
        Command::Restart => stop::restart(app),
        Command::Status(arguments) => status::run(&arguments, app),
        Command::Logs(arguments) => logs::run(&arguments, app),
        Command::Jobs(command) => jobs::run(&command, app),
        Command::Db(command) => db::run(&command, app),
        Command::Service(command) => service::run(&command, app),
        Command::Init(arguments) => init::run(&arguments, app),
        Command::Paths => paths::run(app),
        Command::Doctor(arguments) => doctor::run(&arguments, app),
        Command::Profile(command) => profile::run(command, app),
        Command::Handover(arguments) => handover::run(&arguments, app),
        Command::Config(command) => config::run(command, app),
        Command::Memory(command) => memory::run(command, app),
        Command::Import(command) => import::run(&command, app),
        Command::Claw(command) => claw::run(&command, app),
        Command::Model(command) => model::run(&command, app),
        Command::Soul(command) => soul::run(&command, app),
        Command::Skills(command) => skills::run(&command, app),
        Command::Sessions(command) => sessions::run(command, app),
        Command::Checkpoint(command) => checkpoint::run(&command, app),
        Command::Backup(command) => backup::run(&command, app),
        Command::Integrate(arguments) => integrate::run(&arguments, app),
        Command::Hook(arguments) => hook::run(&arguments, app),
        Command::User(command) => user::run(&command, app),
        Command::Mcp(arguments) => mcp::run(&arguments, app),
        Command::Token(command) => token::run(&command, app),
        Command::Completions(arguments) => shell::completions(&arguments, app),
        Command::Man(arguments) => shell::man(&arguments, app),
        Command::Demo(arguments) => demo::run(&arguments, app),
        Command::Reference(arguments) => reference::run(&arguments, app),
    }
}

/// Half of a home is not taken for one: what makes homes undoes a restore that was cut off, and all else refuses.
fn see_to_cut_off_restore(command: &Command, app: &Terminal) -> anyhow::Result<()> {
    // Where there is no home to look for, the command says so itself.
    let Ok(root) = app.root_home() else { return Ok(()) };
    match command {
        // These need no home, end what stands in the way, see to it themselves, or must not fail.
        Command::Completions(_) | Command::Man(_) | Command::Reference(_) | Command::Help(_) => {
            Ok(())
        }
        Command::Demo(_) | Command::Stop | Command::Hook(_) => Ok(()),
        Command::Backup(backup::Command::Restore(_)) => Ok(()),
        Command::Start(_) | Command::Restart | Command::Init(_) => {
            if restore::undo_cut_off(&root, app.now)? {
                app.out.note("an interrupted restore of this home was undone");
            }
            Ok(())
        }
        _ => Ok(restore::must_not_be_cut_off(&root)?),
    }
}
