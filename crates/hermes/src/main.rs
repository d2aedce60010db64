//! Parse, run, print the error, exit.

mod app;
mod background;
mod backup;
mod cli;
mod clock;
mod confirm;
mod daemon;
mod desk;
mod editor;
mod embedding;
mod failure;
mod hook;
mod input;
mod integrate;
mod models;
mod output;
mod platform;
mod variables;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let parsed = match cli::Cli::try_parse() {
        Ok(parsed) => parsed,
        Err(error) => return failure::report_usage(&error),
    };
    let (json, place) = (parsed.global.json, parsed.global.place());
    match cli::run(parsed) {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => failure::report(&error, json, &place),
    }
}
