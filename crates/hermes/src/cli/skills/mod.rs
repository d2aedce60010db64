//! hermes skills: how kinds of tasks are done, each in a folder with a SKILL.md

mod add;
mod edit;
mod list;
mod lock;
mod remove;
mod review;
mod show;
mod validate;

use std::io;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use hermes_memory::learn;
use hermes_store::memory::Vectors as _;
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::embedding;
use crate::failure::{Kind, Outcome, Problem};
use crate::output::{Page, Show};

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

/// What was done to a skill.
#[derive(Debug, Serialize)]
struct Changed {
    skill: String,
    changed: bool,
    #[serde(skip)]
    done: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locked: Option<bool>,
}

pub(crate) fn run(command: &Command, app: &mut App) -> anyhow::Result<Outcome> {
    let outcome = perform(command, app)?;
    let changes_use = matches!(
        command,
        Command::Add(_)
            | Command::Approve(_)
            | Command::Delete(_)
            | Command::Edit(_)
            | Command::Restore(_)
    );
    if changes_use {
        note_in_memory(app);
    }
    Ok(outcome)
}

fn perform(command: &Command, app: &mut App) -> anyhow::Result<Outcome> {
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

/// Lets the context of a task name the skills in use. The skill itself is in place, so this never
/// fails the command: what is missed is made up for at the next `hermes memory reflect`.
pub(crate) fn note_in_memory(app: &App) {
    let note = || -> anyhow::Result<()> {
        let home = app.existing_home()?;
        if !app.has_memory(&home) {
            return Ok(());
        }
        let mut memory = app.memory(&home, Access::Write)?;
        let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
        learn::note_skills(&home, &mut memory.store, vectors, app.change())?;
        Ok(())
    };
    if let Err(error) = note() {
        app.out.note(format_args!("the memory does not know of it yet: {error}"));
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

impl Changed {
    fn new(skill: &str, done: String) -> Changed {
        let skill = skill.to_owned();
        Changed { skill, changed: true, done, file: None, kept_in: None, locked: None }
    }
}

impl Show for Changed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.done)
    }
}
