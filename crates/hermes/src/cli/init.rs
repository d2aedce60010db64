//! hermes init

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_app::prepare::{Prepared, begin_anew, prepare};
use hermes_home::databases::Database;
use hermes_store::sqlite::Access;

use crate::failure::Outcome;
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// If memory.db is missing, start with an empty memory
    #[arg(long)]
    new_memory: bool,
    /// If state.db is missing, start with an empty session database
    #[arg(long)]
    new_state: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.home()?;
    if arguments.new_state {
        begin_anew(app, &home, Database::State)?;
    }
    let mut prepared = prepare(app, &home)?;
    if arguments.new_memory {
        begin_anew(app, &home, Database::Memory)?;
        prepared.made.push(app.memory(&home, Access::Write)?.path);
    }
    app.out.show(&prepared)?;
    app.out.hint("edit SOUL.md with `hermes soul edit`, or see what is ready with `hermes start`");
    Ok(Outcome::Done)
}

impl Show for Prepared {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.made.is_empty() {
            return page
                .line(format_args!("{} is complete; nothing was changed", self.home.display()));
        }
        page.line(format_args!("created in {}:", self.home.display()))?;
        for path in &self.made {
            let shown = path.strip_prefix(&self.home).unwrap_or(path);
            let shown = if shown.as_os_str().is_empty() { path } else { shown };
            page.line(format_args!("  {}", shown.display()))?;
        }
        Ok(())
    }
}
