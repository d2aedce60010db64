//! Where other programs keep their things on this machine.

use std::path::{Path, PathBuf};

use hermes_home::Home;
use hermes_import::{Places, Source};

use hermes_app::app::App;
use hermes_app::problem::Problem;

/// All places that are looked at by `hermes import auto`.
pub(super) fn places(app: &App, home: &Home) -> anyhow::Result<Places> {
    let user = app.env.user_folder()?;
    let below = |name: &str| user.as_ref().map(|user| user.join(name));
    let moved = |variable: &str| app.env.get(variable).map(PathBuf::from);
    let is_there = |path: &PathBuf| path.is_dir();
    Ok(Places {
        claude: moved("CLAUDE_CONFIG_DIR").or_else(|| below(".claude")),
        codex: moved("CODEX_HOME").or_else(|| below(".codex")),
        openclaw: [below(".openclaw"), below("clawd")]
            .into_iter()
            .flatten()
            .filter(is_there)
            .collect(),
        hermes_agent: below(".hermes").map(|root| homes(&root, home)).unwrap_or_default(),
        downloads: below("Downloads"),
        memory_file: moved("MEMORY_FILE_PATH"),
    })
}

/// A home of Hermes Agent with its profiles, but for those of the home that is imported into.
fn homes(root: &Path, own: &Home) -> Vec<PathBuf> {
    if is_same(root, own.root()) {
        return Vec::new();
    }
    let profiles = std::fs::read_dir(root.join("profiles")).into_iter().flatten().flatten();
    let mut homes: Vec<PathBuf> = profiles.map(|entry| entry.path()).collect();
    homes.sort();
    homes.insert(0, root.to_owned());
    homes
}

/// Where a source is when nobody says.
pub(super) fn usual(source: Source, app: &App, home: &Home) -> anyhow::Result<PathBuf> {
    let places = places(app, home)?;
    let found = match source {
        Source::ClaudeCode => places.claude,
        Source::Codex => places.codex,
        Source::OpenClaw => places.openclaw.into_iter().next(),
        Source::HermesAgent => places.hermes_agent.into_iter().next(),
        Source::ReferenceMemory => places.memory_file,
        _ => None,
    };
    found.ok_or_else(|| {
        let id = source.id();
        Problem::usage(format!(
            "{} has no usual location: the file or folder is missing",
            source.title()
        ))
        .hint(format!("pass it: `hermes import {id} PATH`"))
        .into()
    })
}

/// Whether two paths lead to the same place.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
