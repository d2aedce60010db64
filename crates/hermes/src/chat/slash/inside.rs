//! Commands of the program inside a conversation: the same code, the same words, on a sheet.

use super::Place;
use super::table::COMMANDS;
use crate::confirm::Asking;
use crate::output::Sheet;
use crate::terminal::Terminal;

/// Nobody is asked inside of a conversation.
const ASKING: Asking = Asking { yes: false, no_input: true };

/// Runs a command of the program for whoever asks; what it printed comes back.
pub(super) fn run(place: &Place<'_>, words: &[&str]) -> anyhow::Result<String> {
    let sheet = Sheet::default();
    let mut terminal = Terminal::inside(place.app, place.home, sheet.clone(), ASKING);
    let outcome = (place.commands)(words, &mut terminal);
    drop(terminal);
    outcome?;
    Ok(in_chat(&sheet.text()))
}

/// The same for a command that says with `--user` whose memory it is about.
pub(super) fn run_for(place: &Place<'_>, words: &[&str], rest: &[&str]) -> anyhow::Result<String> {
    let mut all = words.to_vec();
    if let Some(user) = &place.asker.user {
        all.extend(["--user", user.as_str()]);
    }
    if !rest.is_empty() {
        // What was typed is never a flag.
        all.push("--");
        all.extend(rest);
    }
    run(place, &all)
}

/// The text with slash commands in the place of commands that have one.
pub(super) fn in_chat(text: &str) -> String {
    let mut changes: Vec<(String, String)> = COMMANDS
        .iter()
        .flat_map(|command| {
            command.parts.iter().map(move |part| {
                (format!("`hermes {}", part.like), format!("`/{} {}", command.name, part.name))
            })
        })
        .chain([("`hermes memory undo".to_owned(), "`/undo".to_owned())])
        .collect();
    // `memory fact edit` before `memory fact`.
    changes.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
    let mut text = text.to_owned();
    for (from, to) in changes {
        text = replaced(&text, &from, &to);
    }
    text
}

/// Replaces whole words alone: `hermes memory add` is not the beginning of `hermes memory address`.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let after = &rest[at + from.len()..];
        let is_whole = after.starts_with(['`', ' ']);
        out.push_str(&rest[..at]);
        out.push_str(if is_whole { to } else { from });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_what_can_be_typed_here() {
        let hint = "approve one with `hermes memory approve ID`, or reject it with `hermes memory reject ID`";
        assert_eq!(
            in_chat(hint),
            "approve one with `/memory approve ID`, or reject it with `/memory reject ID`"
        );
        assert_eq!(in_chat("`hermes memory fact restore fact:001`"), "`/memory restore fact:001`");
        assert_eq!(in_chat("`hermes memory versions`"), "`hermes memory versions`");
        assert_eq!(in_chat("`hermes memory undo`"), "`/undo`");
    }
}
