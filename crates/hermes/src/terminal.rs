//! What a command of the command line works with: the home, where it prints, and whether it may ask.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hermes_app::App;
use hermes_app::app::Opening;
use hermes_home::Home;

use crate::confirm::Asking;
use crate::failure::Outcome;
use crate::output::{Output, Sheet};

/// Flags that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Home folder [default: $HERMES_HOME, else ~/.hermes]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) home: Option<PathBuf>,
    /// Profile to use; `default` is the home itself
    #[arg(long, short = 'p', global = true, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// Print JSON instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Override a setting for this command only
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Answer yes to every question
    #[arg(long, short = 'y', global = true)]
    pub(crate) yes: bool,
    /// Never prompt; fail if an answer is needed
    #[arg(long, global = true)]
    pub(crate) no_input: bool,
    /// Print no notes and hints
    #[arg(long, global = true)]
    pub(crate) quiet: bool,
    /// Do not use colours
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
}

impl Global {
    /// The flags that name the home as they were typed, for the commands in hints.
    pub(crate) fn place(&self) -> String {
        let home = self.home.as_ref().map(|home| format!("--home {} ", home.display()));
        let profile = self.profile.as_ref().map(|profile| format!("--profile {profile} "));
        home.unwrap_or_default() + &profile.unwrap_or_default()
    }
}

/// Runs a command that is given as words, for whoever is no command line and has one within reach.
pub(crate) type Commands = fn(&[&str], &mut Terminal) -> anyhow::Result<Outcome>;

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
        Terminal::on(App::new(Opening { home, profile, settings }), out, asking, json)
    }

    /// For a command that is typed inside a conversation: what it prints goes to a sheet.
    pub(crate) fn inside(app: &App, home: &Home, sheet: Sheet, asking: Asking) -> Terminal {
        Terminal::on(app.for_profile(home), Output::on_sheet(sheet), asking, false)
    }

    /// On a home that is open, with an output of its own.
    pub(crate) fn on(app: App, out: Output, asking: Asking, json: bool) -> Terminal {
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
