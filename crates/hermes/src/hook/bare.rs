//! An event for the bare program: agents that ignore `args` start `hermes` without a word and send it.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::mpsc;
use std::time::Duration;

use hermes_home::env::Env;

use hermes_app::integrate::agents::claude_code;

/// What stands on standard input of a program that was started without a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// An event of an agent.
    Event,
    /// Nothing, or something else, or a person.
    NoEvent,
    /// Nothing yet, from somebody who may still send something.
    Silence,
}

/// How long the first byte of an event is waited for.
const PATIENCE: Duration = Duration::from_millis(200);
/// The word for an agent that is known by its events alone.
pub(crate) const ANY_AGENT: &str = "-";

/// Looks at the first byte; it is not taken away.
pub(crate) fn listen() -> Heard {
    if io::stdin().is_terminal() {
        return Heard::NoEvent;
    }
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let first = io::stdin().lock().fill_buf().map(|bytes| bytes.first().copied());
        let _ = sender.send(first.unwrap_or_default());
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(Some(b'{')) => Heard::Event,
        Ok(_) => Heard::NoEvent,
        Err(_) => Heard::Silence,
    }
}

/// The words that the agent left out: those of its settings, which may name a home, else the plain ones.
pub(crate) fn words(env: &Env) -> Vec<String> {
    let configured = claude_code::hook_commands(env).into_iter().find_map(|words| {
        let verb = words.iter().position(|word| word == "hook")?;
        Some(words[1..verb].to_vec())
    });
    let flags = configured.unwrap_or_default();
    let program = std::iter::once("hermes".to_owned());
    program.chain(flags).chain(["hook".to_owned(), ANY_AGENT.to_owned()]).collect()
}
