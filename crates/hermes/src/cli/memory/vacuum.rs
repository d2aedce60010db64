//! hermes memory vacuum

use crate::terminal::Terminal;
use std::io;

use hermes_store::memory::{Admin, Vacuumed};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::text::{bytes, counted};

#[derive(Debug, Serialize)]
struct Done {
    #[serde(flatten)]
    vacuumed: Vacuumed,
    /// Vectors of models that no longer answer.
    vectors_dropped: u64,
}

pub(crate) fn run(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    if !app.has_memory(&home) {
        app.out.show(&Done { vacuumed: Vacuumed { before: 0, after: 0 }, vectors_dropped: 0 })?;
        app.out.note("there is no memory.db yet");
        return Ok(Outcome::Done);
    }
    let mut memory = app.memory(&home, Access::Write)?;
    let vectors_dropped = memory.store.drop_retired_vectors(Admin)?;
    let vacuumed = memory.store.vacuum(Admin, app.now)?;
    app.out.show(&Done { vacuumed, vectors_dropped })?;
    Ok(Outcome::Done)
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Vacuumed { before, after } = self.vacuumed;
        page.line(format_args!("{} before, {} now", bytes(before), bytes(after)))?;
        if self.vectors_dropped > 0 {
            let count = counted(self.vectors_dropped, "vector");
            page.line(format_args!("{count} of earlier models removed"))?;
        }
        Ok(())
    }
}
