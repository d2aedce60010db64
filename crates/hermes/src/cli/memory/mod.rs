//! hermes memory: the memory files MEMORY.md and USER.md, and what is remembered in memory.db

mod change;
mod compact;
mod context;
pub(crate) mod edit;
mod fact;
mod fact_life;
mod fact_view;
mod files;
mod forget;
pub(crate) mod history;
mod hit;
mod later;
mod merge;
mod progress;
mod prune;
mod record;
mod reembed;
mod search;
mod show;
mod status;
mod timeline;
mod vacuum;
mod whose;

use clap::{Args, Subcommand, ValueEnum};
use hermes_home::Home;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{Context, Rules};

use crate::app::App;
use crate::failure::{Outcome, Problem};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the entries with their numbers and what they cost in tokens
    Show(show::Arguments),
    /// Add an entry; the same text twice is kept once
    Add(change::Add),
    /// Give an entry another text
    Replace(change::Replace),
    /// Take an entry out
    Remove(change::Remove),
    /// Open the file in your editor
    Edit(Which),
    /// Take out entries written before a time (shows them first; `--yes` does it)
    Prune(prune::Arguments),
    /// List the earlier versions of a file
    Versions(Which),
    /// Bring an earlier version back; this too can be undone
    Restore(history::Restore),
    /// Bring entries from other places (MEMORY.md in the home itself, workspace/) into memories/
    Merge,
    /// Facts in memory.db: add, list, show, edit, supersede, delete, restore, history, undo, pin
    #[command(subcommand, visible_alias = "facts")]
    Fact(fact::Command),
    /// Find what is remembered: facts, conversations, procedures, events, files
    #[command(after_help = search::EXAMPLES)]
    Search(search::Arguments),
    /// Print what a model should be given for a task, within a budget of tokens
    Context(context::Arguments),
    /// Record messages of conversations from lines of JSON
    #[command(after_help = record::FORM)]
    Record(record::Arguments),
    /// What happened when: tasks, decisions, results, failures, and why
    Timeline(timeline::Arguments),
    /// Forget a conversation, a source, a type, a user or everything (says how much first)
    Forget(forget::Arguments),
    /// Count what is in memory.db
    Status(status::Arguments),
    /// Let summaries stand for old conversations, and make memory.db small
    Compact(compact::Arguments),
    /// Make memory.db as small as it can be
    Vacuum,
    /// Make the vectors that the embedding model of the settings lacks, and let it answer
    Reembed(reembed::Arguments),
}

/// Which memory file is meant.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The file [default: memory, or user when --user is given]
    #[arg(long, value_enum, value_name = "FILE")]
    file: Option<FileName>,
    /// The USER.md of this person of a shared agent
    #[arg(long, value_name = "ID")]
    user: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FileName {
    /// memories/MEMORY.md
    Memory,
    /// memories/USER.md
    User,
}

impl Which {
    fn target(&self) -> anyhow::Result<MemoryTarget> {
        match (self.file, &self.user) {
            (None | Some(FileName::User), Some(id)) => Ok(MemoryTarget::User(Some(id.parse()?))),
            (Some(FileName::User), None) => Ok(MemoryTarget::User(None)),
            (None | Some(FileName::Memory), None) => Ok(MemoryTarget::Memory),
            (Some(FileName::Memory), Some(_)) => {
                Err(Problem::usage("MEMORY.md is the same for all users")
                    .hint("leave out `--user`, or write `--file user`")
                    .into())
            }
        }
    }
}

pub(crate) fn run(command: Command, app: &mut App) -> anyhow::Result<Outcome> {
    match command {
        Command::Show(arguments) => show::run(&arguments, app),
        Command::Add(arguments) => change::add(&arguments, app),
        Command::Replace(arguments) => change::replace(&arguments, app),
        Command::Remove(arguments) => change::remove(&arguments, app),
        Command::Edit(which) => edit::run(&which.target()?, app),
        Command::Prune(arguments) => prune::run(&arguments, app),
        Command::Versions(which) => history::versions(&which.target()?, app),
        Command::Restore(arguments) => {
            history::restore(&arguments.which.target()?, &arguments.wanted, app)
        }
        Command::Merge => merge::run(app),
        Command::Fact(command) => fact::run(&command, app),
        Command::Search(arguments) => search::run(&arguments, app),
        Command::Context(arguments) => context::run(&arguments, app),
        Command::Record(arguments) => record::run(&arguments, app),
        Command::Timeline(arguments) => timeline::run(&arguments, app),
        Command::Forget(arguments) => forget::run(&arguments, app),
        Command::Status(arguments) => status::run(&arguments, app),
        Command::Compact(arguments) => compact::run(&arguments, app),
        Command::Vacuum => vacuum::run(app),
        Command::Reembed(arguments) => reembed::run(&arguments, app),
    }
}

/// Whose home it is and how long the file may get.
pub(crate) fn rules(app: &App, home: &Home, target: &MemoryTarget) -> anyhow::Result<Rules> {
    let owner = app.owner(home)?;
    let memory = &app.config(home)?.config.memory;
    let limit = match target {
        MemoryTarget::Memory => memory.memory_char_limit,
        MemoryTarget::User(_) => memory.user_char_limit,
        MemoryTarget::Soul => None,
    };
    Ok(Rules { owner, limit: limit.map(|limit| limit as usize) })
}

/// The rules of a file with the time and the reason of a change.
pub(crate) fn context<'a>(
    app: &App,
    home: &Home,
    target: &MemoryTarget,
    reason: &'a str,
) -> anyhow::Result<Context<'a>> {
    Ok(Context { rules: rules(app, home, target)?, now: app.now, reason })
}
