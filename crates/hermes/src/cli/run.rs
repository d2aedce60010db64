//! hermes run

use crate::terminal::Terminal;
use clap::Args;

use super::chat::{Talker, outcome};
use crate::chat::front::Front;
use crate::chat::front::events::Events;
use crate::chat::front::plain::Plain;
use crate::chat::{self, Conversation, Which};
use crate::failure::Outcome;
use crate::input;
use hermes_app::platform;
use hermes_app::problem::Problem;

#[derive(Debug, Args)]
#[command(after_help = "This command never asks: the agent does only what a rule allows.

Examples:
  hermes run \"summarise CHANGELOG.md in three lines\"
  hermes run \"make the tests pass\" --allow \"cargo test\" --allow \"write .\"
  hermes run - --json < task.txt")]
pub(crate) struct Arguments {
    /// Task for the agent; `-` reads it from standard input
    task: String,
    #[command(flatten)]
    talker: Talker,
}

pub(crate) fn run(arguments: Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let task = input::text(&arguments.task)?;
    if task.trim().is_empty() {
        return Err(Problem::usage("the task is empty").into());
    }
    let mut conversation = Conversation::open(app, arguments.talker.opening(Which::New)?)?;
    let mut front: Box<dyn Front> = match app.json {
        true => Box::new(Events::one(task)),
        false => Box::new(Plain::one(task, app.out.is_quiet())),
    };
    platform::on_interrupt_once(&conversation.cancel)?;
    let last = chat::talk(&mut conversation, front.as_mut())?;
    Ok(outcome(last.as_ref()))
}
