//! hermes sessions redact

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_home::Home;
use hermes_store::sessions::Owner;
use serde::Serialize;

use super::{reading, writing};
use crate::cli::memory::redact::rewritten;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::catch_up;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::counted;
use hermes_store::sqlite::Access;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show how many messages contain secrets, and change nothing even with --yes
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Redacted {
    dry_run: bool,
    messages: u64,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let store = reading(app, home)?;
    if store.layout().owner() != Owner::Ours {
        let why = "could not redact state.db: Hermes Agent created or extended it, and Hermes never alters another program's database";
        return Err(Problem::new(Kind::Refused, why)
            .hint("its secrets are still redacted in the memory and in what a model receives")
            .into());
    }
    let messages = store.count_rewrites(&rewritten)?;
    drop(store);
    if arguments.dry_run || !app.asking.yes || messages == 0 {
        app.out.show(&Redacted { dry_run: true, messages })?;
        if messages > 0 {
            app.out.hint(
                "nothing was changed yet; add `--yes` to redact them, which cannot be undone",
            );
        }
        return Ok(Outcome::Done);
    }
    // The memory takes in what it lacks while the transcript still says it.
    if app.has_memory(home) {
        let mut memory = app.memory(home, Access::Write)?;
        catch_up::take_in(app, home, &mut memory.store)?;
    }
    let messages = writing(app, home)?.rewrite_messages(&rewritten)?;
    app.out.show(&Redacted { dry_run: false, messages })?;
    Ok(Outcome::Done)
}

impl Show for Redacted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let count = counted(self.messages, "message");
        match (self.messages, self.dry_run) {
            (0, _) => page.line("no message in state.db contains a secret"),
            (_, true) => page.line(format_args!("{count} of state.db with secrets")),
            (_, false) => page.line(format_args!("{count} of state.db redacted")),
        }
    }
}
