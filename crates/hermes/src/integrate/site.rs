//! Where an agent's files are: the user's folder, the project, and the variables that move them.

use std::path::{Path, PathBuf};

use hermes_home::Home;
use hermes_home::env::Env;

use super::program::Program;

/// For which projects an agent is connected.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// For everything this user does
    User,
    /// For the project in the current folder
    Project,
}

/// What is to be connected, and from where.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) env: Env,
    /// Where `~` points.
    pub(crate) user: PathBuf,
    /// The current folder.
    pub(crate) project: PathBuf,
    pub(crate) scope: Scope,
    pub(crate) hooks: bool,
    pub(crate) mcp: bool,
    pub(crate) program: Program,
    /// The home of ours.
    pub(crate) home: Home,
    /// The home of Hermes Agent.
    pub(crate) agent_home: PathBuf,
}

impl Site {
    /// A folder that a variable may move.
    pub(crate) fn folder(&self, variable: &str, usual: &str) -> PathBuf {
        match self.env.get(variable) {
            Some(said) => self.expand(said),
            None => self.user.join(usual),
        }
    }

    /// The user's folder of settings: `$XDG_CONFIG_HOME`, else `~/.config`.
    pub(crate) fn settings(&self) -> PathBuf {
        self.folder("XDG_CONFIG_HOME", ".config")
    }

    pub(crate) fn expand(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(inside) => self.user.join(inside),
            None => PathBuf::from(path),
        }
    }

    pub(crate) fn is_project(&self) -> bool {
        self.scope == Scope::Project
    }

    /// Whether a program of one of these names is in PATH.
    pub(crate) fn has_program(&self, names: &[&str]) -> bool {
        let folders = self.env.get("PATH").map(std::env::split_paths).into_iter().flatten();
        let mut folders = folders.filter(|folder| folder.is_absolute());
        folders.any(|folder| names.iter().any(|name| folder.join(name).is_file()))
    }
}

/// The first of the paths that exists, else the first.
pub(crate) fn first_existing(paths: Vec<PathBuf>) -> PathBuf {
    let found = paths.iter().position(|path| path.exists()).unwrap_or_default();
    paths.into_iter().nth(found).unwrap_or_else(|| Path::new("").to_owned())
}
