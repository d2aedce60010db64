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
    /// Create a session and print its id
    Create(record::Create),
    /// Add a message to a session and print the message's id
    Append(record::Append),
    /// Mark a session as ended
    End(record::End),
    /// List sessions, most recently active first
    List(list::Arguments),
    /// Print the messages of a session
    Show(show::Arguments),
    /// Search messages with a plain question, or with "phrase", OR, NOT, prefix*
    #[command(after_help = search::EXAMPLES)]
    Search(search::Arguments),
    /// Export sessions as JSON lines, Markdown or HTML
    Export(export::Arguments),
    /// Import sessions from JSON lines written by this program or by Hermes Agent
    Import(import::Arguments),
    /// Change the title of a session
    Rename(record::Rename),
    /// Pin a session, so that it is never pruned
    Pin(pin::Arguments),
    /// Unpin a session, so that it can be pruned again
    Unpin(pin::Arguments),
    /// Delete sessions with all their messages; they can be restored for 30 days
    Delete(remove::Arguments),
    /// Restore a deleted session
    Restore(restore::Arguments),
    /// Delete sessions that had no activity for a long time (shows them; `--yes` deletes them)
    Prune(prune::Arguments),
    /// Replace secrets in messages with placeholders such as [secret: github-token] (counts first; `--yes` replaces)
    Redact(redact::Arguments),
    /// Count sessions and messages
    Stats,
    /// Check and repair the database; a copy of the original is kept
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
