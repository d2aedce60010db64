//! hermes backup restore --rows: brings back single rows of databases, and nothing else.

use crate::terminal::Terminal;
use std::io;

use hermes_app::backup::restore::Chosen;
use hermes_app::restore_rows::{self, Found, RowsRestored};
use hermes_app::text::counted;
use hermes_store::rot::DifferingRow;

use crate::confirm;
use crate::output::{BAD, GOOD, Page, Show};

/// Shows what is not what was written, and asks whether a backup's rows are taken for it.
pub(super) fn ask(app: &Terminal, chosen: &Chosen) -> anyhow::Result<Option<Found>> {
    let Some(found) = restore_rows::look(app)? else { return Ok(None) };
    for line in &found.said {
        app.out.note(line);
    }
    let name = chosen.name();
    let question = format!("restore these rows from {name}? (nothing else is changed)");
    confirm::consent(app.asking, &question)?;
    Ok(Some(found))
}

impl Show for RowsRestored {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let (mut back, mut lost) = (0, 0);
        for (file, brought) in [("state.db", &self.sessions), ("memory.db", &self.memory)] {
            let said = |row: &DifferingRow| format!("{} in {file}", row.said());
            for row in brought.back.iter().chain(&brought.added) {
                page.line(format_args!("{GOOD}restored{GOOD:#}  {}", said(row)))?;
                back += 1;
            }
            for row in &brought.lost {
                page.line(format_args!(
                    "{BAD}lost{BAD:#}      {}: this backup does not have the original",
                    said(row)
                ))?;
                lost += 1;
            }
        }
        match back + lost {
            0 => page.line("no row is damaged; nothing was changed"),
            _ => page
                .line(format_args!("{} restored, {lost} left as they are", counted(back, "row"))),
        }
    }
}
