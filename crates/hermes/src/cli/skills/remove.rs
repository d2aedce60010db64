//! hermes skills delete, restore

use crate::terminal::Terminal;
use clap::Args;
use hermes_app::skills;
use hermes_home::skill::{self, OfLocked};

use crate::confirm;
use crate::failure::Outcome;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Name of the skill
    name: String,
    /// Delete it even if it is locked
    #[arg(long)]
    even_locked: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let name = arguments.name.as_str();
    let locked = if arguments.even_locked { OfLocked::Take } else { OfLocked::Refuse };
    skill::may_delete(&home, name, locked)?;
    confirm::consent(
        app.asking,
        &format!("delete the skill {name}? (its files are kept and can be restored)"),
    )?;
    let change = skills::delete(app, &home, name, locked)?;
    app.out.show(&change)?;
    app.out.hint(format_args!("undo with `hermes skills restore {name}`"));
    Ok(Outcome::Done)
}

/// Brings back what was taken away or rejected last.
pub(super) fn restore(name: &str, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let change = skills::restore(app, &home, name)?;
    app.out.show(&change)?;
    Ok(Outcome::Done)
}
