//! hermes backup restore --rows: brings back single rows of databases, and nothing else.

use crate::terminal::Terminal;
use std::io;
use std::path::Path;

use hermes_backup::restore;
use hermes_backup::sign::Trust;
use hermes_home::Home;
use hermes_store::rot::{BroughtBack, DifferingRow};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::keys::Opening;
use super::restore::Chosen;
use crate::cli::progress::Progress;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{BAD, GOOD, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::wanted::Wanted;
use hermes_app::doctor::behind;
use hermes_app::doctor::deep::{self, Differing};
use hermes_app::text::counted;

/// What came back, and what did not.
#[derive(Debug, Default, Serialize)]
struct Rows {
    sessions: BroughtBack,
    memory: BroughtBack,
}

/// Compares the databases with their checksums, shows what differs, and takes those rows alone from a backup.
pub(super) fn run(
    app: &mut Terminal,
    wanted: &Wanted,
    opening: &Opening,
    (chosen, trust): (&Chosen, Trust<'_>),
) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut found = deep::differing(app, &home)?;
    // Vectors are made anew from their text.
    found.memory.differing.retain(|row| row.kind != "vector");
    let lost = behind::databases(app, &home);
    let count = found.sessions.differing.len() + found.memory.differing.len();
    if count == 0 && lost.is_empty() {
        app.out.show(&Rows::default())?;
        return Ok(Outcome::Done);
    }
    for row in found.sessions.differing.iter().chain(&found.memory.differing) {
        app.out.note(format_args!("{} is not what was written", row.said()));
    }
    let zone = app.zone(&home)?;
    for (which, missing) in &lost {
        app.out.note(behind::said(*which, missing, &zone));
    }
    let name = chosen.path.file_name().unwrap_or_default().to_string_lossy();
    let question = format!("bring these rows back from {name}? (nothing else is changed)");
    confirm::consent(app.asking, &question)?;
    let mut progress = Progress::of(app);
    let brought = opening.with(app, wanted, |keys| {
        let from = chosen.from(keys, trust, app.now);
        let tell = &mut |step: hermes_backup::Progress<'_>| progress.step(&step);
        restore::look_into(&from, &home, tell, |unpacked| bring(app, &home, &found, unpacked))
    })?;
    progress.end();
    let rows = brought?;
    let stays_lost = !(rows.sessions.lost.is_empty() && rows.memory.lost.is_empty());
    app.out.show(&rows)?;
    Ok(if stays_lost { Outcome::Partial } else { Outcome::Done })
}

fn bring(app: &App, home: &Home, found: &Differing, unpacked: &Path) -> anyhow::Result<Rows> {
    let mut rows = Rows::default();
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

impl Show for Rows {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let (mut back, mut lost) = (0, 0);
        for (file, brought) in [("state.db", &self.sessions), ("memory.db", &self.memory)] {
            let said = |row: &DifferingRow| format!("{} in {file}", row.said());
            for row in brought.back.iter().chain(&brought.added) {
                page.line(format_args!("{GOOD}back{GOOD:#}  {}", said(row)))?;
                back += 1;
            }
            for row in &brought.lost {
                page.line(format_args!(
                    "{BAD}lost{BAD:#}  {}: this backup does not have what was written",
                    said(row)
                ))?;
                lost += 1;
            }
        }
        match back + lost {
            0 => page.line("every row is what was written; nothing was changed"),
            _ => page.line(format_args!("{} back, {lost} stay as they are", counted(back, "row"))),
        }
    }
}
