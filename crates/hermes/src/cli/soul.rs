//! hermes soul show, edit, versions, restore

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Subcommand;
use hermes_home::layout::MemoryTarget;
use hermes_home::soul;
use serde::Serialize;

use crate::cli::memory;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::text::printable;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print the persona
    Show,
    /// Open SOUL.md in your editor
    Edit,
    /// List the earlier versions
    Versions,
    /// Restore an earlier version; this can be undone
    Restore {
        /// Number of the version, or the first characters of its hash
        #[arg(value_name = "VERSION")]
        wanted: String,
    },
}

#[derive(Debug, Serialize)]
struct Persona {
    file: PathBuf,
    built_in: bool,
    tokens: usize,
    text: String,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    match command {
        Command::Edit => memory::edit::run(&MemoryTarget::Soul, app),
        Command::Versions => memory::history::versions(&MemoryTarget::Soul, app),
        Command::Restore { wanted } => memory::history::restore(&MemoryTarget::Soul, wanted, app),
        Command::Show => {
            let found = soul::show(&app.existing_home()?)?;
            if found.is_built_in {
                app.out.note(format_args!(
                    "{} is missing or empty; this is the built-in persona",
                    found.path.display()
                ));
            }
            app.out.show(&Persona {
                built_in: found.is_built_in,
                tokens: found.tokens,
                text: found.text,
                file: found.path,
            })?;
            Ok(Outcome::Done)
        }
    }
}

impl Show for Persona {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(printable(self.text.trim_end_matches('\n')))
    }
}
