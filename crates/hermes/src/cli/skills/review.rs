//! hermes skills approve, reject

use hermes_app::skills;

use crate::failure::Outcome;
use crate::terminal::Terminal;

pub(super) fn approve(name: &str, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let change = skills::approve(app, &home, name)?;
    app.out.show(&change)?;
    app.out.hint(format_args!("to keep Hermes from rewriting it, run `hermes skills lock {name}`"));
    Ok(Outcome::Done)
}

pub(super) fn reject(name: &str, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let change = skills::reject(app, &home, name)?;
    app.out.show(&change)?;
    app.out.hint(format_args!("undo with `hermes skills restore {name}`"));
    Ok(Outcome::Done)
}
