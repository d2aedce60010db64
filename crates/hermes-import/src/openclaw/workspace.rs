//! The workspace of OpenClaw: persona, profile, memory, daily notes and skills.

use std::path::{Path, PathBuf};

use hermes_home::init::Owner;

use super::AGENT;
use crate::hermes_agent::entries;
use crate::item::{Note, Role, SkillFolder};
use crate::markdown::{self, Who};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::{Result, files};

/// Files that stand for themselves.
const NOTES: &[&str] =
    &["SOUL.md", "IDENTITY.md", "AGENTS.md", "TOOLS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md"];
/// Files whose entries are facts.
const MEMORY: &[&str] = &["MEMORY.md", "USER.md"];
const LARGEST_NOTE: u64 = 4 * 1024 * 1024;

/// The workspace in a folder of OpenClaw, or the folder itself if it is one.
pub fn workspace_of(path: &Path) -> Option<PathBuf> {
    let is_one = |folder: &Path| {
        let names = NOTES.iter().chain(MEMORY);
        names.into_iter().any(|name| folder.join(name).is_file()) || folder.join("memory").is_dir()
    };
    let inside = path.join("workspace");
    [inside, path.to_owned()].into_iter().find(|folder| is_one(folder))
}

/// The Markdown files of a workspace, for a copy of what was brought in; links are not followed.
pub fn workspace_files(workspace: &Path) -> Vec<PathBuf> {
    let is_wanted = |path: &Path| markdown::is_markdown(path);
    files::below(workspace, &is_wanted)
        .files
        .into_iter()
        .filter(|file| file.size <= LARGEST_NOTE)
        .map(|file| file.path)
        .collect()
}

pub(super) fn read(workspace: &Path, reading: &mut Reading<'_>) -> Result<()> {
    for name in MEMORY {
        let path = workspace.join(name);
        if path.is_file() {
            entries(&path, Owner::Ours, reading)?;
        }
    }
    for name in NOTES {
        let path = workspace.join(name);
        if !path.is_file() {
            continue;
        }
        match files::text(&path, LARGEST_NOTE)? {
            Ok(text) => reading.note(Note { name: (*name).to_owned(), path, text })?,
            Err(why) => reading.tally.problem(&path, None, why),
        }
    }
    notes(&workspace.join("memory"), reading)?;
    skills(&workspace.join("skills"), reading)
}

/// Notes of a day are something that was said on that day; other notes are facts.
fn notes(folder: &Path, reading: &mut Reading<'_>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let listing = files::below(folder, &|path| markdown::is_markdown(path));
    reading.tally.leave(LeftOut::Links, listing.links);
    for file in listing.files {
        let inside = file.path.strip_prefix(folder).unwrap_or(&file.path).to_string_lossy();
        let is_of_a_day = files::stem(&file.path)
            .get(..10)
            .is_some_and(|day| day.parse::<jiff::civil::Date>().is_ok());
        if is_of_a_day {
            let name = format!("{AGENT}/memory/{inside}");
            let who = Who { role: Role::Assistant, agent: Some(AGENT) };
            markdown::note(&file.path, &name, who, reading)?;
        } else {
            entries(&file.path, Owner::Ours, reading)?;
        }
    }
    Ok(())
}

fn skills(folder: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("SKILL.md").is_file())
        .collect();
    found.sort();
    for path in found {
        let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        match is_link {
            true => reading.leave(LeftOut::Links),
            false => reading.skill(SkillFolder { name: files::name(&path), path })?,
        }
    }
    Ok(())
}
