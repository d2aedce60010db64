//! Take a skill from elsewhere into the home, whole or not at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::atomic;
use crate::error::skill::Trouble;
use crate::error::{Error, Result};
use crate::layout::{Home, SKILL_FILE};
use crate::lock;
use crate::name::SkillName;
use crate::skill::offer::holds_something;
use crate::skill::{Catalog, LARGEST_FILE, file, frontmatter};

/// A skill that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// Its name.
    pub name: SkillName,
    /// Its SKILL.md.
    pub path: PathBuf,
    /// How many files it has.
    pub files: usize,
}

/// The most files a skill may have.
const MOST_FILES: usize = 1000;
/// How many folders may stand inside one another in a skill.
const DEEPEST: usize = 8;
/// What a version control program keeps is not part of a skill.
const LEFT_OUT: &str = ".git";

/// Copies a skill into the home: a folder with its supporting files, or a SKILL.md alone.
pub fn add(home: &Home, from: &Path) -> Result<Added> {
    add_to(home, from, &home.skills())
}

/// The same, to where skills wait for the user's word; one that waits or is in use is left as it is.
pub fn add_pending(home: &Home, from: &Path) -> Result<Added> {
    add_to(home, from, &home.pending_skills())
}

fn add_to(home: &Home, from: &Path, root: &Path) -> Result<Added> {
    home.must_exist()?;
    let found = from.symlink_metadata().map_err(|source| Error::read(from, source))?;
    let shown = from.display().to_string();
    if found.is_symlink() {
        let trouble = Trouble::NotPlain { path: from.to_owned(), why: LINK };
        return Err(trouble.of(&shown));
    }
    let skill_file = if found.is_dir() { from.join(SKILL_FILE) } else { from.to_owned() };
    let name = name_in(&skill_file, &shown)?;
    let files = if found.is_dir() {
        plan(from).map_err(|(path, why)| Trouble::NotPlain { path, why }.of(&shown))?
    } else {
        vec![PathBuf::from(SKILL_FILE)]
    };
    let _guard = lock::hold(&home.skills_guard())?;
    refuse_taken(home, name.as_str())?;
    if holds_something(&root.join(name.as_str())) {
        return Err(Trouble::Exists { path: root.join(name.as_str()) }.of(name.as_str()));
    }
    let staged = stage(root, from, &files)?;
    let path = settle(root, &staged, name.as_str())?;
    Ok(Added { name, path, files: files.len() })
}

/// Copies the folder of a checked skill to `skills/`; returns its SKILL.md.
pub(super) fn install(home: &Home, from: &Path, name: &str) -> Result<PathBuf> {
    let files = plan(from).map_err(|(path, why)| Trouble::NotPlain { path, why }.of(name))?;
    let staged = stage(&home.skills(), from, &files)?;
    settle(&home.skills(), &staged, name)
}

const LINK: &str = "it is a link, and links are not followed";

/// The files below a folder, relative to it; else the first that cannot be taken, and why.
pub(super) fn plan(folder: &Path) -> Result<Vec<PathBuf>, (PathBuf, &'static str)> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((inside, depth)) = open.pop() {
        if depth > DEEPEST {
            return Err((inside, "it is nested too deep in folders"));
        }
        let unreadable = |_| (inside.clone(), "it cannot be read");
        for entry in fs::read_dir(&inside).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let kind = path.symlink_metadata().map_err(unreadable)?;
            match kind {
                _ if path.ends_with(LEFT_OUT) => {}
                found if found.is_dir() => open.push((path, depth + 1)),
                found => {
                    check_plain(&found).map_err(|why| (path.clone(), why))?;
                    files.push(path.strip_prefix(folder).unwrap_or(&path).to_owned());
                }
            }
            if files.len() > MOST_FILES {
                return Err((folder.to_owned(), "it has more than 1,000 files"));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn check_plain(found: &fs::Metadata) -> Result<(), &'static str> {
    if found.is_symlink() {
        Err(LINK)
    } else if !found.is_file() {
        Err("it is not a regular file")
    } else if found.len() > LARGEST_FILE {
        Err("it is larger than 1 MiB")
    } else {
        Ok(())
    }
}

fn name_in(skill_file: &Path, shown: &str) -> Result<SkillName> {
    let bad = |problems| Trouble::Bad { path: skill_file.to_owned(), problems }.of(shown);
    let bytes = file::read(skill_file).map_err(|problem| bad(vec![problem]))?;
    let reading = frontmatter::read(&bytes, None);
    reading.content.map(|content| content.name).ok_or_else(|| bad(reading.problems))
}

fn refuse_taken(home: &Home, name: &str) -> Result<()> {
    let active = Catalog::read(home)?;
    let folder = home.skills().join(name);
    let taken = None
        .or_else(|| active.get(name).map(|skill| skill.file.clone()))
        .or_else(|| active.get_broken(name).map(|broken| broken.folder.clone()))
        .or_else(|| holds_something(&folder).then_some(folder));
    taken.map_or(Ok(()), |path| Err(Trouble::Exists { path }.of(name)))
}

/// The private folder inside the temporary one.
const STAGED: &str = "skill";

/// Copies the files to a hidden folder beside the skills, which goes away by itself.
fn stage(skills: &Path, from: &Path, files: &[PathBuf]) -> Result<tempfile::TempDir> {
    atomic::make_folder(skills)?;
    let staged = tempfile::Builder::new()
        .prefix(".hermes_")
        .suffix(".tmp")
        .tempdir_in(skills)
        .map_err(|source| Error::write(skills, source))?;
    for inside in files {
        let source = if from.is_dir() { from.join(inside) } else { from.to_owned() };
        let target = staged.path().join(STAGED).join(inside);
        atomic::make_folder(target.parent().unwrap_or(staged.path()))?;
        copy(&source, &target)?;
    }
    Ok(staged)
}

fn copy(source: &Path, target: &Path) -> Result<()> {
    let changed = || {
        Error::read(
            source,
            std::io::Error::other(
                "it changed while it was being \
         copied",
            ),
        )
    };
    let bytes = file::read(source).map_err(|_| changed())?;
    atomic::create(target, &bytes)?;
    keep_executable(source, target)
}

fn keep_executable(source: &Path, target: &Path) -> Result<()> {
    let mode = fs::metadata(source).map_err(|error| Error::read(source, error))?.permissions();
    if mode.mode() & 0o100 == 0 {
        return Ok(());
    }
    fs::set_permissions(target, fs::Permissions::from_mode(0o700))
        .map_err(|error| Error::write(target, error))
}

fn settle(skills: &Path, staged: &tempfile::TempDir, name: &str) -> Result<PathBuf> {
    let folder = skills.join(name);
    let failed = |source| Error::write(&folder, source);
    // An empty folder of that name is nothing, and a rename takes its place.
    fs::rename(staged.path().join(STAGED), &folder).map_err(failed)?;
    atomic::sync_folder(skills).map_err(failed)?;
    Ok(folder.join(SKILL_FILE))
}
