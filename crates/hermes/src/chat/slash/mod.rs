//! Slash commands: what is typed to the program and not to the model.

use super::Conversation;
use super::front::{Event, Front};

/// How a conversation goes on after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Went {
    /// It goes on.
    On,
    /// It is over.
    Quit,
}

/// Whether a line is meant for the program.
pub(crate) fn is_command(line: &str) -> bool {
    line.trim_start().starts_with('/')
}

/// Carries a command out; one that is not known never reaches the model.
pub(crate) fn carry_out(
    _conversation: &mut Conversation,
    line: &str,
    front: &mut dyn Front,
) -> anyhow::Result<Went> {
    match line.trim() {
        "/quit" | "/exit" => Ok(Went::Quit),
        other => {
            front.show(&Event::Notice(&format!("{other} is not a command")))?;
            Ok(Went::On)
        }
    }
}
