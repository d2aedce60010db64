//! hermes skills add

use crate::terminal::Terminal;
use std::path::PathBuf;

use clap::Args;
use hermes_home::skill;

use super::must_be_there;
use crate::failure::Outcome;
use hermes_app::skills::{SkillChange, note_in_memory};
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Folder with a SKILL.md in it, or a SKILL.md
    path: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    must_be_there(&arguments.path)?;
    let added = skill::add(&home, &arguments.path)?;
    let name = added.name.as_str();
    let files = counted(added.files as u64, "file");
    let done = format!("added {name} with {files}: {}", added.path.display());
    note_in_memory(app, &home);
    app.out
        .show(&SkillChange { file: Some(added.path.clone()), ..SkillChange::new(name, done) })?;
    app.out.hint(format_args!("read it with `hermes skills show {name}`"));
    Ok(Outcome::Done)
}
