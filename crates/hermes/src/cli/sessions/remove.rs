//! hermes sessions delete

use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_app::sessions::delete::{self, DeletedSessions, Deleting};
use hermes_app::text::counted;
use hermes_home::Home;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Sessions: id, the beginning of it, or title
    #[arg(required = true)]
    sessions: Vec<String>,
    /// Export them to this file first, for `sessions import`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Delete permanently: keep no copy to restore from
    #[arg(long)]
    erase: bool,
}

pub(crate) fn run(
    arguments: &Arguments,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let sessions = delete::find(app, home, &arguments.sessions)?;
    let question = format!("delete {}?", delete::described(app, home, &sessions)?);
    confirm::consent(app.asking, &question)?;
    let how = Deleting { copy: arguments.export.as_deref(), erase: arguments.erase };
    let deleted = delete::delete(app, home, &sessions, how)?;
    app.out.show(&deleted)?;
    if let (false, Some(id)) = (arguments.erase, deleted.sessions.first()) {
        app.out
            .hint(format_args!("undo with `hermes sessions restore {id}`, possible for 30 days"));
    }
    Ok(if deleted.kept.is_empty() { Outcome::Done } else { Outcome::Partial })
}

impl Show for DeletedSessions {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let sessions = counted(self.sessions.len() as u64, "session");
        let kept =
            self.exported_to.as_ref().map(|path| format!("; exported to {}", path.display()));
        page.line(format_args!(
            "{sessions} with {} deleted{}",
            counted(self.messages, "message"),
            kept.unwrap_or_default()
        ))?;
        for line in &self.kept {
            page.line(format_args!("not deleted: {line}"))?;
        }
        Ok(())
    }
}
