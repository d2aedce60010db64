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
    /// List the active skills, or those that are waiting for your approval
    List(list::Arguments),
    /// Show a skill: its origin and its text
    Show(show::Arguments),
    /// Add a skill from a folder, or from a single SKILL.md
    Add(add::Arguments),
    /// Lock a skill, so that Hermes never rewrites it
    Lock(Name),
    /// Unlock a skill, so that Hermes can rewrite it again
    Unlock(Name),
    /// Approve a pending skill, so that it is used
    Approve(Name),
    /// Reject a pending skill; the same text is not proposed again
    Reject(Name),
    /// Replace the text of a skill; it is validated first, and the previous text is kept as a version
    Edit(edit::Arguments),
    /// Validate skills against the agentskills.io format; the exit code is 6 if there is a problem
    Validate(validate::Arguments),
    /// Delete a skill; its files are kept for `skills restore`
    Delete(remove::Arguments),
    /// Restore the most recently deleted or rejected skill of this name
    Restore(Name),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Name {
    /// Name of the skill
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
                .hint("pass a folder with a SKILL.md in it, or a SKILL.md"))
        }
        _ => Ok(()),
    }
}

impl Show for SkillChange {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.done)
    }
}
