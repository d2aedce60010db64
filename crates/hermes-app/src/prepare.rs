//! A home is made: folders, example files, an empty session database.

use std::path::PathBuf;

use hermes_home::Home;
use hermes_home::databases::{self, Database, Noted};
use hermes_home::init::{self, Owner};
use hermes_store::Error as StoreError;
use hermes_store::rot::Which;
use hermes_store::sessions::SessionStore;
use serde::Serialize;

use crate::app::App;
use crate::problem::{Kind, Problem};

/// What a first run made.
#[derive(Debug, Serialize)]
pub struct Prepared {
    /// The home.
    pub home: PathBuf,
    /// Whose it is.
    pub owner: Owner,
    /// New files and folders; what was there already is not touched.
    pub made: Vec<PathBuf>,
}

/// Makes what is missing in the home, the session database included; not one that was there before and is lost.
pub fn prepare(app: &App, home: &Home) -> anyhow::Result<Prepared> {
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
pub fn begin_anew(app: &App, home: &Home, database: Database) -> anyhow::Result<()> {
    if app.has_database(home, database)? {
        let name = database.file_name();
        let what = format!("could not start with an empty {name}: it already exists");
        let hint = "if you no longer need it, move it away first";
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
