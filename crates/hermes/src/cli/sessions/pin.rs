//! hermes sessions pin, unpin

use std::io;

use clap::Args;
use hermes_app::sessions::{self, Pinned};
use hermes_home::Home;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Session: its id, the beginning of it, its title, or `last`
    session: String,
}

pub(crate) fn run(
    arguments: &Arguments,
    pinned: bool,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let pinned = sessions::pin(app, home, &arguments.session, pinned)?;
    app.out.show(&pinned)?;
    Ok(Outcome::Done)
}

impl Show for Pinned {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let state = if self.pinned { "pinned: it is never pruned" } else { "not pinned" };
        page.line(format_args!("{} is {state}", self.session_id))
    }
}
