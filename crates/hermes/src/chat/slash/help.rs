//! What the commands are, for somebody who asks.

use std::fmt::Write as _;

use super::table::{self, COMMANDS, Command};
use crate::output::{BOLD, DIM};

/// All commands, or one of them.
pub(super) fn text(name: &str) -> String {
    let name = name.trim().trim_start_matches('/');
    if name.is_empty() {
        return all();
    }
    match table::find(name) {
        Some(command) => one(command),
        None => unknown(name, table::nearest(name)) + "\n",
    }
}

/// What is said about a command that is not there.
pub(super) fn unknown(name: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => {
            format!("there is no command /{name}; did you mean /{near}? It was not sent.")
        }
        None => format!(
            "there is no command /{name}; /help lists them. It was not sent; to send it as a message, put a space before it."
        ),
    }
}

fn all() -> String {
    let width = COMMANDS.iter().map(|one| one.usage().chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for command in COMMANDS {
        let usage = command.usage();
        let _ = writeln!(text, "{BOLD}{usage:width$}{BOLD:#}  {}", command.does);
    }
    let _ = writeln!(
        text,
        "\n{DIM}/help COMMAND explains one. Alt+Enter, or \\ at the end, starts a new line.{DIM:#}\n\
         {DIM}Tab completes. Ctrl-R searches the history. Ctrl-C stops an answer;{DIM:#}\n\
         {DIM}press it twice on an empty line, or press Ctrl-D, to exit.{DIM:#}"
    );
    text
}

fn one(command: &Command) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}  {}\n", command.usage(), command.does);
    let width = command.parts.iter().map(|part| part.usage(command).chars().count()).max();
    for part in command.parts {
        let (usage, width) = (part.usage(command), width.unwrap_or(0));
        let _ = writeln!(text, "  {usage:width$}  {}", part.does);
    }
    if !command.aliases.is_empty() {
        let names: Vec<String> = command.aliases.iter().map(|alias| format!("/{alias}")).collect();
        let _ = writeln!(text, "  {DIM}aliases: {}{DIM:#}", names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_all_or_explains_one() {
        let plain = |text: String| anstream::adapter::strip_str(&text).to_string();
        let all = plain(text(""));
        assert!(COMMANDS.iter().all(|one| all.contains(&format!("/{}", one.name))), "{all}");
        let one = plain(text("/memory"));
        assert!(one.contains("/memory edit ID TEXT"), "{one}");
        assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
        assert!(text("contxt").contains("did you mean /context?"));
    }

    #[test]
    fn an_unknown_command_says_that_it_was_not_sent() {
        assert!(unknown("xyz", None).contains("It was not sent"));
        assert!(unknown("hlep", Some("help")).contains("/help? It was not sent"));
    }
}
