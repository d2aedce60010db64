//! hermes user export

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_app::text::{bytes, counted};
use hermes_app::users::export::{PersonWritten, export};
use hermes_home::UserId;

use crate::failure::Outcome;
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// User to export; `owner` is you
    user: UserId,
    /// New folder to write to
    #[arg(long, value_name = "FOLDER")]
    to: PathBuf,
}

pub(super) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let written = export(app, &arguments.user, &arguments.to)?;
    app.out.show(&written)?;
    app.out.note("the folder contains all of the user's data in clear text: keep it as private as the memory");
    Ok(Outcome::Done)
}

impl Show for PersonWritten {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let items = counted(self.items.values().sum(), "item");
        let sessions = counted(self.sessions, "session");
        page.line(format_args!(
            "exported everything of {}: {items}, {sessions}, written to {}",
            self.user,
            self.folder.display()
        ))?;
        for file in &self.files {
            page.line(format_args!("  {:<28} {}", file.path, bytes(file.bytes)))?;
        }
        Ok(())
    }
}
