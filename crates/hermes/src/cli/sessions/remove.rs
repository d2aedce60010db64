//! hermes sessions delete

use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::{Home, pins, session_files};
use hermes_store::sessions::{SessionId, SessionStore};
use serde::Serialize;

use super::{export, restore, writing};
use crate::app::App;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show, counted};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The sessions: id, the beginning of it, or title
    #[arg(required = true)]
    sessions: Vec<String>,
    /// Write them to this file first, for `sessions import`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// For ever: keep nothing to bring them back from
    #[arg(long)]
    erase: bool,
}

#[derive(Debug, Serialize)]
struct Deleted {
    sessions: Vec<SessionId>,
    messages: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exported_to: Option<PathBuf>,
    /// Sessions that could not be deleted, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    kept: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments, home: &Home, app: &mut App) -> anyhow::Result<Outcome> {
    let pinned = pins::read(home)?;
    let mut store = writing(app, home)?;
    let mut sessions: Vec<SessionId> = Vec::new();
    for name in &arguments.sessions {
        let id = store.find(name)?;
        if !sessions.contains(&id) {
            sessions.push(id);
        }
    }
    let question = format!("delete {}?", named(&store, &sessions)?);
    confirm::consent(app.asking, &question)?;
    if let Some(path) = &arguments.export {
        export::save_lines(&store, &sessions, path)?;
    }
    let mut deleted = Deleted {
        sessions: Vec::new(),
        messages: 0,
        exported_to: arguments.export.clone(),
        kept: Vec::new(),
    };
    for id in sessions {
        let aside = match arguments.erase {
            true => None,
            false => Some(restore::keep(home, &store, &id, app.now)?),
        };
        let outcome = match arguments.erase {
            true => store
                .erase(std::slice::from_ref(&id))
                .inspect(|_| erase_copies(home, &id, &mut deleted)),
            false => store.delete(&id),
        };
        if let (Err(_), Some(aside)) = (&outcome, aside) {
            // It is still where it was.
            let _ = std::fs::remove_file(aside);
        }
        match outcome {
            Ok(messages) => {
                deleted.messages += messages;
                if pinned.contains(id.as_str()) {
                    pins::set(home, id.as_str(), false)?;
                }
                deleted.sessions.push(id);
            }
            // Alone it is an error; beside others it must not hide what was done to them.
            Err(error) if arguments.sessions.len() > 1 => {
                deleted.kept.push(format!("{id}: {error}"))
            }
            Err(error) => return Err(error.into()),
        }
    }
    let is_partial = !deleted.kept.is_empty();
    app.out.show(&deleted)?;
    if let (false, Some(id)) = (arguments.erase, deleted.sessions.first()) {
        app.out.hint(format_args!("undo with `hermes sessions restore {id}`; kept for 30 days"));
    }
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

/// What else the home keeps of a session that goes for ever.
fn erase_copies(home: &Home, id: &SessionId, deleted: &mut Deleted) {
    if let Err(error) = session_files::erase(home, &[id.to_string()]) {
        deleted.kept.push(format!("copies of {id}: {error}"));
    }
}

fn named(store: &SessionStore, sessions: &[SessionId]) -> anyhow::Result<String> {
    let mut names = Vec::new();
    for id in sessions {
        let session = store.session(id)?;
        let title = session.title.map(|title| format!(" {title:?}")).unwrap_or_default();
        let count = u64::try_from(session.message_count).unwrap_or(0);
        names.push(format!("{id}{title} ({})", counted(count, "message")));
    }
    Ok(names.join(", "))
}

impl Show for Deleted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let sessions = counted(self.sessions.len() as u64, "session");
        let kept = self.exported_to.as_ref().map(|path| format!("; kept in {}", path.display()));
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
