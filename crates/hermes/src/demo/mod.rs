//! A home filled with the half-year of an invented person, through the same code as real use.

mod routine;
mod story;
mod tell;

use std::path::{Path, PathBuf};

use serde::Serialize;

use self::tell::Teller;
use crate::terminal::Commands;
use hermes_app::app::App;
use hermes_app::numbers::Numbers;
use hermes_app::problem::Problem;

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// The story alone.
    Small,
    /// Everyday conversations and backups as well.
    Whole,
}

/// What was made.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Filled {
    /// The folder that holds all of it.
    pub(crate) folder: PathBuf,
    /// The home.
    pub(crate) home: PathBuf,
    /// The private key that opens its backups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backup_key: Option<PathBuf>,
    /// Conversations.
    pub(crate) sessions: u64,
    /// Messages in them.
    pub(crate) messages: u64,
    /// Facts that hold at the end.
    pub(crate) facts: u64,
}

/// The days that are told.
const DAYS: i64 = 180;
/// Everyday conversations beside the story.
const ROUTINE: usize = 70;

/// Makes a home inside a folder that is empty or not there, and tells the story in it.
pub(crate) fn fill(
    app: &App,
    commands: Commands,
    folder: &Path,
    size: Size,
) -> anyhow::Result<Filled> {
    refuse_full(folder)?;
    let home = folder.join("home");
    let mut steps = story::told()?;
    let mut numbers = Numbers::new(1);
    if size == Size::Whole {
        steps.extend(routine::talks(ROUTINE, DAYS - 1, &mut numbers)?);
    }
    let mut teller = Teller::begin(app, commands, &home, numbers)?;
    let backup_key = folder.join("backup-key");
    if size == Size::Whole {
        steps.extend(teller.backups(&backup_key)?);
    }
    teller.tell(steps)?;
    let filled = Filled { folder: folder.to_owned(), home, ..teller.end()? };
    Ok(Filled { backup_key: (size == Size::Whole).then_some(backup_key), ..filled })
}

/// A folder with something in it may be somebody's.
fn refuse_full(folder: &Path) -> anyhow::Result<()> {
    let full = match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
        Err(_) => true,
    };
    match full {
        false => Ok(()),
        true => Err(Problem::new(
            hermes_app::problem::Kind::Refused,
            format!("{} is not an empty folder", folder.display()),
        )
        .hint("choose a new or empty folder: `hermes demo --at FOLDER`")
        .into()),
    }
}
