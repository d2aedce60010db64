//! hermes skills edit

use crate::terminal::Terminal;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use hermes_app::skills::{SkillChange, note_in_memory};
use hermes_home::memory_file::WholeText;
use hermes_home::skill::{self, State};

use crate::failure::Outcome;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Name of the skill
    name: String,
    /// File with the complete new SKILL.md; `-` is standard input
    file: PathBuf,
    /// Edit the pending skill, not the active one
    #[arg(long)]
    pending: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let name = arguments.name.as_str();
    let state = if arguments.pending { State::Pending } else { State::Active };
    let text = text_of(&arguments.file)?;
    let read = skill::read_text(&home, name, state)?;
    let whole = WholeText { text: &text, expected_hash: &read.hash };
    let edited = skill::edit(&home, name, state, &whole, app.now)?;
    let done = match edited.changed {
        true => format!("{name} was updated; the previous text is kept as a version"),
        false => format!("{name} already has this text"),
    };
    note_in_memory(app, &home);
    let changed = SkillChange::new(name, done);
    app.out.show(&SkillChange { file: Some(edited.path), changed: edited.changed, ..changed })?;
    Ok(Outcome::Done)
}

fn text_of(file: &Path) -> anyhow::Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("could not read standard input")?;
        return Ok(text);
    }
    super::must_be_there(file)?;
    std::fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))
}
