//! Parse, run, print the error, exit.

mod app;
mod background;
mod backup;
mod chat;
mod cli;
mod clock;
mod confirm;
mod daemon;
mod demo;
mod desk;
mod editor;
mod embedding;
mod failure;
mod hook;
mod input;
mod integrate;
mod lost;
mod models;
mod opened;
mod output;
mod pages;
mod place;
mod platform;
mod server;
mod variables;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let parsed = match cli::Cli::try_parse() {
        Ok(parsed) => parsed,
        // An agent takes a failing hook for a veto.
        Err(error) if error.use_stderr() && is_hook() => return ExitCode::SUCCESS,
        Err(error) => return failure::report_usage(&error),
    };
    let (json, place) = (parsed.global.json, parsed.global.place());
    match cli::run(parsed) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => failure::report(&error, json, &place),
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
