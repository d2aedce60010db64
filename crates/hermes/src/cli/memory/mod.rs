//! hermes memory: the memory files MEMORY.md and USER.md, and what is remembered in memory.db

pub(crate) mod catch_up;
mod change;
mod compact;
mod context;
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
mod search;
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
    /// Take back what was remembered last: its entry and its fact together
    Undo(undo::Arguments),
    /// List what is proposed for the memory files and waits for your word
    Pending(pending::List),
    /// Do what is proposed: write an entry, or take one out
    Approve(pending::Approve),
    /// Do not do what is proposed; it is not proposed again
    Reject(pending::Reject),
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
    /// Draw facts from conversations that are over; the daemon does it by itself
    Extract(extract::Arguments),
    /// What happened when: tasks, decisions, results, failures, and why
    Timeline(timeline::Arguments),
    /// Look back on finished sessions now: lessons, habits, drafts of skills
    Reflect,
    /// What finished work taught
    #[command(subcommand)]
    Reflections(reflections::Command),
    /// Forget a conversation, a source, a type, a user or everything (says how much first)
    Forget(forget::Arguments),
    /// Record a finished turn: what was asked, done and answered
    #[command(after_help = turn::FORM)]
    Turn(turn::Arguments),
    /// Take in what the memory lacks: messages of state.db, whoever wrote them, and turns that wait
    CatchUp,
    /// Write everything that is remembered as one JSON document
    Export(export::Arguments),
    /// Take in what `hermes memory export` wrote; what is known adds nothing
    Import(import::Arguments),
    /// Count what is in memory.db
    Status(status::Arguments),
    /// Let summaries stand for old conversations, and make memory.db small
    Compact(compact::Arguments),
    /// Make memory.db as small as it can be
    Vacuum,
    /// Put names such as [secret: github-token] in place of secrets in the memory (shows them first; `--yes` does it)
    Redact(redact::Arguments),
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
    fn target(&self, app: &App) -> anyhow::Result<MemoryTarget> {
        match (self.file, &self.user) {
            (None | Some(FileName::User), Some(id)) => Ok(MemoryTarget::User(person(app, id)?)),
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
