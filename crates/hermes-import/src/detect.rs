//! Looks where the programs usually keep their histories; a cheap look that reads no conversation.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::files::{self, Listed};
use crate::{Source, holographic, packed};

/// Where the programs keep their things on this machine.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The folder of Claude Code, usually `~/.claude`.
    pub claude: Option<PathBuf>,
    /// The folder of Codex, usually `~/.codex`.
    pub codex: Option<PathBuf>,
    /// The folders of OpenClaw: `~/.openclaw`, or the older `~/clawd`.
    pub openclaw: Vec<PathBuf>,
    /// Homes of Hermes Agent with their profiles; never the home that is imported into.
    pub hermes_agent: Vec<PathBuf>,
    /// Where exports are downloaded to.
    pub downloads: Option<PathBuf>,
    /// The file of the reference memory server.
    pub memory_file: Option<PathBuf>,
}

/// Something that can be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// By which import.
    pub source: Source,
    /// Where it is.
    pub path: PathBuf,
    /// How many files it has.
    pub files: u64,
    /// How many bytes.
    pub bytes: u64,
    /// When it changed last.
    pub newest: Option<Timestamp>,
}

/// So many archives are looked into.
const MOST_ARCHIVES: usize = 200;

/// Everything that is there.
pub fn detect(places: &Places) -> Vec<Found> {
    let mut found = Vec::new();
    let jsonl = |path: &Path| files::ends_with(path, ".jsonl");
    if let Some(claude) = &places.claude {
        found.extend(listed(Source::ClaudeCode, claude, &claude.join("projects"), &jsonl));
    }
    if let Some(codex) = &places.codex {
        let is_rollout = |path: &Path| files::name(path).starts_with("rollout-");
        found.extend(listed(Source::Codex, codex, codex, &is_rollout));
    }
    for folder in &places.openclaw {
        let wanted = |path: &Path| jsonl(path) || files::ends_with(path, ".md");
        found.extend(listed(Source::OpenClaw, folder, folder, &wanted));
    }
    for home in &places.hermes_agent {
        found.extend(one(Source::HermesAgent, home, &home.join("state.db")));
        let facts = home.join(holographic::DATABASE);
        found.extend(one(Source::Holographic, &facts, &facts));
    }
    if let Some(file) = &places.memory_file {
        found.extend(one(Source::ReferenceMemory, file, file));
    }
    found.extend(places.downloads.iter().flat_map(|folder| archives(folder)));
    found
}

fn listed(
    source: Source,
    path: &Path,
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Option<Found> {
    if !folder.is_dir() {
        return None;
    }
    let listing = files::below(folder, is_wanted);
    let bytes = listing.files.iter().map(|file| file.size).sum();
    let newest = listing.files.iter().filter_map(|file| file.changed).max();
    let files = listing.files.len() as u64;
    (files > 0).then(|| Found { source, path: path.to_owned(), files, bytes, newest })
}

fn one(source: Source, path: &Path, file: &Path) -> Option<Found> {
    let size = files::refuse_special(file).ok()?.len();
    let newest = files::changed(file);
    Some(Found { source, path: path.to_owned(), files: 1, bytes: size, newest })
}

/// Exports among the archives directly in a folder.
fn archives(folder: &Path) -> Vec<Found> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut zips: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| files::ends_with(path, ".zip") && path.is_file())
        .collect();
    zips.sort();
    let looked = zips.into_iter().take(MOST_ARCHIVES);
    looked
        .filter_map(|path| {
            let source = kind_of(&packed::names(&path).ok()?)?;
            let size = path.metadata().ok()?.len();
            let file = Listed { changed: files::changed(&path), path, size };
            let newest = file.changed;
            Some(Found { source, path: file.path, files: 1, bytes: file.size, newest })
        })
        .collect()
}

/// Whose export it is, by the names in it.
fn kind_of(names: &[String]) -> Option<Source> {
    let has = |wanted: &str| names.iter().any(|name| name.rsplit('/').next() == Some(wanted));
    let has_talk = names.iter().any(|name| {
        let last = name.rsplit('/').next().unwrap_or_default();
        last.starts_with("conversations") && last.ends_with(".json")
    });
    match () {
        () if has_talk && (has("user.json") || has("chat.html")) => Some(Source::ChatGpt),
        () if has_talk && (has("users.json") || has("projects.json")) => Some(Source::ClaudeAi),
        () => None,
    }
}
