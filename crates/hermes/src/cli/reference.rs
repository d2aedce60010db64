//! hermes reference: the pages of docs/reference, made from the program itself

use crate::terminal::Terminal;
use std::fmt::Write as _;
use std::io::Write as _;

use clap::{Args, CommandFactory, ValueEnum};

use crate::chat::slash::table;
use crate::cli::Cli;
use crate::failure::{EXIT_CODES, Outcome};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Page to print
    page: PageName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PageName {
    Cli,
    Config,
    Environment,
    SlashCommands,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let text = match arguments.page {
        PageName::Cli => commands(),
        PageName::Config => hermes_home::config::reference(),
        PageName::Environment => environment(),
        PageName::SlashCommands => table::reference(),
    };
    app.out.raw().write_all(text.as_bytes())?;
    app.out.raw().flush()?;
    Ok(Outcome::Done)
}

fn commands() -> String {
    let mut text = String::from(
        "# Command line\n\nThe output of `--help` for every command. Standard output carries data only; \
        notes and `hint:` lines go to standard error.\n\n## Exit codes\n\n| code | meaning |\n|---|---|\n",
    );
    for (code, meaning) in EXIT_CODES {
        let _ = writeln!(text, "| {code} | {meaning} |");
    }
    text.push_str(
        "\nWith `--json` an error is one object on standard output, \
         `{\"error\":{\"kind\":…,\"message\":…,\"hint\":…}}`, with the same exit code.\n",
    );
    let mut root = Cli::command().term_width(100);
    root.build();
    section(&root, "hermes", &mut text);
    text
}

fn section(command: &clap::Command, name: &str, text: &mut String) {
    let help = command.clone().term_width(100).render_long_help().to_string();
    let _ = write!(text, "\n## {name}\n\n```text\n{}\n```\n", help.trim_end());
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        section(child, &format!("{name} {}", child.get_name()), text);
    }
}

fn environment() -> String {
    let mut text =
        String::from("# Environment variables\n\n| variable | what it does |\n|---|---|\n");
    for variable in hermes_home::env::VARIABLES {
        let _ = writeln!(text, "| `{}` | {} |", variable.name, variable.does);
    }
    text
}
