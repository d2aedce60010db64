//! hermes backup

mod schedule;
mod unit;

use clap::{Args, Subcommand};
use hermes_home::Home;

use crate::app::App;
use crate::backup::record::{self, Begin, By, Ended};
use crate::clock;
use crate::failure::{Kind, Outcome, Problem, message};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a backup
    Create(Create),
    /// Make backups every night: by systemd, by cron or by the daemon
    #[command(subcommand)]
    Schedule(schedule::Command),
}

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// Started by the schedule: make one only if it is due and nobody else was chosen to make it
    #[arg(long, value_name = "BY")]
    scheduled: Option<By>,
}

pub(crate) fn run(command: &Command, app: &mut App) -> anyhow::Result<Outcome> {
    match command {
        Command::Create(arguments) => create(arguments, app),
        Command::Schedule(command) => schedule::run(command, app),
    }
}

fn create(arguments: &Create, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    home.must_exist()?;
    let Some(by) = arguments.scheduled else { return make(&home) };
    if let Begin::Not(remark) = record::begin(app, &home, by)? {
        app.out.note(remark);
        return Ok(Outcome::Done);
    }
    let made = make(&home);
    let detail = made.as_ref().err().map(message).unwrap_or_default();
    record::finish(&home, Ended { at: clock::now(), well: made.is_ok(), detail })?;
    made
}

fn make(_home: &Home) -> anyhow::Result<Outcome> {
    Err(Problem::new(Kind::Refused, "this build cannot make backups yet").into())
}
