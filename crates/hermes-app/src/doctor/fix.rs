//! The repairs that cannot do harm: private modes, missing folders, left-over files, the index of vectors.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use hermes_home::init::Owner;
use hermes_home::{Home, atomic};
use jiff::Timestamp;

use super::memory;
use crate::app::App;
use crate::platform;

/// A temporary file younger than this may belong to a write that is going on.
const YOUNG: Duration = Duration::from_secs(3600);

/// A file or folder that others may look into.
pub struct Open {
    /// The file.
    pub path: PathBuf,
    wanted: u32,
}

/// Does all safe repairs and says what was done.
pub fn safely(app: &App, home: &Home) -> anyhow::Result<Vec<String>> {
    let mut done = Vec::new();
    for open in too_open(home, app.memory_path(home).ok()) {
        platform::set_mode(&open.path, open.wanted)
            .with_context(|| format!("could not change the mode of {}", open.path.display()))?;
        done.push(format!("{} is now private ({:o})", open.path.display(), open.wanted));
    }
    for path in left_overs(home, app.now) {
        fs::remove_file(&path).with_context(|| format!("could not remove {}", path.display()))?;
        done.push(format!("{} was removed", path.display()));
    }
    if app.owner(home).is_ok_and(|owner| owner == Owner::Ours) {
        for folder in [home.memories(), home.skills(), home.workspace(), home.own()] {
            if !folder.exists() {
                atomic::make_folder(&folder)?;
                done.push(format!("{} was created", folder.display()));
            }
        }
    }
    done.extend(memory::fix(app, home)?);
    Ok(done)
}

/// What others may read although it is the user's own: the folders and files this program knows.
pub fn too_open(home: &Home, memory: Option<PathBuf>) -> Vec<Open> {
    let folders = [
        home.folder().to_owned(),
        home.memories(),
        home.users(),
        home.own(),
        home.versions(),
        home.logs(),
        home.spool(),
    ];
    let mut files = vec![home.secrets(), home.config(), home.soul(), home.state_db(), home.pins()];
    files.extend(memory);
    for folder in [home.memories(), home.own(), home.logs(), home.spool()] {
        files.extend(files_in(&folder));
    }
    let is_open = |path: &Path| {
        platform::mode(path).is_some_and(|mode| mode & 0o077 != 0)
            && path.symlink_metadata().is_ok_and(|found| !found.is_symlink())
    };
    let open = |paths: Vec<PathBuf>, wanted: u32| {
        paths.into_iter().filter(|path| is_open(path)).map(move |path| Open { path, wanted })
    };
    let mut found: Vec<Open> = open(folders.to_vec(), 0o700).collect();
    found.extend(open(files, 0o600));
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found.dedup_by(|left, right| left.path == right.path);
    found
}

/// Temporary files of interrupted writes, old enough that nobody is writing them.
pub fn left_overs(home: &Home, now: Timestamp) -> Vec<PathBuf> {
    let now = SystemTime::from(now);
    let is_old = |path: &PathBuf| {
        let changed = fs::metadata(path).and_then(|found| found.modified());
        changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > YOUNG))
    };
    [home.folder().to_owned(), home.memories(), home.own(), home.spool(), home.hook_sessions()]
        .iter()
        .flat_map(|folder| files_in(folder))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(".hermes_") && name.ends_with(".tmp")
        })
        .filter(is_old)
        .collect()
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}
