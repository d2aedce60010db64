//! One line on the terminal that says how far long work is.

use crate::terminal::Terminal;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use hermes_app::text::bytes;

/// A line that is written over; nothing where nobody watches.
pub(crate) struct Progress {
    is_watched: bool,
    is_dirty: bool,
}

impl Progress {
    pub(crate) fn of(app: &Terminal) -> Progress {
        Progress { is_watched: !app.json && io::stderr().is_terminal(), is_dirty: false }
    }

    pub(crate) fn say(&mut self, text: impl Display) {
        if self.is_watched {
            let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
            self.is_dirty = true;
        }
    }

    /// A bar for a step of a backup.
    pub(crate) fn step(&mut self, step: &hermes_backup::Progress<'_>) {
        const WIDTH: u64 = 24;
        if step.of == 0 {
            return self.say(format_args!("{} {}", step.doing, bytes(step.done)));
        }
        let filled = (step.done.min(step.of) * WIDTH / step.of) as usize;
        let bar = "#".repeat(filled) + &".".repeat(WIDTH as usize - filled);
        let percent = step.done.min(step.of) * 100 / step.of;
        self.say(format_args!("[{bar}] {percent:>3} %  {}", step.doing));
    }

    /// Clears the line, so that what follows stands alone.
    pub(crate) fn end(&mut self) {
        if self.is_dirty {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
            self.is_dirty = false;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}
