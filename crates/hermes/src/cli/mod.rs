//! The command tree. One file for each noun.

pub(crate) mod backup;
mod chat;
mod checkpoint;
mod claw;
mod config;
pub(crate) mod dashboard;
mod db;
mod demo;
pub(crate) mod doctor;
mod handover;
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
mod user;
pub(crate) mod views;

use crate::terminal::{Global, Terminal};

use clap::{Parser, Subcommand};
use hermes_backup::restore;

use crate::failure::Outcome;

/// Persistent memory for AI agents, in one binary.
///
/// Hermes keeps what your agent should know tomorrow: a persona and facts in Markdown files
/// you can edit, and every conversation in a database you can search, export and prune. A daemon
/// draws facts and lessons from what was said, and lets summaries stand for what is old.
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    arg_required_else_help = true,
    after_help = "Examples:
  hermes start                                   make the home, see what is ready, leave the daemon running
  hermes chat                                    talk with a model that remembers you
  hermes memory add \"Prefers short answers\"      keep a fact for every session
  hermes sessions search \"what about the deploy\" find what was said
  hermes doctor                                  check everything, with the command that repairs"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Talk with a model that remembers you
    Chat(chat::Arguments),
    /// Let the agent do one task, and say how it went
    Run(run::Arguments),
    /// Make the home if it is missing, check it, say what is ready, and leave the daemon running
    Start(start::Arguments),
    /// Look at everything that is remembered, in a browser
    Dashboard(dashboard::Arguments),
    /// End the daemon
    Stop,
    /// End the daemon and start it again
    Restart,
    /// The daemon, its jobs and schedules
    Status(status::Arguments),
    /// What the daemon wrote down
    Logs(logs::Arguments),
    /// Background work: list it, do it now, try it again
    #[command(subcommand, visible_alias = "job")]
    Jobs(jobs::Command),
    /// Start the daemon with the machine
    #[command(subcommand)]
    Service(service::Command),
    /// Make a home: folders, example files, an empty session database
    Init(init::Arguments),
    /// Print where everything is
    Paths,
    /// Check everything; each finding comes with the command that repairs it
    Doctor(doctor::Arguments),
    /// Profiles: each one a whole home of its own
    #[command(subcommand)]
    Profile(profile::Command),
    /// Pass what one profile knows to another: goals, decisions, open points, facts; noted on both sides
    Handover(handover::Arguments),
    /// Read and change settings
    #[command(subcommand)]
    Config(config::Command),
    /// What is remembered: the files MEMORY.md and USER.md, facts, conversations, the context of a task
    #[command(subcommand)]
    Memory(memory::Command),
    /// The database of the memory: a file, or a PostgreSQL server that several machines share
    #[command(subcommand)]
    Db(db::Command),
    /// Bring in the histories and memories you already have: Claude Code, Codex, ChatGPT, Claude.ai and more
    #[command(subcommand)]
    Import(import::Command),
    /// Move in from OpenClaw
    #[command(subcommand)]
    Claw(claw::Command),
    /// Chat models: which one each kind of work uses, and whether it answers
    #[command(subcommand)]
    Model(model::Command),
    /// The persona in SOUL.md
    #[command(subcommand)]
    Soul(soul::Command),
    /// Skills: how kinds of tasks are done, in folders with a SKILL.md
    #[command(subcommand, visible_alias = "skill")]
    Skills(skills::Command),
    /// Conversations: list, read, search, export, import, prune
    #[command(subcommand, visible_alias = "session")]
    Sessions(sessions::Command),
    /// Checkpoints: the states of files before the agent changed them
    #[command(subcommand, visible_alias = "checkpoints")]
    Checkpoint(checkpoint::Command),
    /// Backups: made and read back, encrypted, kept, sent away, brought back, proven
    #[command(subcommand, visible_alias = "backups")]
    Backup(backup::Command),
    /// Connect agents: Claude Code, Codex, Cursor, OpenClaw, Hermes Agent, goose, opencode, VS Code, Zed
    Integrate(integrate::Arguments),
    /// Answer one event of an agent; `hermes integrate` sets it up
    Hook(hook::Arguments),
    /// Who talks to the agent: users, their identities in channels, their time zones
    #[command(subcommand, visible_alias = "users")]
    User(user::Command),
    /// Be an MCP server on standard input and output, for one agent
    Mcp(mcp::Arguments),
    /// Tokens for the HTTP API: the owner's, and others with less
    #[command(subcommand, visible_alias = "tokens")]
    Token(token::Command),
    /// Print a completion script for your shell
    Completions(shell::Completions),
    /// Print the manual page, or write all of them to a folder
    Man(shell::Man),
    /// Fill a scratch home with the half-year of an invented person, to look around in
    Demo(demo::Arguments),
    /// Print a reference page as Markdown
    #[command(hide = true)]
    Reference(reference::Arguments),
}

/// Runs what was typed.
pub(crate) fn run(cli: Cli) -> anyhow::Result<Outcome> {
    carry_out(cli.command, &mut Terminal::new(cli.global))
}

/// Runs a command given as words, on what is open already.
pub(crate) fn run_words(words: &[&str], app: &mut Terminal) -> anyhow::Result<Outcome> {
    let parsed = Cli::try_parse_from(std::iter::once("hermes").chain(words.iter().copied()))?;
    carry_out(parsed.command, app)
}

fn carry_out(command: Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    see_to_cut_off_restore(&command, app)?;
    match command {
        Command::Chat(arguments) => chat::run(arguments, app),
        Command::Run(arguments) => run::run(arguments, app),
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
        Command::Completions(_) | Command::Man(_) | Command::Reference(_) => Ok(()),
        Command::Demo(_) | Command::Stop | Command::Hook(_) => Ok(()),
        Command::Backup(backup::Command::Restore(_)) => Ok(()),
        Command::Start(_) | Command::Restart | Command::Init(_) => {
            if restore::undo_cut_off(&root, app.now)? {
                app.out.note("a restore of this home had been cut off; it was undone");
            }
            Ok(())
        }
        _ => Ok(restore::must_not_be_cut_off(&root)?),
    }
}
