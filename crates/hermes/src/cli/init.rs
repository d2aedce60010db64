//! hermes init

use std::io;
use std::path::PathBuf;

use hermes_home::Home;
use hermes_home::init::{self, Owner};
use hermes_store::Error as StoreError;
use hermes_store::sessions::SessionStore;
use serde::Serialize;

use crate::app::App;
use crate::failure::Outcome;
use crate::output::{Page, Show};

/// What a first run made.
#[derive(Debug, Serialize)]
pub(crate) struct Prepared {
    pub(crate) home: PathBuf,
    pub(crate) owner: Owner,
    /// New files and folders; what was there already is not touched.
    pub(crate) made: Vec<PathBuf>,
}

pub(crate) fn run(app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.home()?;
    let prepared = prepare(app, &home)?;
    app.out.show(&prepared)?;
    app.out.hint("edit SOUL.md with `hermes soul edit`, or see what is ready with `hermes start`");
    Ok(Outcome::Done)
}

/// Makes what is missing in the home, the session database included.
pub(crate) fn prepare(app: &App, home: &Home) -> anyhow::Result<Prepared> {
    let owner = if home.folder().exists() { app.owner(home)? } else { Owner::Ours };
    let mut made = init::prepare(home, owner)?;
    let state = home.state_db();
    if state.symlink_metadata().is_err() {
        match SessionStore::create(&state) {
            Ok(()) => made.push(state),
            // Somebody else made it in the same moment.
            Err(StoreError::Exists { path }) if path == state => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Prepared { home: home.folder().to_owned(), owner, made })
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
