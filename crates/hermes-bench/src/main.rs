//! hermes-bench: the measurements behind docs/PERFORMANCE.md

mod agent_chat;
mod backup;
mod chat;
mod compact;
mod cpu;
mod daemon;
mod extract;
mod figures;
mod made_up;
mod model;
mod pages;
mod program;
mod recall;
mod scale;
mod scratch;
mod serve;
mod server;
mod sessions;
mod text;
mod transfer;
mod turns;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use hermes_app::{clock, problem};

use figures::Table;
use program::Program;

/// Measure Hermes on this machine, and print the tables of docs/PERFORMANCE.md.
///
/// Everything is made up and measured in temporary folders; no home is read or changed.
#[derive(Debug, Parser)]
#[command(name = "hermes-bench", version, arg_required_else_help = true)]
struct Cli {
    /// The `hermes` program to measure [default: the one beside this program]
    #[arg(long, global = true, value_name = "PATH")]
    program: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Build a session database of made-up messages and measure it
    Sessions(sessions::Arguments),
    /// Write a made-up set of agent conversations with questions and their answers
    AgentChat(agent_chat::Arguments),
    /// Ask the questions of a retrieval set, and write down what is found
    Recall(recall::Arguments),
    /// Talk on a home of made-up messages, and measure all but the model
    Chat(chat::Arguments),
    /// Build half a year of made-up conversations, compress them, and measure it
    Compact(compact::Arguments),
    /// Draw facts from labelled messages, and compare them with the labels
    Extract(extract::Arguments),
    /// Build a memory of made-up messages and measure it
    Scale(scale::Arguments),
    /// Record made-up turns and measure it
    Turns(turns::Arguments),
    /// Make, verify and restore backups of a made-up home, beside shell programs
    Backup(backup::Arguments),
    /// Ask the daemon, a hook and MCP about a memory of made-up messages, and measure it
    Serve(serve::Arguments),
    /// Keep the same memory in a file and on a PostgreSQL server, and measure both
    Server(server::Arguments),
    /// One of the processes that `server` starts
    #[command(hide = true)]
    ServerWorker(server::Worker),
    /// Look at every page of the dashboard on a home of made-up facts and messages, and measure it
    Pages(pages::Arguments),
    /// Export a memory of made-up messages, and take it in elsewhere
    Transfer(transfer::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let json = cli.json;
    let done = match &cli.command {
        Command::ServerWorker(worker) => server::work(worker, clock::now()),
        _ => measure(cli).and_then(|table| table.print(json)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let told = problem::told(&error);
            let mut stderr = io::stderr();
            // Where even the error cannot be written there is nobody left to tell.
            let _ = writeln!(stderr, "hermes-bench: {}", told.message);
            let _ = told.hint.map(|hint| writeln!(stderr, "hint: {hint}"));
            ExitCode::FAILURE
        }
    }
}

fn measure(cli: Cli) -> anyhow::Result<Table> {
    let now = clock::now();
    let program = || Program::find(cli.program);
    match cli.command {
        Command::Sessions(arguments) => sessions::run(&arguments, &program()?, now),
        Command::AgentChat(arguments) => agent_chat::run(&arguments),
        Command::Recall(arguments) => recall::run(&arguments, now),
        Command::Chat(arguments) => chat::run(&arguments, &program()?, now),
        Command::Compact(arguments) => compact::run(&arguments, &program()?, now),
        Command::Extract(arguments) => extract::run(&arguments),
        Command::Scale(arguments) => scale::run(&arguments, &program()?, now),
        Command::Turns(arguments) => turns::run(&arguments, now),
        Command::Backup(arguments) => backup::run(&arguments, &program()?, now),
        Command::Serve(arguments) => serve::run(&arguments, &program()?, now),
        Command::Server(arguments) => server::run(&arguments, &program()?, now),
        Command::ServerWorker(_) => anyhow::bail!("it measures nothing by itself"),
        Command::Pages(arguments) => pages::run(&arguments, &program()?, now),
        Command::Transfer(arguments) => transfer::run(&arguments, now),
    }
}
