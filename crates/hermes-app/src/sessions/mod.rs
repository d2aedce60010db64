//! What is done to conversations in state.db: titles, pins, deleting and bringing back, writing out.

mod conversation;
pub mod delete;
pub mod export;
mod html;
mod markdown;
pub mod prune;
pub mod restore;

use std::io::BufRead;

use hermes_home::{Home, pins};
use hermes_store::sessions::{ImportReport, SessionId};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::problem::{Kind, Problem};

/// Whether a session may be pruned.
#[derive(Debug, Serialize)]
pub struct Pinned {
    /// The session.
    pub session_id: SessionId,
    /// Whether it is never pruned.
    pub pinned: bool,
    /// Whether that is new.
    pub changed: bool,
}

/// Keeps a session from being pruned, or lets it be pruned again.
pub fn pin(app: &App, home: &Home, session: &str, pinned: bool) -> anyhow::Result<Pinned> {
    let store = app.sessions(home, Access::Read)?;
    let session_id = store.find(session)?;
    if !pinned && store.session(&session_id)?.pinned {
        let message = format!("{session_id} is pinned by Hermes Agent, in its own table");
        return Err(Problem::new(Kind::Refused, message).hint("unpin it there").into());
    }
    let changed = pins::set(home, session_id.as_str(), pinned)?;
    Ok(Pinned { session_id, pinned, changed })
}

/// Gives a session a title.
pub fn rename(app: &App, home: &Home, session: &str, title: &str) -> anyhow::Result<SessionId> {
    let mut store = app.sessions(home, Access::Write)?;
    let session_id = store.find(session)?;
    store.rename(&session_id, Some(title))?;
    Ok(session_id)
}

/// Takes in sessions from JSON lines.
pub fn import(app: &App, home: &Home, lines: &mut dyn BufRead) -> anyhow::Result<ImportReport> {
    Ok(app.sessions(home, Access::Write)?.import(lines, app.now)?)
}
