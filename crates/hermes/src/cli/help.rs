//! hermes help: the commands for daily use on one screen, all commands, or the help of one

use std::fmt::Write as _;
use std::io::Write as _;

use clap::{Args, Command, CommandFactory};

use super::{Cli, unknown};
use crate::failure::Outcome;
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Command to explain, for example `backup create`
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
    /// List all commands
    #[arg(long, conflicts_with = "words")]
    all: bool,
}

/// A heading, the commands for daily use below it, and the others.
type Group = (&'static str, &'static [&'static str], &'static [&'static str]);

const GROUPS: &[Group] = &[
    ("Talk", &["chat"], &["run", "model", "soul", "skills", "checkpoint"]),
    ("Remember", &["add", "forget"], &["memory", "user", "handover"]),
    ("Look", &["search", "context", "dashboard"], &["sessions", "status", "jobs", "logs", "paths"]),
    ("Connect", &["integrate", "import"], &["claw", "token", "mcp", "hook"]),
    ("Keep safe", &["backup", "doctor"], &["profile"]),
    ("Run", &["start"], &["stop", "restart", "service", "init", "config", "db"]),
    ("More", &[], &["help", "completions", "man", "demo"]),
];

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let mut root = command();
    root.build();
    let text = match (arguments.all, arguments.words.as_slice()) {
        (true, _) => all(&root),
        (false, []) => first_screen(&root),
        (false, words) => {
            let mut found = &root;
            for word in words {
                let next = found.find_subcommand(word);
                found = next.ok_or_else(|| unknown::problem(word, found))?;
            }
            found.clone().render_long_help().to_string()
        }
    };
    app.out.raw().write_all(text.as_bytes())?;
    app.out.raw().flush()?;
    Ok(Outcome::Done)
}

/// The command tree, as it is parsed: its own help is the first screen.
pub(crate) fn command() -> Command {
    let root = Cli::command();
    let help = first_screen(&root);
    root.override_help(help)
}

/// The first screen.
pub(crate) fn screen() -> String {
    first_screen(&Cli::command())
}

fn first_screen(root: &Command) -> String {
    let mut text = String::from(
        "Hermes is persistent memory for AI agents.\n\nUsage: hermes [OPTIONS] <COMMAND>\n",
    );
    for (heading, daily, _) in GROUPS.iter().filter(|(_, daily, _)| !daily.is_empty()) {
        list(root, heading, daily, &mut text);
    }
    text.push_str(
        "\nMore\n  hermes help --all        list all commands\n  hermes help <COMMAND>    \
         explain a command and its options\n",
    );
    text
}

fn all(root: &Command) -> String {
    let mut text = String::from("Usage: hermes [OPTIONS] <COMMAND>\n");
    for (heading, daily, others) in GROUPS {
        list(root, heading, &[*daily, *others].concat(), &mut text);
    }
    let options = Cli::command().help_template("{options}").render_help();
    let _ = write!(text, "\nOptions\n{options}");
    text
}

fn list(root: &Command, heading: &str, names: &[&str], text: &mut String) {
    let _ = writeln!(text, "\n{heading}");
    for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, "  {:<12} {about}", command.get_name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let root = Cli::command();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, daily, others)| daily.iter().chain(*others))
            .copied()
            .collect();
        let mut shown: Vec<&str> = root
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        grouped.sort_unstable();
        shown.sort_unstable();
        assert_eq!(grouped, shown);
    }

    #[test]
    fn the_first_screen_fits_a_terminal() {
        let text = first_screen(&Cli::command());
        assert!(text.lines().count() <= 35, "{text}");
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(long.is_empty(), "{long:#?}");
        let daily = GROUPS.iter().map(|(_, daily, _)| daily.len()).sum::<usize>();
        assert!(daily <= 12, "{daily}");
    }
}
