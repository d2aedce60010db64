//! hermes sessions pin, unpin

use std::io;

use clap::Args;
use hermes_home::{Home, pins};
use serde::Serialize;

use super::reading;
use crate::app::App;
use crate::failure::{Kind, Outcome, Problem};
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The session: its id, the beginning of it, its title, or `last`
    session: String,
}

#[derive(Debug, Serialize)]
struct Pinned {
    session_id: String,
    pinned: bool,
    changed: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    pinned: bool,
    home: &Home,
    app: &mut App,
) -> anyhow::Result<Outcome> {
    let store = reading(app, home)?;
    let id = store.find(&arguments.session)?;
    if !pinned && store.session(&id)?.pinned {
        let message = format!("{id} is pinned by Hermes Agent, in its own table");
        return Err(Problem::new(Kind::Refused, message).hint("unpin it there").into());
    }
    let changed = pins::set(home, id.as_str(), pinned)?;
    app.out.show(&Pinned { session_id: id.to_string(), pinned, changed })?;
    Ok(Outcome::Done)
}

impl Show for Pinned {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let state = if self.pinned { "pinned: it is never pruned" } else { "not pinned" };
        page.line(format_args!("{} is {state}", self.session_id))
    }
}
