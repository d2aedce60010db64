//! Bringing back single rows of databases from a backup, and nothing else.

use std::path::Path;

use hermes_backup::restore;
use hermes_home::Home;
use hermes_store::rot::BroughtBack;
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::backup::restore::Source;
use crate::doctor::behind;
use crate::doctor::deep::{self, Differing};
use crate::progress::Progress;

/// What came back, and what did not.
#[derive(Debug, Default, Serialize)]
pub struct RowsRestored {
    /// Of state.db.
    pub sessions: BroughtBack,
    /// Of memory.db.
    pub memory: BroughtBack,
}

impl RowsRestored {
    /// Whether the backup did not have everything.
    pub fn has_lost(&self) -> bool {
        !(self.sessions.lost.is_empty() && self.memory.lost.is_empty())
    }
}

/// What is not what was written.
pub struct Found {
    differing: Differing,
    /// Each, in words.
    pub said: Vec<String>,
}

/// Compares the databases with their checksums; nothing where every row is what was written.
pub fn look(app: &App) -> anyhow::Result<Option<Found>> {
    let home = app.existing_home()?;
    let mut differing = deep::differing(app, &home)?;
    // Vectors are made anew from their text.
    differing.memory.differing.retain(|row| row.kind != "vector");
    let rows = differing.sessions.differing.iter().chain(&differing.memory.differing);
    let mut said: Vec<String> =
        rows.map(|row| format!("{} does not match its checksum", row.said())).collect();
    let zone = app.zone(&home)?;
    let lost = behind::databases(app, &home);
    said.extend(lost.iter().map(|(which, missing)| behind::said(*which, missing, &zone)));
    Ok((!said.is_empty()).then_some(Found { differing, said }))
}

/// Takes those rows alone from a backup.
pub fn bring(app: &App, source: &Source<'_>, found: &Found) -> anyhow::Result<RowsRestored> {
    let (home, progress) = (app.existing_home()?, Progress::of(app));
    source.open(app, |from| {
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        restore::look_into(from, &home, tell, |unpacked| {
            bring_from(app, &home, &found.differing, unpacked)
        })
    })?
}

fn bring_from(
    app: &App,
    home: &Home,
    found: &Differing,
    unpacked: &Path,
) -> anyhow::Result<RowsRestored> {
    let mut rows = RowsRestored::default();
    let below = home.folder().strip_prefix(home.root()).unwrap_or(Path::new(""));
    let there = unpacked.join(below);
    let (state, memory) = (there.join("state.db"), there.join("memory.db"));
    let marks = app.high_water(home);
    if home.state_db().exists() && state.exists() {
        let mut store = app.sessions(home, Access::Write)?;
        rows.sessions = store.bring_back_rows(&found.sessions.differing, &state, &marks)?;
        let is_complete = store.behind(&marks)?.is_some_and(|behind| {
            let (missing, added) = (behind.acknowledged - behind.found, &rows.sessions.added);
            u64::try_from(missing).is_ok_and(|missing| added.len() as u64 >= missing)
        });
        if is_complete {
            store.accept_as_is(&marks)?;
        }
    } else {
        rows.sessions.lost.clone_from(&found.sessions.differing);
    }
    if !found.memory.differing.is_empty() && memory.exists() {
        let mut store = app.memory(home, Access::Write)?.store;
        rows.memory = store.bring_back_rows(&found.memory.differing, &memory, app.change())?;
    } else {
        rows.memory.lost.clone_from(&found.memory.differing);
    }
    Ok(rows)
}
