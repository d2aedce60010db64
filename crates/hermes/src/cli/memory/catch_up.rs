//! hermes memory catch-up

use crate::terminal::Terminal;
use std::io;

use hermes_memory::catch_up::Report;
use hermes_store::sqlite::Access;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::catch_up;
use hermes_app::later;
use hermes_app::text::{counted, printable};

pub(crate) fn run(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut memory = app.memory(&home, Access::Write)?;
    let report = catch_up::take_in(app, &home, &mut memory.store)?;
    let is_partial = !report.problems.is_empty();
    app.out.show(&report)?;
    later::fill_in(&home, app, &mut memory.store)?;
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

impl Show for Report {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.is_idle() {
            return page.line("nothing is missing");
        }
        let (added, sessions) = (counted(self.added, "message"), counted(self.sessions, "session"));
        page.line(format_args!("{added} recorded from {sessions}"))?;
        if self.retired > 0 {
            let retired = counted(self.retired, "episode");
            page.line(format_args!("{retired} removed, because their messages were taken back"))?;
        }
        if self.spool.turns > 0 {
            let turns = counted(self.spool.turns, "turn");
            page.line(format_args!("{turns} recorded that had waited in a file"))?;
        }
        if self.spool.refused > 0 {
            let lines = counted(self.spool.refused, "line");
            page.line(format_args!("{lines} could not be read: see hermesd/spool/refused"))?;
        }
        if self.spool.busy {
            page.line("another program is recording the waiting turns")?;
        }
        if let Some(line) = catch_up::put_right(self) {
            page.line(line)?;
        }
        for problem in &self.problems {
            page.line(printable(problem))?;
        }
        Ok(())
    }
}
