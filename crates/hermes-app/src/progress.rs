//! How far long work is, told while it goes on.

use std::fmt::Display;
use std::sync::Arc;

use crate::app::App;
use crate::remarks::Remarks;
use crate::text::bytes;

/// A line that is told again and again; it is cleared when the work ends, well or not.
pub struct Progress(Arc<dyn Remarks>);

impl Progress {
    /// Nothing is told yet.
    pub fn of(app: &App) -> Progress {
        Progress(app.remarks())
    }

    /// Tells how far it is.
    pub fn say(&self, text: impl Display) {
        self.0.progress(Some(&text.to_string()));
    }

    /// A bar for a step of a backup.
    pub fn step(&self, step: &hermes_backup::Progress<'_>) {
        const WIDTH: u64 = 24;
        if step.of == 0 {
            return self.say(format_args!("{} {}", step.doing, bytes(step.done)));
        }
        let filled = (step.done.min(step.of) * WIDTH / step.of) as usize;
        let bar = "#".repeat(filled) + &".".repeat(WIDTH as usize - filled);
        let percent = step.done.min(step.of) * 100 / step.of;
        self.say(format_args!("[{bar}] {percent:>3} %  {}", step.doing));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.progress(None);
    }
}
