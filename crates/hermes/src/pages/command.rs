//! Commands of the program as pages use them: the same code and the same JSON as in a terminal.

use std::sync::mpsc;
use std::time::Duration;

use crate::cli::run_words;
use crate::confirm::Asking;
use crate::failure::Outcome;
use crate::output::{Output, Sheet};
use crate::terminal::Terminal;
use hermes_app::pool::Seat;

/// How long a page waits for a command that may take long.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a command said.
#[derive(Debug)]
pub(super) enum Told {
    /// It came to its end; the words, without styles.
    Done(String),
    /// It goes on.
    GoesOn,
}

/// Does what a command does, and returns what it says to people.
pub(super) fn tell(seat: &Seat, words: &[&str]) -> anyhow::Result<String> {
    let sheet = Sheet::default();
    run_words(words, &mut inside(seat, words, (sheet.clone(), false)))?;
    Ok(plain(&sheet))
}

/// The same as `tell` for what may take long: it goes on where nobody waits for it any more.
pub(super) fn tell_long(seat: &Seat, words: &[&str]) -> anyhow::Result<Told> {
    let sheet = Sheet::default();
    let mut app = inside(seat, words, (sheet.clone(), false));
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let (sender, ended) = mpsc::channel::<anyhow::Result<Outcome>>();
    std::thread::Builder::new().name("page-command".to_owned()).spawn(move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // Whoever waited may be gone.
        let _ = sender.send(run_words(&words, &mut app));
    })?;
    match ended.recv_timeout(PATIENCE) {
        Ok(outcome) => outcome.map(|_| Told::Done(plain(&sheet))),
        Err(_) => Ok(Told::GoesOn),
    }
}

/// A person sits before the page and has said yes. Backups are of the whole home, whatever profile is looked at.
fn inside(seat: &Seat, words: &[&str], (sheet, json): (Sheet, bool)) -> Terminal {
    let app = match words.first() {
        Some(&"backup") => seat.app.for_folder(seat.home.root()),
        _ => seat.app.for_profile(&seat.home),
    };
    Terminal::on(app, Output::plain_on(sheet, json), (Asking { yes: true, no_input: true }, json))
}

/// What was said, without the lines that are for a terminal.
fn plain(sheet: &Sheet) -> String {
    let text = anstream::adapter::strip_str(&sheet.text()).to_string();
    let lines = text.lines().filter(|line| !line.starts_with("hint: "));
    lines.collect::<Vec<_>>().join("\n")
}
