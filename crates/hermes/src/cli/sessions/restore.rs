//! hermes sessions restore

use std::io;

use clap::Args;
use hermes_app::sessions::restore::{self, DeletedSession};
use hermes_app::text::one_line;
use hermes_home::Home;

use super::import;
use crate::failure::Outcome;
use crate::output::{DIM, Listing, Page, Show};
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Session to restore; without it, lists the sessions that can be restored
    session: Option<String>,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    match &arguments.session {
        None => {
            app.out.show(&Listing { results: restore::all(home)? })?;
            Ok(Outcome::Done)
        }
        Some(wanted) => {
            let report = restore::restore(app, home, wanted)?;
            import::show(report, app)
        }
    }
}

impl Show for Listing<DeletedSession> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("there are no deleted sessions to restore");
        }
        self.results.iter().try_for_each(|one| {
            let title = one.title.as_deref().unwrap_or_default();
            page.line(format_args!("{}  {DIM}{}{DIM:#}", one.id, one_line(title, 80)))
        })
    }
}
