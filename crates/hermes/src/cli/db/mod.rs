//! hermes db: the database of the memory, a file or a server

pub(crate) mod copy;
mod invite;
mod migrate;
mod status;

use crate::terminal::Terminal;
use clap::Subcommand;
use hermes_home::Home;

use crate::failure::Outcome;
use hermes_app::app::App;
use hermes_app::problem::{Kind, Problem};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show where the memory is, whether it is reachable, and its schema, extensions and access rights
    Status,
    /// Create the tables on the server, or migrate them to the current schema
    Migrate(migrate::Arguments),
    /// Create a role for another home, so that the server keeps the homes apart
    Invite(invite::Arguments),
    /// Copy the memory between the file and the server, and compare every item
    Copy(copy::Arguments),
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    match command {
        Command::Status => status::run(app),
        Command::Migrate(arguments) => migrate::run(arguments, app),
        Command::Invite(arguments) => invite::run(arguments, app),
        Command::Copy(arguments) => copy::run(arguments, app),
    }
}

/// Refuses what makes sense on a server alone.
fn must_be_on_server(app: &App, home: &Home) -> anyhow::Result<()> {
    if app.is_on_server(home)? {
        return Ok(());
    }
    let what = "this memory is a SQLite file; this command needs a memory on a PostgreSQL server";
    Err(Problem::new(Kind::Refused, what)
        .hint("to use a server, run `hermes config set memory.backend postgres`")
        .into())
}
