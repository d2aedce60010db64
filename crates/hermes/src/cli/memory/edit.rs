//! hermes memory edit, hermes soul edit

use crate::terminal::Terminal;
use anyhow::Context as _;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, WholeText};

use crate::cli::memory::change;
use crate::editor;
use crate::failure::Outcome;
use hermes_app::rules;

/// Opens the file in the user's editor and writes back what they saved.
pub(crate) fn run(target: &MemoryTarget, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let context = rules::of_change(app, &home, target, "edit")?;
    let read = memory_file::read(&home, target, context.rules)?;
    let name = read.path.file_name().and_then(|name| name.to_str()).unwrap_or("memory.md");
    let Some(edited) = editor::change(&app.env, name, read.document.text())? else {
        app.out.note("nothing was changed");
        return Ok(Outcome::Done);
    };
    let whole = WholeText { text: &edited.text, expected_hash: &read.hash };
    match memory_file::replace_whole(&home, target, &context, &whole) {
        Ok(outcome) => change::finish(outcome, target, app),
        Err(error) => {
            let kept = edited.keep();
            Err(error).with_context(|| format!("your text is kept in {}", kept.display()))
        }
    }
}
