//! hermes backup: make, keep, send away, bring back, prove

pub(crate) mod carry;
mod create;
mod drill;
mod key;
mod keys;
mod list;
mod prune;
mod push;
mod restore;
mod rows;
mod schedule;
mod setup;
mod status;
mod unit;
mod verify;

use crate::terminal::Terminal;
use clap::Subcommand;

use crate::failure::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up encryption, remotes and the schedule of backups
    Setup(setup::Arguments),
    /// Create a backup while everything runs, and verify it
    Create(create::Arguments),
    /// List the backups, and where copies of them are
    List(list::List),
    /// Show one backup, and the command that opens it without Hermes
    Show(list::One),
    /// Verify that backups are intact
    Verify(verify::Arguments),
    /// Restore a whole home, a file, a skill or a session; what it replaces is kept
    Restore(restore::Arguments),
    /// Run a restore test: restore to a scratch folder, check everything, store a receipt
    Drill(drill::Arguments),
    /// List and import receipts of restore tests
    #[command(subcommand)]
    Receipt(drill::Receipts),
    /// Delete old backups by the retention rules; shows the plan first
    Prune(prune::Arguments),
    /// Delete one backup
    Delete(prune::Delete),
    /// Send backups to the remotes
    Push(push::Push),
    /// Fetch a backup from a remote
    Pull(push::Pull),
    /// Show the state of the backups: green, amber or red
    Status(status::Arguments),
    /// Schedule a backup every night
    #[command(subcommand)]
    Schedule(schedule::Command),
    /// Manage the keys that backups are encrypted to
    #[command(subcommand)]
    Key(key::Command),
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    match command {
        Command::Setup(arguments) => setup::run(arguments, app),
        Command::Create(arguments) => create::run(arguments, app),
        Command::List(arguments) => list::run(arguments, app),
        Command::Show(arguments) => list::show(arguments, app),
        Command::Verify(arguments) => verify::run(arguments, app),
        Command::Restore(arguments) => restore::run(arguments, app),
        Command::Drill(arguments) => drill::run(arguments, app),
        Command::Receipt(command) => drill::receipt(command, app),
        Command::Prune(arguments) => prune::run(arguments, app),
        Command::Delete(arguments) => prune::delete_one(arguments, app),
        Command::Push(arguments) => push::run(arguments, app),
        Command::Pull(arguments) => push::pull(arguments, app),
        Command::Status(arguments) => status::run(arguments, app),
        Command::Schedule(command) => schedule::run(command, app),
        Command::Key(command) => key::run(command, app),
    }
}
