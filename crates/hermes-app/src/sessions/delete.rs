//! Sessions are deleted with all their messages; unless erased, they can be brought back for a month.

use std::path::{Path, PathBuf};

use hermes_home::{Home, pins, session_files};
use hermes_store::sessions::{SessionId, SessionStore};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::{export, restore};
use crate::app::App;
use crate::text::counted;

/// How sessions are deleted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deleting<'a> {
    /// A file to which they are written first.
    pub copy: Option<&'a Path>,
    /// Whether nothing is kept to bring them back from.
    pub erase: bool,
}

/// Sessions that were deleted.
#[derive(Debug, Serialize)]
pub struct DeletedSessions {
    /// The sessions.
    pub sessions: Vec<SessionId>,
    /// How many messages they had.
    pub messages: u64,
    /// The file that has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exported_to: Option<PathBuf>,
    /// Sessions that could not be deleted, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// The sessions of some names, each once.
pub fn find(app: &App, home: &Home, names: &[String]) -> anyhow::Result<Vec<SessionId>> {
    let store = app.sessions(home, Access::Read)?;
    let mut sessions: Vec<SessionId> = Vec::new();
    for name in names {
        let id = store.find(name)?;
        if !sessions.contains(&id) {
            sessions.push(id);
        }
    }
    Ok(sessions)
}

/// Sessions with their titles and lengths, in a line.
pub fn described(app: &App, home: &Home, sessions: &[SessionId]) -> anyhow::Result<String> {
    named(&app.sessions(home, Access::Read)?, sessions)
}

/// Deletes sessions. One that cannot be deleted is an error alone, and is named among others.
pub fn delete(
    app: &App,
    home: &Home,
    sessions: &[SessionId],
    how: Deleting<'_>,
) -> anyhow::Result<DeletedSessions> {
    let pinned = pins::read(home)?;
    let mut store = app.sessions(home, Access::Write)?;
    if let Some(path) = how.copy {
        export::save_lines(&store, sessions, path)?;
    }
    let exported_to = how.copy.map(Path::to_owned);
    let mut deleted =
        DeletedSessions { sessions: Vec::new(), messages: 0, exported_to, kept: Vec::new() };
    restore::sweep(home, app.now);
    for id in sessions {
        let aside = match how.erase {
            true => None,
            false => Some(restore::keep(home, &store, id, app.now)?),
        };
        let outcome = match how.erase {
            true => store
                .erase(std::slice::from_ref(id))
                .inspect(|_| erase_copies(home, id, &mut deleted)),
            false => store.delete(id),
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
                deleted.sessions.push(id.clone());
            }
            // Alone it is an error; beside others it must not hide what was done to them.
            Err(error) if sessions.len() > 1 => deleted.kept.push(format!("{id}: {error}")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(deleted)
}

/// What else the home keeps of a session that goes for ever.
fn erase_copies(home: &Home, id: &SessionId, deleted: &mut DeletedSessions) {
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
