//! hermes init

use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::Home;
use hermes_home::databases::{self, Database, Noted};
use hermes_home::init::{self, Owner};
use hermes_store::Error as StoreError;
use hermes_store::rot::Which;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::failure::{Kind, Outcome, Problem};
use crate::output::{Page, Show};

/// What a first run made.
#[derive(Debug, Serialize)]
pub(crate) struct Prepared {
    pub(crate) home: PathBuf,
    pub(crate) owner: Owner,
    /// New files and folders; what was there already is not touched.
    pub(crate) made: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Begin with an empty memory where memory.db is missing
    #[arg(long)]
    new_memory: bool,
    /// Begin with an empty session database where state.db is missing
    #[arg(long)]
    new_state: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.home()?;
    if arguments.new_state {
        begin_anew(app, &home, Database::State)?;
    }
    let mut prepared = prepare(app, &home)?;
    if arguments.new_memory {
        begin_anew(app, &home, Database::Memory)?;
        prepared.made.push(app.memory(&home, Access::Write)?.path);
    }
    app.out.show(&prepared)?;
    app.out.hint("edit SOUL.md with `hermes soul edit`, or see what is ready with `hermes start`");
    Ok(Outcome::Done)
}

/// Makes what is missing in the home, the session database included; not one that was there before and is lost.
pub(crate) fn prepare(app: &App, home: &Home) -> anyhow::Result<Prepared> {
    let owner = if home.folder().exists() { app.owner(home)? } else { Owner::Ours };
    app.may_make(home, Database::State)?;
    let mut made = init::prepare(home, owner)?;
    let state = home.state_db();
    let mut since = None;
    if state.symlink_metadata().is_err() {
        match SessionStore::create(&state) {
            Ok(()) => {
                since = Some(app.now);
                made.push(state);
            }
            // Somebody else made it in the same moment.
            Err(StoreError::Exists { path }) if path == state => {}
            Err(error) => return Err(error.into()),
        }
    }
    app.note_state(home, since);
    Ok(Prepared { home: home.folder().to_owned(), owner, made })
}

/// Notes that an empty database is wanted where one is missing; one that is there is left as it is.
fn begin_anew(app: &App, home: &Home, database: Database) -> anyhow::Result<()> {
    if app.has_database(home, database)? {
        let name = database.file_name();
        let what = format!("could not begin with an empty {name}: there is one");
        let hint = "move it away first, if you are sure that you do not want it";
        return Err(Problem::new(Kind::Refused, what).hint(hint).into());
    }
    if Noted::read(home).has(database) {
        databases::begin_anew(home, database, app.now)?;
    }
    // An empty one is not to be missed what the lost one had.
    match database {
        Database::State => app.high_water(home).forget(Which::Sessions)?,
        Database::Memory => app.memory_marks(home)?.forget(Which::Memory)?,
    }
    Ok(())
}

impl Show for Prepared {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.made.is_empty() {
            return page
                .line(format_args!("{} is complete; nothing was changed", self.home.display()));
        }
        page.line(format_args!("made in {}:", self.home.display()))?;
        for path in &self.made {
            let shown = path.strip_prefix(&self.home).unwrap_or(path);
            let shown = if shown.as_os_str().is_empty() { path } else { shown };
            page.line(format_args!("  {}", shown.display()))?;
        }
        Ok(())
    }
}
