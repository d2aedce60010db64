//! Ask before what cannot be undone; never require a prompt.

use std::io::{self, BufRead, IsTerminal, Write};

use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{printable, with_marks};

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
    let refused = || Problem::new(Kind::Refused, format!("not confirmed: {question}"));
    match ask(asking, question)? {
        Some(true) => Ok(()),
        Some(false) => Err(refused().into()),
        None => Err(refused().hint("add `--yes` to confirm").into()),
    }
}

/// What a person at the terminal says, whatever the flags say for them; none if nobody can be asked.
pub(crate) fn ask(asking: Asking, question: &str) -> anyhow::Result<Option<bool>> {
    if asking.no_input || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Ok(None);
    }
    let mut stderr = io::stderr();
    write!(stderr, "{} [y/N] ", with_marks(&printable(question)))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")))
}
