//! First run: make the folders and write the scaffold files.

use std::path::PathBuf;

use crate::atomic;
use crate::error::Result;
use crate::layout::{Home, MemoryTarget};

/// Whose home this is; it decides what a first run may add.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Made by this program.
    Ours,
    /// Made by Hermes Agent: nothing is added to it unasked.
    HermesAgent,
}

/// The persona a new home begins with.
pub const SOUL: &str = include_str!("../scaffold/SOUL.md");
/// The empty MEMORY.md of a new home.
pub const MEMORY: &str = include_str!("../scaffold/MEMORY.md");
/// The empty USER.md of a new home.
pub const USER: &str = include_str!("../scaffold/USER.md");
/// The commented config.yaml of a new home.
pub const CONFIG: &str = include_str!("../scaffold/config.yaml");
/// What the mark of a home of ours says.
const MARK: &str = "{\"made_by\": \"hermes\"}\n";
const SECRETS: &str = include_str!("../scaffold/dot-env");

/// Makes what is missing and returns it; an existing file or folder is never touched.
pub fn prepare(home: &Home, owner: Owner) -> Result<Vec<PathBuf>> {
    let mut made = Vec::new();
    for folder in folders(home, owner) {
        if !folder.exists() {
            atomic::make_folder(&folder)?;
            made.push(folder);
        }
    }
    for (path, text) in files(home, owner) {
        if atomic::create(&path, text.as_bytes())? {
            made.push(path);
        }
    }
    Ok(made)
}

/// Whether this program made the home.
pub fn has_our_mark(home: &Home) -> bool {
    home.mark().is_file()
}

fn folders(home: &Home, owner: Owner) -> Vec<PathBuf> {
    match owner {
        // What we need there is made when it is first needed.
        Owner::HermesAgent => Vec::new(),
        Owner::Ours => vec![
            home.folder().to_owned(),
            home.memories(),
            home.skills(),
            home.workspace(),
            home.own(),
        ],
    }
}

fn files(home: &Home, owner: Owner) -> Vec<(PathBuf, &'static str)> {
    match owner {
        Owner::HermesAgent => Vec::new(),
        Owner::Ours => vec![
            (home.soul(), SOUL),
            (home.memory_file(&MemoryTarget::Memory), MEMORY),
            (home.memory_file(&MemoryTarget::User(None)), USER),
            (home.config(), CONFIG),
            (home.secrets(), SECRETS),
            (home.mark(), MARK),
        ],
    }
}
