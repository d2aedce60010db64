//! hermes memory merge

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use hermes_home::Home;
use hermes_home::layout::MemoryTarget;
use hermes_home::{memory_file, places};
use serde::Serialize;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Listing, Page, Show};
use hermes_app::app::App;
use hermes_app::rules;
use hermes_app::text::one_line;

/// A file in another place, and what it has that the one in memories/ lacks.
#[derive(Debug, Serialize)]
struct Merge {
    from: PathBuf,
    into: PathBuf,
    new_entries: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_as: Option<PathBuf>,
}

pub(crate) fn run(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let mut plan = Vec::new();
    for target in [MemoryTarget::Memory, MemoryTarget::User(None)] {
        plan.extend(planned(app, &home, &target)?);
    }
    if plan.is_empty() {
        app.out.show(&Listing { results: plan })?;
        return Ok(Outcome::Done);
    }
    if !app.asking.yes {
        app.out.show(&Listing { results: plan })?;
        if app.json {
            return Ok(Outcome::Done);
        }
        confirm::consent(
            app.asking,
            "merge these into memories/? (the old files are renamed and kept)",
        )?;
        plan = Vec::new();
    }
    let mut done = Vec::new();
    for target in [MemoryTarget::Memory, MemoryTarget::User(None)] {
        let context = rules::of_change(app, &home, &target, "memory merge")?;
        let merged = places::merge(&home, &target, &context, app.today(&home)?)?;
        done.extend(merged.set_aside);
    }
    for (from, kept) in done {
        app.out.note(format_args!("{} is now {}", from.display(), kept.display()));
        if let Some(merge) = plan.iter_mut().find(|merge| merge.from == from) {
            merge.kept_as = Some(kept);
        }
    }
    if !plan.is_empty() {
        app.out.show(&Listing { results: plan })?;
    }
    app.out.note("merged; undo the change to a file with `hermes memory restore`");
    Ok(Outcome::Done)
}

fn planned(app: &App, home: &Home, target: &MemoryTarget) -> anyhow::Result<Vec<Merge>> {
    let rules = rules::of_file(app, home, target)?;
    let main = memory_file::read(home, target, rules)?;
    let found = places::find(home, target, rules.owner)?;
    let merges = found.into_iter().map(|place| Merge {
        new_entries: places::merge_plan(&main.document, &place.document)
            .into_iter()
            .map(|missing| missing.text)
            .collect(),
        from: place.path,
        into: main.path.clone(),
        kept_as: None,
    });
    Ok(merges.collect())
}

impl Show for Listing<Merge> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("nothing to merge: there are no memory files in other locations");
        }
        for merge in &self.results {
            page.line(format_args!("{} → {}", merge.from.display(), merge.into.display()))?;
            for entry in &merge.new_entries {
                page.line(format_args!("  + {}", one_line(entry, 76)))?;
            }
            if merge.new_entries.is_empty() {
                page.line("  no new entries")?;
            }
        }
        Ok(())
    }
}
