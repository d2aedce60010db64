//! hermes db copy

use std::io;

use clap::{Args, ValueEnum};
use hermes_app::server_copy::{self, Copied, Target};
use hermes_app::text::{counted, thousands};

use crate::failure::Outcome;
use crate::output::{Page, Show};
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Backend to copy the memory to; the other one is the source
    #[arg(long, value_enum, value_name = "BACKEND")]
    to: Backend,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Backend {
    /// The server of memory.connection_string
    Postgres,
    /// memory.db
    Sqlite,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let (to, backend) = match arguments.to {
        Backend::Postgres => (Target::Postgres, "postgres"),
        Backend::Sqlite => (Target::Sqlite, "sqlite"),
    };
    let copied = server_copy::copy(app, &home, to)?;
    app.out.show(&copied)?;
    if copied.is_twin {
        app.out
            .hint(format_args!("switch to it with `hermes config set memory.backend {backend}`"));
    }
    let is_whole = copied.is_twin || copied.total.refused == 0;
    Ok(if is_whole { Outcome::Done } else { Outcome::Partial })
}

impl Show for Copied {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Copied { from, into, total, .. } = self;
        page.line(format_args!("{from} was copied to {into}"))?;
        let (added, known) = (counted(total.added, "item"), thousands(total.known));
        page.line(format_args!("{added} added, {known} known already"))?;
        if self.is_twin {
            return page.line("both have the same contents: every item was compared");
        }
        for (part, (here, there)) in &self.differing {
            page.line(format_args!(
                "{part}: {} in the source, {} in the target",
                thousands(*here),
                thousands(*there)
            ))?;
        }
        page.line("the two differ: the target was not empty, or it changed during the copy")
    }
}
