//! hermes skills approve, reject

use hermes_home::skill;

use super::Changed;
use crate::app::App;
use crate::failure::Outcome;

pub(super) fn approve(name: &str, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let approved = skill::approve(&home, name, app.now)?;
    let before = if approved.replaced { "; the one before is kept as a version" } else { "" };
    let done = format!("{name} is used from now on{before}");
    app.out.show(&Changed { file: Some(approved.path), ..Changed::new(name, done) })?;
    app.out.hint(format_args!("keep it as it is with `hermes skills lock {name}`"));
    Ok(Outcome::Done)
}

pub(super) fn reject(name: &str, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let rejected = skill::reject(&home, name, app.now)?;
    let again = if rejected.remembered { "; the same is not offered again" } else { "" };
    let done = format!("{name} is rejected{again}");
    app.out.show(&Changed { kept_in: Some(rejected.kept_in), ..Changed::new(name, done) })?;
    app.out.hint(format_args!("undo with `hermes skills restore {name}`"));
    Ok(Outcome::Done)
}
