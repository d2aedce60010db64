//! hermes memory undo

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_memory::remember::{self, TakenBack};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::whose::Whose;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::fact_view::name_of;
use hermes_app::problem::{Kind, Problem};
use hermes_app::rules;
use hermes_app::text::one_line;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Serialize)]
struct Undone {
    #[serde(flatten)]
    taken: TakenBack,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let nothing = || {
        Problem::new(Kind::NotFound, "there is nothing left to undo")
            .hint("list earlier versions of a file with `hermes memory versions`")
    };
    if !app.memory(&home, Access::Read)?.exists {
        return Err(nothing().into());
    }
    let mut memory = app.memory(&home, Access::Write)?;
    let scope = arguments.whose.existing(&memory.store)?;
    let rules = rules::of_learning(app, &home, &memory.store)?;
    let taken = remember::undo(&mut memory.store, scope, &rules, app.change())?;
    let taken = taken.ok_or_else(nothing)?;
    let hint = match taken.current {
        Some(current) => {
            Some(format!("redo it with `hermes memory fact undo {}`", name_of(current)))
        }
        None => taken.is_fact_retired.then(|| {
            let fact = name_of(taken.fact);
            format!("restore the fact with `hermes memory fact restore {fact}`")
        }),
    };
    app.out.show(&Undone { taken })?;
    if let Some(hint) = hint {
        app.out.hint(hint);
    }
    Ok(Outcome::Done)
}

impl Show for Undone {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let taken = &self.taken;
        let (path, entry) = (taken.path.display(), one_line(&taken.entry, 72));
        let name = name_of(taken.fact);
        match &taken.earlier {
            _ if taken.is_restored => page.line(format_args!("restored in {path}: {entry}"))?,
            Some(text) => page.line(format_args!("reverted in {path}: {}", one_line(text, 72)))?,
            None => page.line(format_args!("removed from {path}: {entry}"))?,
        }
        match (taken.current, taken.is_fact_retired) {
            _ if taken.is_restored => page.line(format_args!("{name} was restored"))?,
            (Some(current), _) => page.line(format_args!(
                "{} is current again; {name}, which had superseded it, was deleted",
                name_of(current)
            ))?,
            (None, true) => page.line(format_args!("{name}, which said the same, was deleted"))?,
            (None, false) if taken.earlier.is_some() => {
                page.line(format_args!("{name} was reverted to its earlier text"))?;
            }
            (None, false) => page.line(format_args!("{name} was kept: you added it yourself"))?,
        }
        for back in &self.taken.back {
            page.line(format_args!("restored in the file: {}", one_line(back, 72)))?;
        }
        Ok(())
    }
}
