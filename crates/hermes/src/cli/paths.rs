//! hermes paths

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use hermes_home::Home;
use hermes_home::layout::{ChosenBy, MemoryTarget};
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};

#[derive(Debug, Serialize)]
struct Paths {
    root: PathBuf,
    profile: String,
    profile_chosen_by: ChosenBy,
    home: PathBuf,
    soul: PathBuf,
    memory: PathBuf,
    user: PathBuf,
    users: PathBuf,
    skills: PathBuf,
    workspace: PathBuf,
    config: PathBuf,
    secrets: PathBuf,
    state_db: PathBuf,
    memory_db: PathBuf,
    versions: PathBuf,
    pins: PathBuf,
    logs: PathBuf,
}

pub(crate) fn run(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.home()?;
    let memory_db = app.memory_path(&home).or_else(|_| home.memory_db(None, &app.env))?;
    app.out.show(&Paths::of(&home, memory_db))?;
    if home.must_exist().is_err() {
        app.out.hint("this home does not exist yet: create it with `hermes init`");
    }
    Ok(Outcome::Done)
}

impl Paths {
    fn of(home: &Home, memory_db: PathBuf) -> Paths {
        Paths {
            root: home.root().to_owned(),
            profile: home.profile_name().to_owned(),
            profile_chosen_by: home.chosen_by(),
            home: home.folder().to_owned(),
            soul: home.soul(),
            memory: home.memory_file(&MemoryTarget::Memory),
            user: home.memory_file(&MemoryTarget::User(None)),
            users: home.users(),
            skills: home.skills(),
            workspace: home.workspace(),
            config: home.config(),
            secrets: home.secrets(),
            state_db: home.state_db(),
            memory_db,
            versions: home.versions(),
            pins: home.pins(),
            logs: home.logs(),
        }
    }
}

impl Show for Paths {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{DIM}profile{DIM:#}    {}", self.profile))?;
        let rows = [
            ("root", &self.root),
            ("home", &self.home),
            ("soul", &self.soul),
            ("memory", &self.memory),
            ("user", &self.user),
            ("users", &self.users),
            ("skills", &self.skills),
            ("workspace", &self.workspace),
            ("config", &self.config),
            ("secrets", &self.secrets),
            ("state.db", &self.state_db),
            ("memory.db", &self.memory_db),
            ("versions", &self.versions),
            ("pins", &self.pins),
            ("logs", &self.logs),
        ];
        for (name, path) in rows {
            page.line(format_args!("{DIM}{name:10}{DIM:#} {}", path.display()))?;
        }
        Ok(())
    }
}
