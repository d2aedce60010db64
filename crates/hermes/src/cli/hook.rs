//! hermes hook

use std::ffi::OsString;

use clap::Args;

use crate::failure::Outcome;
use hermes_app::app::App;

/// Shown below `hermes hook --help`.
const ABOUT: &str = "Agents call this, not people: `hermes integrate` puts it into their files. It reads one event from
standard input and answers in the agent's own form. It always ends with 0 and after 800 ms at the latest;
what was said is kept even then, and taken in later. What goes wrong is counted, and `hermes doctor` tells.";

#[derive(Debug, Args)]
#[command(after_help = ABOUT)]
pub(crate) struct Arguments {
    /// The agent that calls: claude-code, codex, cursor or hermes-agent; `-`: whose event it looks like
    agent: String,
    /// What an agent may add
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

#[expect(clippy::unnecessary_wraps, reason = "every command has this form")]
pub(crate) fn run(arguments: &Arguments, app: &App) -> anyhow::Result<Outcome> {
    crate::hook::run(&arguments.agent, app);
    Ok(Outcome::Done)
}
