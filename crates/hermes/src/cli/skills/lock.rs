//! hermes skills lock, unlock

use hermes_app::skills;

use crate::failure::Outcome;
use crate::terminal::Terminal;

pub(super) fn lock(name: &str, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let change = skills::lock(app, &home, name, true)?;
    app.out.show(&change)?;
    app.out.hint(format_args!("undo with `hermes skills unlock {name}`"));
    Ok(Outcome::Done)
}

pub(super) fn unlock(name: &str, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let change = skills::lock(app, &home, name, false)?;
    app.out.show(&change)?;
    Ok(Outcome::Done)
}
