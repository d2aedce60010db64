//! hermes skills lock, unlock

use hermes_home::skill::{self, Marked};

use super::Changed;
use crate::app::App;
use crate::failure::Outcome;

pub(super) fn lock(name: &str, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let marked = skill::lock(&home, name, app.now)?;
    say(name, marked, app)?;
    app.out.hint(format_args!("undo with `hermes skills unlock {name}`"));
    Ok(Outcome::Done)
}

pub(super) fn unlock(name: &str, app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let marked = skill::unlock(&home, name, app.now)?;
    say(name, marked, app)?;
    Ok(Outcome::Done)
}

fn say(name: &str, marked: Marked, app: &mut App) -> anyhow::Result<()> {
    let already = if marked.changed { "" } else { " already" };
    let done = match marked.is_locked {
        true => format!("{name} is locked{already}: Hermes never rewrites it"),
        false => format!("{name} is not locked{already}"),
    };
    app.out.show(&Changed {
        changed: marked.changed,
        locked: Some(marked.is_locked),
        file: Some(marked.path),
        ..Changed::new(name, done)
    })
}
