//! Plans and results of imports as they are shown.

use std::io;
use std::path::PathBuf;

use hermes_import::{Source, Tally};
use hermes_memory::import::Taken;
use serde::Serialize;

use crate::output::{Page, Show};
use hermes_app::text::{counted, printable, thousands};

/// What would come in.
#[derive(Debug, Serialize)]
pub(crate) struct Plan {
    pub(crate) dry_run: bool,
    pub(crate) source: Source,
    pub(crate) path: PathBuf,
    #[serde(flatten)]
    pub(crate) tally: Tally,
    /// What is new, and what is known already.
    pub(crate) new: Taken,
}

/// What came in.
#[derive(Debug, Serialize)]
pub(crate) struct Imported {
    pub(crate) source: Source,
    pub(crate) path: PathBuf,
    #[serde(flatten)]
    pub(crate) tally: Tally,
    /// What was added, and what was known already.
    pub(crate) taken: Taken,
}

impl Show for Plan {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let path = self.path.display().to_string();
        page.line(format_args!("{} in {}", self.source.title(), printable(&path)))?;
        found(&self.tally, page)?;
        let known = self.new.known_messages + self.new.known_facts;
        let new = self.new.messages + self.new.facts;
        page.line(format_args!("{} new, {} known already", thousands(new), thousands(known)))?;
        problems(&self.tally, page)
    }
}

impl Show for Imported {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let taken = &self.taken;
        found(&self.tally, page)?;
        let mut added = vec![format!(
            "{} added in {}",
            counted(taken.messages, "message"),
            counted(taken.episodes, "episode")
        )];
        if self.tally.facts > 0 {
            added.push(format!("{} added", counted(taken.facts, "fact")));
        }
        added
            .push(format!("{} known already", thousands(taken.known_messages + taken.known_facts)));
        page.line(added.join(", "))?;
        if taken.forgotten > 0 {
            let count = thousands(taken.forgotten);
            page.line(format_args!("{count} skipped, because you deleted or forgot them before"))?;
        }
        problems(&self.tally, page)
    }
}

/// What a source holds, and what of it is left out.
fn found(tally: &Tally, page: &mut Page) -> io::Result<()> {
    let counts = [
        (tally.sessions, "session"),
        (tally.messages, "message"),
        (tally.facts, "fact"),
        (tally.notes, "file"),
        (tally.skills, "skill"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(*count, noun))
        .collect();
    let counts = if counts.is_empty() { "nothing to import".to_owned() } else { counts.join(", ") };
    let days = match (tally.first, tally.last) {
        (Some(first), Some(last)) => {
            let day = |at: jiff::Timestamp| at.strftime("%Y-%m-%d").to_string();
            format!(", {} to {}", day(first), day(last))
        }
        _ => String::new(),
    };
    page.line(format_args!("{counts}{days}"))?;
    if !tally.left_out.is_empty() {
        let kinds = tally.left_out.iter();
        let kinds = kinds.map(|(kind, count)| format!("{} {}", thousands(*count), kind.title()));
        page.line(format_args!("skipped: {}", kinds.collect::<Vec<_>>().join(", ")))?;
    }
    Ok(())
}

fn problems(tally: &Tally, page: &mut Page) -> io::Result<()> {
    for problem in &tally.problems {
        let file = printable(&problem.file.display().to_string());
        let line = problem.line.map(|line| format!(" line {line}")).unwrap_or_default();
        page.line(format_args!("skipped {file}{line}: {}", printable(&problem.reason)))?;
    }
    if tally.more_problems > 0 {
        page.line(format_args!("and {} more", thousands(tally.more_problems)))?;
    }
    Ok(())
}
