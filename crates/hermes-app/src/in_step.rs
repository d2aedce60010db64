//! The memory files follow what was done to facts, and a line says so for each entry.

use hermes_home::Home;
use hermes_memory::remember::{self, Erased, Followed};
use hermes_store::memory::{Admin, Choice, Scope, ToldElsewhere};

use super::fact_view::name_of;
use super::rules;
use crate::app::App;
use crate::catch_up;
use crate::memory::OpenMemory;
use crate::text::{counted, one_line};

/// Brings the files of a user in step with facts that changed.
pub fn follow(
    app: &App,
    home: &Home,
    memory: &mut OpenMemory,
    scope: Scope,
    changed: &[i64],
) -> anyhow::Result<()> {
    let rules = rules::of_learning(app, home, &memory.store)?;
    let change = app.change();
    for followed in remember::follow(&mut memory.store, scope, changed, &rules, change)? {
        app.note(said(&followed));
    }
    Ok(())
}

/// The same for everybody.
pub fn follow_all(app: &App, home: &Home, memory: &mut OpenMemory) -> anyhow::Result<()> {
    for scope in everybody(memory)? {
        follow(app, home, memory, scope, &[])?;
    }
    Ok(())
}

/// Removes the entries of facts that will be erased, and every kept version that holds them.
pub fn erase(
    app: &App,
    home: &Home,
    memory: &OpenMemory,
    scopes: &[Scope],
    facts: &[i64],
) -> anyhow::Result<Erased> {
    let mut erased = Erased::default();
    if facts.is_empty() {
        return Ok(erased);
    }
    let rules = rules::of_learning(app, home, &memory.store)?;
    for scope in scopes {
        erased.add(remember::erase_entries(&memory.store, *scope, facts, &rules, app.change())?);
    }
    Ok(erased)
}

/// Removes what files of the home tell of things that will be erased: entries, sections of the log of reflections, turns
/// under way. What waits to be taken in is taken in first, so that it is erased as well.
pub fn erase_told(
    app: &App,
    home: &Home,
    memory: &mut OpenMemory,
    choice: &Choice,
) -> anyhow::Result<(Erased, ToldElsewhere)> {
    catch_up::take_in(app, home, &mut memory.store)?;
    let told = memory.store.told_elsewhere(Admin, choice)?;
    hermes_home::before_upgrade::remove_all(home)?;
    let everybody = everybody(memory)?;
    let erased = erase(app, home, memory, &everybody, &told.facts)?;
    hermes_home::reflections::erase(home, &told.procedures)?;
    Ok((erased, told))
}

/// Says what was erased from the files.
pub fn tell(app: &App, erased: Erased) {
    if erased.entries + erased.versions > 0 {
        app.note(format_args!(
            "removed from your memory files: {}, with {}",
            counted_entries(erased.entries),
            counted(erased.versions, "stored version")
        ));
    }
    if erased.left > 0 {
        app.note(format_args!(
            "{} changed by hand: see them with `hermes memory show`",
            match erased.left {
                1 => "1 entry stays, because it was".to_owned(),
                more => format!("{more} entries stay, because they were"),
            }
        ));
    }
}

/// Everybody whom the memory knows.
pub fn everybody(memory: &OpenMemory) -> anyhow::Result<Vec<Scope>> {
    Ok(memory.store.users(Admin)?.iter().map(|user| Scope::of(user.number)).collect())
}

fn counted_entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}

fn said(followed: &Followed) -> String {
    match followed {
        Followed::Rewritten { path, text, .. } => {
            format!("updated in {}: {}", path.display(), one_line(text, 72))
        }
        Followed::Removed { path, entry, .. } => {
            format!("removed from {}: {}", path.display(), one_line(entry, 72))
        }
        Followed::Back { path, entry, .. } => {
            format!("restored in {}: {}", path.display(), one_line(entry, 72))
        }
        Followed::Proposed { path, proposal, .. } => format!(
            "a change of {} waits for your approval: `hermes memory approve {proposal}`",
            path.display()
        ),
        Followed::LeftAlone { path, fact, why } => {
            format!(
                "the entry of {} in {} was left unchanged: {why}",
                name_of(*fact),
                path.display()
            )
        }
    }
}
