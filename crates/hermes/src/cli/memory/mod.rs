//! hermes memory: the memory files MEMORY.md and USER.md, and what is remembered in memory.db

pub(crate) mod catch_up;
pub(crate) mod change;
mod compact;
pub(crate) mod context;
pub(crate) mod edit;
mod export;
pub(crate) mod extract;
mod fact;
mod fact_life;
mod forget;
pub(crate) mod history;
pub(crate) mod import;
mod merge;
mod pending;
mod prune;
mod record;
pub(crate) mod redact;
mod reembed;
mod reflect;
mod reflections;
pub(crate) mod search;
mod show;
mod status;
mod timeline;
mod turn;
mod undo;
mod vacuum;
pub(crate) mod whose;

use crate::terminal::Terminal;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use hermes_home::UserId;
use hermes_home::layout::MemoryTarget;
use hermes_memory::record::spool;
use hermes_store::sqlite::Access;

use crate::failure::Outcome;
use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::daemon;
use hermes_app::hooks::finish;
use hermes_app::problem::Problem;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the entries of the memory files, with their numbers and cost in tokens
    #[command(visible_alias = "list")]
    Show(show::Arguments),
    /// Add an entry; adding the same text again changes nothing
    Add(change::Add),
    /// Replace the text of an entry
    Replace(change::Replace),
    /// Remove an entry
    Remove(change::Remove),
    /// Open the memory file in your editor
    Edit(Which),
    /// Remove entries written before a time (shows them; `--yes` removes them)
    Prune(prune::Arguments),
    /// List the versions of a memory file
    Versions(Which),
    /// Restore an earlier version of a memory file; this can be undone
    Restore(history::Restore),
    /// Undo the last thing that was remembered: its entry and its fact together
    Undo(undo::Arguments),
    /// List proposed changes of the memory files that are waiting for your approval
    Pending(pending::List),
    /// Approve a proposal: the entry is written, changed or removed
    Approve(pending::Approve),
    /// Reject a proposal; it is not proposed again
    Reject(pending::Reject),
    /// Merge entries from other locations (MEMORY.md in the home itself, workspace/) into memories/
    Merge,
    /// Manage facts: add, list, show, edit, supersede, delete, restore, history, undo, pin
    #[command(subcommand, visible_alias = "facts")]
    Fact(fact::Command),
    /// Search the memory: facts, conversations, procedures, events, files
    #[command(after_help = search::EXAMPLES)]
    Search(search::Arguments),
    /// Print the context that a model should get for a task, within a token budget
    Context(context::Arguments),
    /// Record messages from JSON lines
    #[command(after_help = record::FORM)]
    Record(record::Arguments),
    /// Extract facts from conversations that are over; the daemon does this automatically
    Extract(extract::Arguments),
    /// Show what happened when: tasks, decisions, results, failures, and why
    Timeline(timeline::Arguments),
    /// Reflect on finished sessions now: store lessons, habits and drafts of skills
    Reflect,
    /// List the lessons learned from finished work, and turn them into skills
    #[command(subcommand)]
    Reflections(reflections::Command),
    /// Forget a conversation, a source, a type, a user or everything (shows how much first)
    Forget(forget::Arguments),
    /// Record a finished turn: what was asked, done and answered
    #[command(after_help = turn::FORM)]
    Turn(turn::Arguments),
    /// Record what the memory is missing: messages that other programs wrote to state.db, and waiting turns
    CatchUp,
    /// Export the memory as one JSON document
    Export(export::Arguments),
    /// Import a file written by `hermes memory export`; known items are not added again
    Import(import::Arguments),
    /// Show how much the memory contains
    Status(status::Arguments),
    /// Summarise old conversations, and shrink memory.db
    Compact(compact::Arguments),
    /// Free unused space in memory.db
    Vacuum,
    /// Replace secrets in the memory with placeholders such as [secret: github-token] (counts first; `--yes` replaces)
    Redact(redact::Arguments),
    /// Re-embed with the configured embedding model, then switch to it
    Reembed(reembed::Arguments),
}

/// Which memory file is meant.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Memory file [default: memory, or user if --user is given]
    #[arg(long, value_enum, value_name = "FILE")]
    file: Option<FileName>,
    /// Use the USER.md of this user
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
    fn target(&self, app: &App) -> anyhow::Result<MemoryTarget> {
        match (self.file, &self.user) {
            (None | Some(FileName::User), Some(id)) => Ok(MemoryTarget::User(person(app, id)?)),
            (Some(FileName::User), None) => Ok(MemoryTarget::User(None)),
            (None | Some(FileName::Memory), None) => Ok(MemoryTarget::Memory),
            (Some(FileName::Memory), Some(_)) => Err(Problem::usage(
                "`--user` cannot be used with MEMORY.md, which is the same for all users",
            )
            .hint("leave out `--user`, or write `--file user`")
            .into()),
        }
    }
}

/// Whose file a name means: that of a user merged into another leads to the other's.
fn person(app: &App, name: &str) -> anyhow::Result<Option<UserId>> {
    let id: UserId = name.parse()?;
    let home = app.home()?;
    // A memory that cannot be opened keeps nobody from a file.
    let known = match home.folder().is_dir() {
        true => app.memory(&home, Access::Read).and_then(|memory| Ok(memory.store.user(name)?)),
        false => Ok(None),
    };
    match known.ok().flatten().filter(|user| user.name != name) {
        Some(user) => Ok(Asker::of(&user).user),
        None => Ok(Some(id)),
    }
}

/// What waits in files is taken in by whoever comes by, but nobody waits for it long.
const DRAINING: Duration = Duration::from_secs(2);

pub(crate) fn run(command: Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    if !matches!(command, Command::CatchUp | Command::Turn(_)) {
        drain(app);
    }
    match command {
        Command::Show(arguments) => show::run(&arguments, app),
        Command::Add(arguments) => change::add(&arguments, app),
        Command::Replace(arguments) => change::replace(&arguments, app),
        Command::Remove(arguments) => change::remove(&arguments, app),
        Command::Edit(which) => edit::run(&which.target(app)?, app),
        Command::Prune(arguments) => prune::run(&arguments, app),
        Command::Versions(which) => history::versions(&which.target(app)?, app),
        Command::Restore(arguments) => {
            history::restore(&arguments.which.target(app)?, &arguments.wanted, app)
        }
        Command::Undo(arguments) => undo::run(&arguments, app),
        Command::Pending(arguments) => pending::list(&arguments, app),
        Command::Approve(arguments) => pending::approve(&arguments, app),
        Command::Reject(arguments) => pending::reject(&arguments, app),
        Command::Merge => merge::run(app),
        Command::Fact(command) => fact::run(&command, app),
        Command::Search(arguments) => search::run(&arguments, app),
        Command::Context(arguments) => context::run(&arguments, app),
        Command::Record(arguments) => record::run(&arguments, app),
        Command::Extract(arguments) => extract::run(&arguments, app),
        Command::Timeline(arguments) => timeline::run(&arguments, app),
        Command::Reflect => reflect::run(app),
        Command::Reflections(command) => reflections::run(&command, app),
        Command::Forget(arguments) => forget::run(&arguments, app),
        Command::Turn(arguments) => turn::run(&arguments, app),
        Command::CatchUp => catch_up::run(app),
        Command::Export(arguments) => export::run(&arguments, app),
        Command::Import(arguments) => import::run(&arguments, app),
        Command::Status(arguments) => status::run(&arguments, app),
        Command::Compact(arguments) => compact::run(&arguments, app),
        Command::Vacuum => vacuum::run(app),
        Command::Redact(arguments) => redact::run(&arguments, app),
        Command::Reembed(arguments) => reembed::run(&arguments, app),
    }
}

/// Takes in the turns that wait in files, if there are any and no daemon does it. What cannot be taken
/// in stays where it is, and `doctor` names it: the command itself goes on.
fn drain(app: &App) {
    if let Ok(home) = app.existing_home()
        && spool::waiting(&home.spool()) + finish::waiting(app, &home) > 0
    {
        let _ = daemon::try_catch_up(app, &home, DRAINING);
    }
}
