//! Find the skills of a home: those in use, and those that wait.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::layout::{Home, SKILL_FILE};
use crate::skill::{Fault, Problem, Skill, State, Trouble, file, frontmatter};

/// The skills of a home, in the order of their names; no two have the same.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Those that can be used.
    pub skills: Vec<Skill>,
    /// Those that something is wrong with.
    pub broken: Vec<Broken>,
}

/// A skill that something is wrong with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The name of its folder.
    pub name: String,
    /// Whether it is among those in use or among those that wait.
    pub state: State,
    /// Its folder.
    pub folder: PathBuf,
    /// Everything that is wrong with it.
    pub problems: Vec<Problem>,
    /// Whether it is locked, as far as could be read.
    pub is_locked: bool,
}

impl Catalog {
    /// The skills in use, also those one folder deeper, in a category; links are not followed.
    pub fn read(home: &Home) -> Result<Catalog> {
        let root = home.skills();
        let mut catalog = Catalog::default();
        let mut categories = Vec::new();
        for folder in folders(&root)? {
            if is_skill(&folder) {
                catalog.take(&folder, None, State::Active);
            } else {
                categories.push(folder);
            }
        }
        for category in categories.iter().filter(|folder| !is_link(folder)) {
            for folder in folders(category)?.iter().filter(|folder| is_skill(folder)) {
                catalog.take(folder, Some(file_name(category)), State::Active);
            }
        }
        Ok(catalog.sorted())
    }

    /// The skills that wait for the user's word.
    pub fn pending(home: &Home) -> Result<Catalog> {
        let mut catalog = Catalog::default();
        for folder in folders(&home.pending_skills())?.iter().filter(|folder| is_skill(folder)) {
            catalog.take(folder, None, State::Pending);
        }
        Ok(catalog.sorted())
    }

    /// The skill of this name, if there is one and nothing is wrong with it.
    pub fn get(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name() == name)
    }

    /// What is wrong with the skill of this name.
    pub fn get_broken(&self, name: &str) -> Option<&Broken> {
        self.broken.iter().find(|broken| broken.name == name)
    }

    /// The skill in use of this name; if there is none, the error knows the nearest.
    pub fn find(home: &Home, name: &str) -> Result<Skill> {
        let (active, pending) = (Catalog::read(home)?, Catalog::pending(home)?);
        active.pick(name).unwrap_or_else(|| Err(missing(name, State::Active, &active, &pending)))
    }

    /// The skill of this name that waits; if there is none, the error knows the nearest.
    pub fn find_pending(home: &Home, name: &str) -> Result<Skill> {
        let (active, pending) = (Catalog::read(home)?, Catalog::pending(home)?);
        pending.pick(name).unwrap_or_else(|| Err(missing(name, State::Pending, &pending, &active)))
    }

    /// The skill in use of this name, else the one that waits.
    pub fn find_any(home: &Home, name: &str) -> Result<Skill> {
        let (active, pending) = (Catalog::read(home)?, Catalog::pending(home)?);
        let picked = active.pick(name).or_else(|| pending.pick(name));
        picked.unwrap_or_else(|| Err(missing(name, State::Active, &active, &pending)))
    }

    /// The names of all, also of those that something is wrong with.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let broken = self.broken.iter().map(|broken| broken.name.as_str());
        self.skills.iter().map(Skill::name).chain(broken)
    }

    fn pick(&self, name: &str) -> Option<Result<Skill>> {
        let broken = || {
            let broken = self.get_broken(name)?;
            let (path, problems) = (broken.folder.clone(), broken.problems.clone());
            Some(Err(Trouble::Bad { path, problems }.of(name)))
        };
        self.get(name).cloned().map(Ok).or_else(broken)
    }

    fn take(&mut self, folder: &Path, category: Option<String>, state: State) {
        let name = file_name(folder);
        let file = folder.join(SKILL_FILE);
        let broken = |problems, is_locked| Broken {
            name: name.clone(),
            state,
            folder: folder.to_owned(),
            problems,
            is_locked,
        };
        if is_link(folder) {
            let fault = Fault::NotPlain { what: "the folder".to_owned() };
            return self.broken.push(broken(vec![fault.at(1)], false));
        }
        let reading = match file::read(&file) {
            Err(problem) => return self.broken.push(broken(vec![problem], false)),
            Ok(bytes) => frontmatter::read(&bytes, Some(&name)),
        };
        let Some(content) = reading.content else {
            return self.broken.push(broken(reading.problems, reading.is_locked));
        };
        match self.get(content.name.as_str()) {
            None => self.skills.push(Skill { content, state, category, file }),
            Some(first) => {
                let other = first.file.parent().unwrap_or(&first.file).display().to_string();
                let same = Fault::SameName { other }.at(1);
                self.broken.push(broken(vec![same], reading.is_locked));
            }
        }
    }

    fn sorted(mut self) -> Catalog {
        self.skills.sort_by(|left, right| left.content.name.cmp(&right.content.name));
        self.broken.sort_by(|left, right| left.folder.cmp(&right.folder));
        self
    }
}

/// The error for a name that is not in a catalog, with the nearest one of both that is.
pub(super) fn missing(name: &str, state: State, catalog: &Catalog, other: &Catalog) -> Error {
    const NEAR: f64 = 0.75;
    let likeness = |candidate: &&str| strsim::jaro_winkler(candidate, name);
    let names = catalog.names().chain(other.names());
    let nearest = names
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
        .filter(|candidate| likeness(candidate) >= NEAR)
        .map(str::to_owned);
    let is_elsewhere = other.names().any(|known| known == name);
    Trouble::Missing { state, nearest, is_elsewhere }.of(name)
}

/// The folders inside a folder, sorted, links to folders among them; hidden ones do not count.
fn folders(parent: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::read(parent, error)),
        Ok(entries) => entries,
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(|source| Error::read(parent, source))?.path();
        let name = file_name(&path);
        if path.is_dir() && !name.starts_with('.') && !is_of_a_restore(&name) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a restore put it there, beside the skill itself: `NAME.restored-20261116T033000Z` and the like.
fn is_of_a_restore(name: &str) -> bool {
    ["restored", "before-restore", "restoring"].iter().any(|word| {
        let Some((_, time)) = name.rsplit_once(&format!(".{word}-")) else { return false };
        time.len() >= 9 && time.starts_with(|c: char| c.is_ascii_digit()) && time.contains('T')
    })
}

/// Whether something called SKILL.md is in it, whatever that is.
fn is_skill(folder: &Path) -> bool {
    folder.join(SKILL_FILE).symlink_metadata().is_ok()
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::is_of_a_restore;

    #[test]
    fn what_a_restore_put_beside_a_skill_is_no_skill() {
        for name in [
            "deploy.restored-20261116T033000Z",
            "deploy.restored-20261116T033000Z-2",
            "deploy.before-restore-20261116T033000Z",
            "deploy.restoring-20261116T033000Z",
        ] {
            assert!(is_of_a_restore(name), "{name}");
        }
        for name in ["deploy", "deploy.restored", "restored-lamps", "a.restored-works"] {
            assert!(!is_of_a_restore(name), "{name}");
        }
    }
}
