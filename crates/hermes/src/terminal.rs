//! What a command of the command line works with: the home, where it prints, and whether it may ask.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use hermes_app::App;
use hermes_app::app::Opening;
use hermes_home::Home;

use crate::cli::Global;
use crate::confirm::Asking;
use crate::output::{Output, Sheet};

/// The program as somebody uses it who types commands.
pub(crate) struct Terminal {
    app: App,
    pub(crate) out: Output,
    pub(crate) asking: Asking,
    pub(crate) json: bool,
}

impl Terminal {
    /// As the flags say.
    pub(crate) fn new(global: Global) -> Terminal {
        let color = match global.no_color {
            true => anstream::ColorChoice::Never,
            false => anstream::AutoStream::choice(&std::io::stdout()),
        };
        let out = Output::new(global.json, global.quiet, color, global.place());
        let (json, asking) = (global.json, Asking { yes: global.yes, no_input: global.no_input });
        let Global { home, profile, settings, .. } = global;
        Terminal::on(App::new(Opening { home, profile, settings }), out, (asking, json))
    }

    /// For a command that is typed inside a conversation: what it prints goes to a sheet.
    pub(crate) fn inside(app: &App, home: &Home, sheet: Sheet, asking: Asking) -> Terminal {
        Terminal::on(app.for_profile(home), Output::on_sheet(sheet), (asking, false))
    }

    /// On a home that is open, with an output of its own.
    pub(crate) fn on(app: App, out: Output, (asking, json): (Asking, bool)) -> Terminal {
        Terminal { app: app.telling(Arc::new(out.remarks())), out, asking, json }
    }

    /// Whether somebody may be asked at this terminal: not with `--no-input`, and not on one that knows no cursor.
    pub(crate) fn asks(&self) -> bool {
        !self.asking.no_input && self.env.get("TERM") != Some("dumb")
    }
}

impl Deref for Terminal {
    type Target = App;

    fn deref(&self) -> &App {
        &self.app
    }
}

impl DerefMut for Terminal {
    fn deref_mut(&mut self) -> &mut App {
        &mut self.app
    }
}
