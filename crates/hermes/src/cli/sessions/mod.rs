//! hermes sessions: conversations in state.db

mod export;
mod import;
mod list;
mod narrow;
mod pin;
mod prune;
mod record;
mod redact;
mod remove;
mod repair;
mod restore;
mod search;
mod show;
mod stats;

use crate::terminal::Terminal;
use clap::Subcommand;
use hermes_home::Home;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;

use crate::failure::Outcome;
use hermes_app::app::App;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Begin a session and print its id
    Create(record::Create),
    /// Add a message to a session and print its id
    Append(record::Append),
    /// Mark a session as ended
    End(record::End),
    /// List sessions, the last active first
    List(list::Arguments),
    /// Print the messages of a session
    Show(show::Arguments),
    /// Find messages: a plain question, or "phrase", OR, NOT, prefix*
    #[command(after_help = search::EXAMPLES)]
    Search(search::Arguments),
    /// Write sessions out whole: JSON lines, Markdown or HTML
    Export(export::Arguments),
    /// Take in sessions from JSON lines, of this program or of Hermes Agent
    Import(import::Arguments),
    /// Give a session a title
    Rename(record::Rename),
    /// Keep a session from being pruned
    Pin(pin::Arguments),
    /// Let a session be pruned again
    Unpin(pin::Arguments),
    /// Delete sessions with all their messages; they can be brought back for 30 days
    Delete(remove::Arguments),
    /// Bring back a session that was deleted
    Restore(restore::Arguments),
    /// Delete sessions without activity for a long time (shows them first; `--yes` does it)
    Prune(prune::Arguments),
    /// Put names such as [secret: github-token] in place of secrets that messages hold (shows them first; `--yes` does it)
    Redact(redact::Arguments),
    /// Count sessions and messages
    Stats,
    /// Check the database and mend it; a copy of the old one is kept
    Repair(repair::Arguments),
}

pub(crate) fn run(command: Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    match command {
        Command::Create(arguments) => record::create(&arguments, &home, app),
        Command::Append(arguments) => record::append(&arguments, &home, app),
        Command::End(arguments) => record::end(&arguments, &home, app),
        Command::List(arguments) => list::run(&arguments, &home, app),
        Command::Show(arguments) => show::run(&arguments, &home, app),
        Command::Search(arguments) => search::run(&arguments, &home, app),
        Command::Export(arguments) => export::run(&arguments, &home, app),
        Command::Import(arguments) => import::run(&arguments, &home, app),
        Command::Rename(arguments) => record::rename(&arguments, &home, app),
        Command::Pin(arguments) => pin::run(&arguments, true, &home, app),
        Command::Unpin(arguments) => pin::run(&arguments, false, &home, app),
        Command::Delete(arguments) => remove::run(&arguments, &home, app),
        Command::Restore(arguments) => restore::run(&arguments, &home, app),
        Command::Prune(arguments) => prune::run(&arguments, &home, app),
        Command::Redact(arguments) => redact::run(&arguments, &home, app),
        Command::Stats => stats::run(&home, app),
        Command::Repair(arguments) => repair::run(&arguments, &home, app),
    }
}

fn reading(app: &App, home: &Home) -> anyhow::Result<SessionStore> {
    app.sessions(home, Access::Read)
}

fn writing(app: &App, home: &Home) -> anyhow::Result<SessionStore> {
    app.sessions(home, Access::Write)
}
