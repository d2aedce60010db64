//! Ask before what cannot be undone; never require a prompt.

use std::io::{self, BufRead, IsTerminal, Write};

use crate::failure::{Kind, Problem};
use crate::output::{printable, with_marks};

/// How the user wants questions to be handled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking {
    /// `--yes`: every question is answered with yes.
    pub(crate) yes: bool,
    /// `--no-input`: nothing is asked.
    pub(crate) no_input: bool,
}

/// Goes on only with the user's consent.
pub(crate) fn consent(asking: Asking, question: &str) -> anyhow::Result<()> {
    if asking.yes {
        return Ok(());
    }
    let refused = || Problem::new(Kind::Refused, format!("not done: {question}"));
    if asking.no_input || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(refused().hint("add `--yes` to go ahead").into());
    }
    let mut stderr = io::stderr();
    write!(stderr, "{} [y/N] ", with_marks(&printable(question)))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(refused().into()),
    }
}
