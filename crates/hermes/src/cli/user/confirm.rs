//! hermes user confirm

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_app::text::printable;
use hermes_app::users::confirm::{Judged, confirm};
use hermes_home::Home;

use crate::confirm::ask;
use crate::failure::Outcome;
use crate::output::{DIM, Listing, Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Link this account to you without asking: the channel and the id there; can be given several times
    #[arg(long, num_args = 2, value_names = ["CHANNEL", "ID"])]
    mine: Vec<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    app: &mut Terminal,
    home: &Home,
) -> anyhow::Result<Outcome> {
    let mine: Vec<(&str, &str)> =
        arguments.mine.chunks(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let results = confirm(app, home, &mine, &|question| ask(app.asking, question))?;
    app.out.show(&Listing { results })?;
    Ok(Outcome::Done)
}

impl Show for Listing<Judged> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("every account that wrote is linked to a user");
        }
        for one in &self.results {
            let (channel, id) = (printable(&one.channel), printable(&one.native_id));
            match (&one.user, &one.if_owner) {
                (Some(user), _) => {
                    page.line(format_args!("{channel} {id} is {}", printable(user)))?;
                }
                (None, command) => {
                    page.line(format_args!("{channel} {id} is not linked to a user"))?;
                    let command = command.as_deref().unwrap_or_default();
                    page.line(format_args!("  {DIM}if it is you:{DIM:#} {}", printable(command)))?;
                }
            }
        }
        Ok(())
    }
}
