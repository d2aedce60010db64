//! hermes skills delete

use clap::Args;
use hermes_home::skill::{self, OfLocked};

use super::Changed;
use crate::app::App;
use crate::confirm;
use crate::failure::Outcome;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Its name
    name: String,
    /// Also when it is locked
    #[arg(long)]
    even_locked: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let name = arguments.name.as_str();
    let locked = if arguments.even_locked { OfLocked::Take } else { OfLocked::Refuse };
    skill::may_delete(&home, name, locked)?;
    confirm::consent(app.asking, &format!("take the skill {name} away (it is kept aside)?"))?;
    let deleted = skill::delete(&home, name, locked, app.now)?;
    let undo = format!("undo with `mv {} {}`", deleted.kept_in.display(), deleted.folder.display());
    let done = format!("{name} is taken away and kept in {}", deleted.kept_in.display());
    app.out.show(&Changed { kept_in: Some(deleted.kept_in), ..Changed::new(name, done) })?;
    app.out.hint(undo);
    Ok(Outcome::Done)
}
