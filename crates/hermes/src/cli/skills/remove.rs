//! hermes skills delete, restore

use clap::Args;
use hermes_home::skill::{self, OfLocked, State};

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
    let done = format!("{name} is taken away and kept in {}", deleted.kept_in.display());
    app.out.show(&Changed { kept_in: Some(deleted.kept_in), ..Changed::new(name, done) })?;
    app.out.hint(format_args!("undo with `hermes skills restore {name}`"));
    Ok(Outcome::Done)
}

/// Brings back what was taken away or rejected last.
pub(super) fn restore(name: &str, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let restored = skill::restore(&home, name)?;
    let done = match restored.state {
        State::Active => format!("{name} is back, and used"),
        State::Pending => format!("{name} is back, and waits for your word"),
    };
    app.out.show(&Changed { file: Some(restored.folder), ..Changed::new(name, done) })?;
    Ok(Outcome::Done)
}
