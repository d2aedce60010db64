//! hermes user merge

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_app::users::merge::{self, UserMerged};
use hermes_home::UserId;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// User to merge; the name then refers to the other user
    from: UserId,
    /// User to merge into; `owner` is you
    into: UserId,
    /// Show what would move, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let Arguments { from, into, dry_run } = arguments;
    let merge = merge::look(app, &home, from, into)?;
    if *dry_run && !merge.is_cut_short {
        app.out.show(&merge.plan)?;
        return Ok(Outcome::Done);
    }
    if !merge.is_cut_short {
        app.out.note(merge.plan.in_words());
        confirm::consent(app.asking, &format!("merge {from} into {}?", merge.plan.into))?;
    }
    let merged = merge.carry_out(app, &home)?;
    app.out.show(&merged)?;
    if let Some(kept) = &merged.kept_in {
        app.out.note(format_args!(
            "the data of {from} before the merge is kept in {kept} until {} is forgotten",
            merged.into
        ));
    }
    app.out.hint(format_args!("undo it with `hermes user unmerge {from}`"));
    Ok(Outcome::Done)
}

impl Show for UserMerged {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        match self.done {
            false => page.line(format_args!("would move {}", self.in_words())),
            true => {
                page.line(format_args!("merged {} into {}", self.from, self.into))?;
                page.line(format_args!("  moved {}", self.in_words()))?;
                let (entries, sections) = (self.entries, self.reflections);
                page.line(format_args!(
                    "  USER.md: {entries} entries added; REFLECTIONS.md: {sections} sections added"
                ))
            }
        }
    }
}
