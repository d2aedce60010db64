//! hermes skills add

use std::path::PathBuf;

use clap::Args;
use hermes_home::skill;

use super::{Changed, must_be_there};
use crate::app::App;
use crate::failure::Outcome;
use crate::output::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// A folder with a SKILL.md in it, or a SKILL.md
    path: PathBuf,
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    must_be_there(&arguments.path)?;
    let added = skill::add(&home, &arguments.path)?;
    let name = added.name.as_str();
    let files = counted(added.files as u64, "file");
    let done = format!("{name} is added with {files}: {}", added.path.display());
    app.out.show(&Changed { file: Some(added.path), ..Changed::new(name, done) })?;
    app.out.hint(format_args!("read it with `hermes skills show {name}`"));
    Ok(Outcome::Done)
}
