//! hermes bench: the measurements behind docs/PERFORMANCE.md

mod figures;
mod sessions;
mod text;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build a session database of made-up messages and measure it
    Sessions(sessions::Arguments),
}

pub(crate) fn run(command: Command, app: &mut App) -> anyhow::Result<Outcome> {
    match command {
        Command::Sessions(arguments) => sessions::run(&arguments, app),
    }
}
