//! Where an agent's files are: the user's folder, the project, and the variables that move them.

use std::path::{Path, PathBuf};

use hermes_home::Home;
use hermes_home::env::Env;
use hermes_home::init::Owner;
use hermes_home::layout::Wanted;

use super::program::{self, Program};
use crate::app::App;

/// For which projects an agent is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// For everything this user does
    User,
    /// For the project in the current folder
    Project,
}

/// What is to be connected, and from where.
#[derive(Debug, Clone)]
pub struct Site {
    /// The environment.
    pub env: Env,
    /// Where `~` points.
    pub user: PathBuf,
    /// The current folder.
    pub project: PathBuf,
    /// For the user or for one project.
    pub scope: Scope,
    /// Whether hooks are wanted.
    pub hooks: bool,
    /// Whether the MCP server is wanted.
    pub mcp: bool,
    /// The program that agents call.
    pub program: Program,
    /// The home of ours.
    pub home: Home,
    /// The home of Hermes Agent.
    pub agent_home: PathBuf,
}

impl Site {
    /// A folder that a variable may move.
    pub fn folder(&self, variable: &str, usual: &str) -> PathBuf {
        match self.env.get(variable) {
            Some(said) => self.expand(said),
            None => self.user.join(usual),
        }
    }

    /// The user's folder of settings: `$XDG_CONFIG_HOME`, else `~/.config`.
    pub fn settings(&self) -> PathBuf {
        self.folder("XDG_CONFIG_HOME", ".config")
    }

    /// A path with `~` and variables filled in.
    pub fn expand(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(inside) => self.user.join(inside),
            None => PathBuf::from(path),
        }
    }

    /// Whether it is for one project.
    pub fn is_project(&self) -> bool {
        self.scope == Scope::Project
    }

    /// Whether a program of one of these names is in PATH.
    pub fn has_program(&self, names: &[&str]) -> bool {
        let folders = self.env.get("PATH").map(std::env::split_paths).into_iter().flatten();
        let mut folders = folders.filter(|folder| folder.is_absolute());
        folders.any(|folder| names.iter().any(|name| folder.join(name).is_file()))
    }
}

/// The first of the paths that exists, else the first.
pub fn first_existing(paths: Vec<PathBuf>) -> PathBuf {
    let found = paths.iter().position(|path| path.exists()).unwrap_or_default();
    paths.into_iter().nth(found).unwrap_or_else(|| Path::new("").to_owned())
}

/// What is integrated.
#[derive(Debug, Clone, Copy)]
pub struct Parts {
    /// For whom.
    pub scope: Scope,
    /// Whether the hooks are.
    pub hooks: bool,
    /// Whether the server is.
    pub mcp: bool,
}

/// Where everything is, as the environment says.
pub fn site(app: &App, home: &Home, parts: Parts) -> anyhow::Result<Site> {
    let Parts { scope, hooks, mcp } = parts;
    let user = app.env.user_folder()?.ok_or(hermes_home::Error::NoHome)?;
    let agent_home = match app.owner(home) {
        Ok(Owner::HermesAgent) => home.folder().to_owned(),
        _ => match Home::locate(&Wanted::default(), &app.env) {
            Ok(usual) => usual.folder().to_owned(),
            // A sticky profile that is gone.
            Err(_) => home.root().to_owned(),
        },
    };
    Ok(Site {
        env: app.env.clone(),
        user,
        project: std::env::current_dir()?,
        scope,
        hooks,
        mcp,
        program: Program::new(&program::find(&app.env)?, home, &app.env),
        home: home.clone(),
        agent_home,
    })
}
