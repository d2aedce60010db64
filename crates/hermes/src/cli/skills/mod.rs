//! hermes skills: how kinds of tasks are done, each in a folder with a SKILL.md

mod add;
mod edit;
mod list;
mod lock;
mod remove;
mod review;
mod show;
mod validate;

use crate::terminal::Terminal;
use std::io;
use std::path::Path;

use clap::Subcommand;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::problem::{Kind, Problem};
use hermes_app::skills::SkillChange;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the skills in use, and those that wait for your word
    List(list::Arguments),
    /// Show one skill: where it comes from, and what it says
    Show(show::Arguments),
    /// Add a skill from a folder, or from a SKILL.md alone
    Add(add::Arguments),
    /// Lock a skill, so that Hermes never rewrites it
    Lock(Name),
    /// Let a locked skill be rewritten again
    Unlock(Name),
    /// Use a skill that waits
    Approve(Name),
    /// Take a skill that waits away; the same is not offered again
    Reject(Name),
    /// Give a skill another text; it is checked first, and the one before is kept as a version
    Edit(edit::Arguments),
    /// Check skills against the agentskills.io form; exit code 6 when something is found
    Validate(validate::Arguments),
    /// Take a skill away; it is kept aside
    Delete(remove::Arguments),
    /// Bring back the skill of this name that was taken away or rejected last
    Restore(Name),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Name {
    /// Its name
    name: String,
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    match command {
        Command::List(arguments) => list::run(arguments, app),
        Command::Show(arguments) => show::run(arguments, app),
        Command::Add(arguments) => add::run(arguments, app),
        Command::Lock(named) => lock::lock(&named.name, app),
        Command::Unlock(named) => lock::unlock(&named.name, app),
        Command::Approve(named) => review::approve(&named.name, app),
        Command::Reject(named) => review::reject(&named.name, app),
        Command::Validate(arguments) => validate::run(arguments, app),
        Command::Delete(arguments) => remove::run(arguments, app),
        Command::Edit(arguments) => edit::run(arguments, app),
        Command::Restore(named) => remove::restore(&named.name, app),
    }
}

/// Fails when there is nothing at a path that was typed.
fn must_be_there(path: &Path) -> Result<(), Problem> {
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let message = format!("there is nothing at {}", path.display());
            Err(Problem::new(Kind::NotFound, message)
                .hint("name a folder with a SKILL.md in it, or a SKILL.md"))
        }
        _ => Ok(()),
    }
}

impl Show for SkillChange {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.done)
    }
}
