//! OpenClaw: the workspace with its files, notes and skills, and the sessions of its agents.

mod sessions;
mod workspace;

use std::path::{Path, PathBuf};

use crate::reading::Reading;
use crate::{Error, Result, files};

pub use workspace::{workspace_files, workspace_of};

const AGENT: &str = "openclaw";

/// Reads `~/.openclaw`, a workspace alone, or one session.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let found = path.metadata().map_err(|why| Error::file(path, why))?;
    if !found.is_dir() {
        files::refuse_special(path)?;
        return sessions::one(path, &sessions::Index::default(), reading);
    }
    let workspace = workspace_of(path);
    let folders = session_folders(path);
    if workspace.is_none() && folders.is_empty() {
        return Err(Error::not_this(path, "it has neither a workspace nor sessions of OpenClaw"));
    }
    if let Some(workspace) = workspace {
        workspace::read(&workspace, reading)?;
    }
    folders.iter().try_for_each(|folder| sessions::folder(folder, reading))
}

/// `agents/<id>/sessions`, or the folder itself.
fn session_folders(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(path.join("agents"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("sessions"))
        .filter(|folder| folder.is_dir())
        .collect();
    if found.is_empty() && path.join("sessions.json").is_file() {
        found.push(path.to_owned());
    }
    found.sort();
    found
}
