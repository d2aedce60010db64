//! What was written into the files of agents, so that exactly that can be taken back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_home::{Home, atomic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::agents::Part;
use super::edit::{Format, Piece, Splice};
use super::site::Scope;

/// Everything that is connected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What was installed, one for each agent.
    #[serde(default)]
    pub installed: Vec<Installed>,
}

/// One agent as it was connected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Installed {
    /// The name of the agent, or of the page that was written.
    pub agent: String,
    /// For the user or for one project.
    pub scope: Scope,
    /// The folder of the project, where it is for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
    /// When.
    pub at: Timestamp,
    /// The files that were written.
    pub files: Vec<Written>,
}

/// One file as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// What was put into it.
    pub part: Part,
    /// None where the whole file is ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Whether there was no such file.
    pub created: bool,
    /// The folders that were made for it, the outer ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<PathBuf>,
    /// The hash of the file before; none where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The hash of the file as it was written.
    pub after: String,
    /// Where the file as it was is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<PathBuf>,
    /// The texts that were put in.
    pub splices: Vec<Splice>,
    /// The entries that were put in.
    #[serde(default)]
    pub pieces: Vec<Piece>,
}

impl Record {
    /// What is recorded; nothing, if nothing was ever connected.
    pub fn read(home: &Home) -> anyhow::Result<Record> {
        let path = home.integrations();
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .with_context(|| format!("could not read {}", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Record::default()),
            Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
        }
    }

    /// Writes it down.
    pub fn write(&self, home: &Home) -> anyhow::Result<()> {
        let path = home.integrations();
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            atomic::make_folder(folder)?;
        }
        let text = serde_json::to_string_pretty(self)?;
        Ok(atomic::write_private(&path, format!("{text}\n").as_bytes())?)
    }

    /// What an agent has in a place.
    pub fn find(&self, agent: &str, scope: Scope, project: Option<&Path>) -> Option<&Installed> {
        let is_it = |installed: &&Installed| {
            installed.agent == agent
                && installed.scope == scope
                && installed.project.as_deref() == project
        };
        self.installed.iter().find(is_it)
    }

    /// Puts in place what an agent has now; one without files is gone.
    pub fn set(&mut self, now: Installed) {
        self.installed.retain(|other| {
            (&other.agent, other.scope, &other.project) != (&now.agent, now.scope, &now.project)
        });
        if !now.files.is_empty() {
            self.installed.push(now);
        }
    }
}

/// The hash of a text.
pub fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
