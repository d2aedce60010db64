//! hermes hook

use std::ffi::OsString;

use clap::Args;

use crate::failure::Outcome;
use hermes_app::app::App;

/// Shown below `hermes hook --help`.
const ABOUT: &str = "Agents call this command; `hermes integrate` adds it to their settings. It reads one event from
standard input and prints the response in the agent's own format. It always exits with 0, after at most 800 ms
(2.2 seconds if a turn would be lost otherwise). A turn that could not be recorded in that time is recorded later.
Errors are counted, and `hermes doctor` reports them.";

#[derive(Debug, Args)]
#[command(after_help = ABOUT)]
pub(crate) struct Arguments {
    /// Agent that calls: claude-code, codex, cursor or hermes-agent; `-` detects it from the event
    agent: String,
    /// Anything else the agent passes
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<OsString>,
}

#[expect(clippy::unnecessary_wraps, reason = "every command has this form")]
pub(crate) fn run(arguments: &Arguments, app: &App) -> anyhow::Result<Outcome> {
    crate::hook::run(&arguments.agent, app);
    Ok(Outcome::Done)
}
