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
    /// Say once how backups are encrypted, where else they go and when they are made
    Setup(setup::Arguments),
    /// Make a backup while everything runs, and read it back
    Create(create::Arguments),
    /// List the backups, and where else each one is
    List(list::List),
    /// Show one backup, and the command that opens it without Hermes
    Show(list::One),
    /// Check whether backups are still what they were
    Verify(verify::Arguments),
    /// Bring back a whole home, a file, a skill or a session; what is there is kept aside
    Restore(restore::Arguments),
    /// Restore into a scratch folder, check everything, and keep a receipt
    Drill(drill::Arguments),
    /// Receipts of drills
    #[command(subcommand)]
    Receipt(drill::Receipts),
    /// Delete the backups that the rules let go; the plan is shown first
    Prune(prune::Arguments),
    /// Delete one backup
    Delete(prune::Delete),
    /// Send backups to the places off this host
    Push(push::Push),
    /// Fetch a backup from a place off this host
    Pull(push::Pull),
    /// How it stands with the backups: green, amber or red
    Status(status::Arguments),
    /// Make a backup every night
    #[command(subcommand)]
    Schedule(schedule::Command),
    /// The keys that backups are encrypted to
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
