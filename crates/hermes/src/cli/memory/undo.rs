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
        Problem::new(Kind::NotFound, "nothing that was remembered is left to be undone")
            .hint("earlier contents of a file: `hermes memory versions`")
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
            Some(format!("do it again with `hermes memory fact undo {}`", name_of(current)))
        }
        None => taken.is_fact_retired.then(|| {
            let fact = name_of(taken.fact);
            format!("the fact can be brought back: `hermes memory fact restore {fact}`")
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
            _ if taken.is_restored => page.line(format_args!("back in {path}: {entry}"))?,
            Some(text) => page.line(format_args!("{path} says again: {}", one_line(text, 72)))?,
            None => page.line(format_args!("taken out of {path}: {entry}"))?,
        }
        match (taken.current, taken.is_fact_retired) {
            _ if taken.is_restored => page.line(format_args!("{name} is back"))?,
            (Some(current), _) => page.line(format_args!(
                "{} is current again; {name}, which had taken its place, is deleted",
                name_of(current)
            ))?,
            (None, true) => page.line(format_args!("{name}, which said the same, is deleted"))?,
            (None, false) if taken.earlier.is_some() => {
                page.line(format_args!("{name} has its earlier text again"))?;
            }
            (None, false) => page.line(format_args!("{name} stays: you added it yourself"))?,
        }
        for back in &self.taken.back {
            page.line(format_args!("back in the file: {}", one_line(back, 72)))?;
        }
        Ok(())
    }
}
