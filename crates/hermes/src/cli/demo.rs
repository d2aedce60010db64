//! hermes demo

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

use crate::demo::{self, Filled, Size};
use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder to create it in, empty or new [default: a new temporary folder]
    #[arg(long, value_name = "FOLDER")]
    at: Option<PathBuf>,
    /// Create only the main conversations, and no backups
    #[arg(long)]
    small: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let folder = match &arguments.at {
        Some(folder) => std::path::absolute(folder)?,
        None => tempfile::Builder::new()
            .prefix("hermes-demo-")
            .tempdir()
            .context("could not create a temporary folder")?
            .keep(),
    };
    let size = if arguments.small { Size::Small } else { Size::Whole };
    let filled = demo::fill(app, super::run_words, &folder, size)?;
    app.out.show(&filled)?;
    app.out.hint(format_args!("when you are done, remove it with `rm -r {}`", folder.display()));
    Ok(Outcome::Done)
}

impl Show for Filled {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!(
            "created half a year of an invented person's memory: {} with {}, {}",
            counted(self.sessions, "session"),
            counted(self.messages, "message"),
            counted(self.facts, "fact"),
        ))?;
        page.line(format_args!("  home        {}", self.home.display()))?;
        if let Some(key) = &self.backup_key {
            page.line(format_args!("  backup key  {}", key.display()))?;
        }
        page.line(format_args!(
            "{DIM}explore it:{DIM:#} HERMES_HOME={} hermes start",
            self.home.display()
        ))
    }
}
