//! One line on the terminal that says how far long work is.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use crate::app::App;

/// A line that is written over; nothing where nobody watches.
pub(super) struct Progress {
    is_watched: bool,
    is_dirty: bool,
}

impl Progress {
    pub(super) fn of(app: &App) -> Progress {
        Progress { is_watched: !app.json && io::stderr().is_terminal(), is_dirty: false }
    }

    pub(super) fn say(&mut self, text: impl Display) {
        if self.is_watched {
            let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
            self.is_dirty = true;
        }
    }

    /// Clears the line, so that what follows stands alone.
    pub(super) fn end(&mut self) {
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
