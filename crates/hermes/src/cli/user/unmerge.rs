//! hermes user unmerge

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_app::users::unmerge::{self, UserUnmerged};
use hermes_home::UserId;

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// User who was merged into another
    user: UserId,
    /// Show what would be given back, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let unmerge = unmerge::look(app, &home, &arguments.user)?;
    if arguments.dry_run {
        app.out.show(&unmerge.plan)?;
        return Ok(Outcome::Done);
    }
    if !unmerge.is_cut_short {
        let plan = &unmerge.plan;
        plan.lines().iter().for_each(|line| app.out.note(line));
        let question = format!("undo the merge of {} into {}?", plan.user, plan.from);
        confirm::consent(app.asking, &question)?;
    }
    let done = unmerge.carry_out(app, &home)?;
    app.out.show(&done)?;
    Ok(Outcome::Done)
}

impl Show for UserUnmerged {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        self.lines().iter().try_for_each(|line| page.line(line))
    }
}
