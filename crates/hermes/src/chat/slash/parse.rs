//! What was typed: a message for the model, or a slash command with its words.

use super::table::{self, Command};

/// A line that was typed.
#[derive(Debug)]
pub(crate) enum Typed<'a> {
    /// Nothing.
    Nothing,
    /// For the model.
    Message,
    /// A command and what stands after it.
    Command(&'static Command, &'a str),
    /// A command that is not there, and the one that was probably meant.
    Unknown(&'a str, Option<&'static str>),
}

/// Reads a line; only one whose very first character is a slash is a command.
pub(crate) fn parse(line: &str) -> Typed<'_> {
    if line.trim().is_empty() {
        return Typed::Nothing;
    }
    let Some(rest) = line.strip_prefix('/') else { return Typed::Message };
    let (name, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match table::find(name) {
        Some(command) => Typed::Command(command, after.trim()),
        None => Typed::Unknown(name, table::nearest(name)),
    }
}

/// The first word and the rest.
pub(crate) fn first(text: &str) -> (&str, &str) {
    let (word, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    (word, rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        match parse(line) {
            Typed::Nothing => "nothing".to_owned(),
            Typed::Message => "message".to_owned(),
            Typed::Command(command, rest) => format!("{} <{rest}>", command.name),
            Typed::Unknown(name, near) => format!("unknown {name} {near:?}"),
        }
    }

    #[test]
    fn a_slash_at_the_very_beginning_makes_a_command() {
        assert_eq!(shown("/search  tea and coffee "), "search <tea and coffee>");
        assert_eq!(shown("/HELP"), "help <>");
        assert_eq!(shown("/memory\nadd x"), "memory <add x>");
        assert_eq!(shown("hello /quit"), "message");
        assert_eq!(shown(" /etc/hosts is wrong"), "message");
        assert_eq!(shown("/etc/hosts"), "unknown etc/hosts None");
        assert_eq!(shown("/contxt"), "unknown contxt Some(\"context\")");
        assert_eq!(shown("/"), "unknown  None");
        assert_eq!(shown("  \n"), "nothing");
    }

    #[test]
    fn the_first_word_is_parted_from_the_rest() {
        assert_eq!(first(" edit  fact:1 new text"), ("edit", "fact:1 new text"));
        assert_eq!(first(""), ("", ""));
    }
}
