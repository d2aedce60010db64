//! Parse, run, print the error, exit.

mod chat;
mod cli;
mod confirm;
mod daemon;
mod demo;
mod editor;
mod failure;
mod hook;
mod input;
mod output;
mod terminal;

use std::process::ExitCode;

use hermes_agent::confine;
use hermes_home::env::Env;
use hook::bare::Heard;

fn main() -> ExitCode {
    hermes_app::platform::outlive_file_limits();
    if std::env::args_os().nth(1).is_some_and(|word| word == confine::LAUNCHER) {
        return confined();
    }
    let is_bare = std::env::args_os().len() <= 1;
    let heard = if is_bare { hook::bare::listen() } else { Heard::NoEvent };
    let parsed = match heard {
        Heard::Event => cli::parse(hook::bare::words(&Env::of_process())),
        Heard::NoEvent if is_bare && cli::alone::is_for_a_person() => return cli::alone::run(),
        _ => cli::parse(std::env::args_os()),
    };
    let parsed = match parsed {
        Ok(parsed) => parsed,
        // An agent takes a failing hook for a veto.
        Err(error) if error.use_stderr() && (is_hook() || heard == Heard::Event) => {
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            let code = match cli::unknown::of_usage(&error) {
                Some(unknown) => failure::report(&unknown.into(), failure::wants_json(), ""),
                None => failure::report_usage(&error),
            };
            // It may be an agent that is slow to send its event.
            return if heard == Heard::Silence { ExitCode::SUCCESS } else { code };
        }
    };
    let (json, place) = (parsed.global.json, parsed.global.place());
    match cli::run(parsed) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => failure::report(&error, json, &place),
    }
}

/// Puts up walls around this process and becomes the command that the agent was allowed to run.
fn confined() -> ExitCode {
    use std::io::Write as _;
    // What a shell answers when a command cannot be run.
    const NOT_RUN: u8 = 126;
    match confine::launch(std::env::args_os().skip(2)) {
        Ok(told) => match std::io::stdout().write_all(told.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "hermes: could not confine the command: {error}");
            ExitCode::from(NOT_RUN)
        }
    }
}

/// Whether an agent calls, whatever else it typed: the first word that is no flag says so.
fn is_hook() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--home" | "--profile" | "-p" | "--set") => drop(arguments.next()),
            Some(flag) if flag.starts_with('-') => {}
            word => return word == Some("hook"),
        }
    }
    false
}
