//! hermes bench: the measurements behind docs/PERFORMANCE.md

mod agent_chat;
mod backup;
mod chat;
mod compact;
mod daemon;
mod extract;
mod figures;
mod pages;
mod recall;
mod scale;
mod scratch;
mod serve;
mod sessions;
pub(crate) mod text;
mod transfer;
mod turns;

use crate::terminal::Terminal;
use clap::Subcommand;

use crate::failure::Outcome;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
    /// Look at every page of the dashboard on a home of made-up facts and messages, and measure it
    Pages(pages::Arguments),
    /// Export a memory of made-up messages, and take it in elsewhere
    Transfer(transfer::Arguments),
}

pub(crate) fn run(command: Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    match command {
        Command::Sessions(arguments) => sessions::run(&arguments, app),
        Command::AgentChat(arguments) => agent_chat::run(&arguments, app),
        Command::Recall(arguments) => recall::run(&arguments, app),
        Command::Chat(arguments) => chat::run(&arguments, app),
        Command::Compact(arguments) => compact::run(&arguments, app),
        Command::Extract(arguments) => extract::run(&arguments, app),
        Command::Scale(arguments) => scale::run(&arguments, app),
        Command::Turns(arguments) => turns::run(&arguments, app),
        Command::Backup(arguments) => backup::run(&arguments, app),
        Command::Serve(arguments) => serve::run(&arguments, app),
        Command::Pages(arguments) => pages::run(&arguments, app),
        Command::Transfer(arguments) => transfer::run(&arguments, app),
    }
}
