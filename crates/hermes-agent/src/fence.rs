//! Which paths the agent may touch: what is inside its folders, and no secret, device or pipe.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use hermes_home::Home;

use crate::error::{Error, Result};
use crate::platform;

/// The folders the agent may touch.
#[derive(Debug, Clone)]
pub struct Fence {
    /// Where relative paths begin; without links.
    working: PathBuf,
    /// What may be touched, the working folder first; without links.
    folders: Vec<PathBuf>,
    /// What may not, though it is inside.
    closed: Vec<PathBuf>,
    /// What may, though it is inside of what may not.
    open: Vec<PathBuf>,
}

/// A plain file that was opened, and is the one it was asked for.
#[derive(Debug)]
pub struct Opened {
    /// The file.
    pub file: File,
    /// Its path, absolute and without links.
    pub path: PathBuf,
    /// What is known of it.
    pub metadata: Metadata,
}

/// What is wanted with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aim {
    /// To look at it.
    Read,
    /// To change it.
    Write,
}

/// Folders in which keys are kept.
const SECRET_FOLDERS: &[&str] = &[".ssh", ".gnupg", ".aws", ".password-store", ".kube"];
/// Files in which keys and passwords are kept.
const SECRET_FILES: &[&str] = &[
    ".env",
    ".envrc",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".pgpass",
    ".pypirc",
    "api-token",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    ".htpasswd",
    "auth.json",
];
/// Endings of files that hold no secret though they begin like one that does.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist"];

/// Whether a path is that of a secret by its names, wherever it is.
pub fn names_secret(path: &Path) -> bool {
    let names = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
        _ => None,
    });
    let names: Vec<String> = names.collect();
    if names.windows(2).any(|pair| pair[0] == "proc" && is_process(&pair[1])) {
        return true;
    }
    let is_kept = names.iter().any(|name| SECRET_FOLDERS.contains(&name.as_str()));
    is_kept || names.last().is_some_and(|name| is_secret_file(name))
}

/// What stands for a process in /proc: there its memory, its files and its environment lie open.
fn is_process(name: &str) -> bool {
    matches!(name, "self" | "thread-self") || name.contains(['*', '?', '[']) || {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_digit())
    }
}

fn is_secret_file(name: &str) -> bool {
    let of_environment = name.strip_prefix(".env.").is_some_and(|end| !EXAMPLES.contains(&end));
    of_environment || SECRET_FILES.contains(&name) || name.ends_with(".kdbx")
}

impl Fence {
    /// The working folder and others, without the files of the home, which have tools of their own.
    pub fn new(home: &Home, working: &Path, others: &[PathBuf]) -> Result<Fence> {
        let real = |folder: &Path| {
            let found = folder.canonicalize().and_then(|real| match real.is_dir() {
                true => Ok(real),
                false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
            });
            found.map_err(|source| Error::read(folder, source))
        };
        // A home that is not there yet has nothing to hide.
        let as_it_is = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let working = real(working)?;
        let mut folders = vec![working.clone()];
        for other in others {
            folders.push(real(&working.join(other))?);
        }
        Ok(Fence {
            working,
            folders,
            closed: vec![as_it_is(home.root().to_owned()), as_it_is(home.backups())],
            open: vec![as_it_is(home.workspace())],
        })
    }

    /// Where relative paths begin.
    pub fn working(&self) -> &Path {
        &self.working
    }

    /// The folder of the fence that a path is in.
    pub fn folder_of(&self, path: &Path) -> Option<&Path> {
        self.folders.iter().map(PathBuf::as_path).find(|folder| path.starts_with(folder))
    }

    /// A path as it is shown: relative to the working folder where it is in it.
    pub fn shown(&self, path: &Path) -> String {
        let short = path.strip_prefix(&self.working).unwrap_or(path);
        if short.as_os_str().is_empty() { ".".into() } else { short.display().to_string() }
    }

    /// The path itself, absolute and without links; an error if it may not be touched.
    ///
    /// A file that is not there yet is judged by the folder it would be in.
    pub fn resolve(&self, text: &str, aim: Aim) -> Result<PathBuf> {
        if text.is_empty() || text.contains('\0') {
            return Err(Error::BadPath { path: text.replace('\0', "\\0") });
        }
        let real = self.walk(Path::new(text))?;
        self.judge(&real, aim)?;
        Ok(real)
    }

    /// Whether a path without links may be touched.
    pub fn judge(&self, real: &Path, aim: Aim) -> Result<()> {
        let refused = |why| Err(Error::OutOfBounds { path: real.to_owned(), why });
        let Some(folder) = self.folder_of(real) else {
            return refused("it is outside of the working folder");
        };
        if self.hides(real) {
            return refused("the files of the home have tools of their own");
        }
        // The way to the fence itself was the person's choice.
        let inside = real.strip_prefix(folder).unwrap_or(real);
        if names_secret(inside) {
            return refused("keys and passwords are kept there");
        }
        if aim == Aim::Write && inside.components().any(|part| is_named(part, ".git")) {
            return refused("only git writes there");
        }
        Ok(())
    }

    /// Whether a path is among what is closed to the agent.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        let is_open = self.open.iter().any(|open| path.starts_with(open));
        !is_open && self.closed.iter().any(|closed| path.starts_with(closed))
    }

    /// The folders, as far as they are not closed themselves.
    pub(crate) fn given(&self) -> Vec<PathBuf> {
        self.folders.iter().filter(|folder| !self.hides(folder)).cloned().collect()
    }

    /// Folders inside of these that a command is not to see: what is closed, and where keys are kept.
    pub(crate) fn enclosed(&self) -> Vec<PathBuf> {
        let is_inside = |closed: &&PathBuf| self.folders.iter().any(|one| closed.starts_with(one));
        let closed = self.closed.iter().filter(is_inside).cloned();
        let kept = self
            .folders
            .iter()
            .flat_map(|folder| SECRET_FOLDERS.iter().map(move |name| folder.join(name)));
        let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        closed.chain(kept).filter(is_folder).collect()
    }

    /// What may be given to a command with everything in it: the folders, and where something in one is closed, what
    /// lies beside that.
    pub(crate) fn wholes(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        let mut left = self.folders.clone();
        while let Some(path) = left.pop() {
            if self.hides(&path) {
                continue;
            }
            if !self.closed.iter().any(|closed| closed.starts_with(&path)) {
                found.push(path);
                continue;
            }
            let entries = path.read_dir().into_iter().flatten().flatten();
            let open = entries.filter(|entry| !names_secret(Path::new(&entry.file_name())));
            left.extend(open.map(|entry| entry.path()));
        }
        let is_inside = |open: &&PathBuf| open.is_dir() && self.folder_of(open).is_some();
        found.extend(self.open.iter().filter(is_inside).cloned());
        found
    }

    /// Whether anything below a folder is kept from the agent; also if there is too much to look at.
    pub fn has_secret_below(&self, folder: &Path) -> bool {
        const MOST: usize = 20_000;
        let mut left = vec![folder.to_owned()];
        let mut count = 0;
        while let Some(folder) = left.pop() {
            for entry in folder.read_dir().into_iter().flatten().flatten() {
                count += 1;
                let path = entry.path();
                if count > MOST || self.judge(&path, Aim::Read).is_err() {
                    return true;
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    left.push(path);
                }
            }
        }
        false
    }

    /// Opens a plain file for reading, and makes sure that what was opened is inside.
    pub fn open(&self, text: &str) -> Result<Opened> {
        let path = self.resolve(text, Aim::Read)?;
        self.open_resolved(path)
    }

    /// The same for a path that was resolved before: it may have been changed since.
    pub fn open_resolved(&self, path: PathBuf) -> Result<Opened> {
        let found = path.symlink_metadata().map_err(|source| Error::read(&path, source))?;
        must_be_plain(&path, &found)?;
        let file = platform::open_plain(&path).map_err(|source| Error::read(&path, source))?;
        let metadata = file.metadata().map_err(|source| Error::read(&path, source))?;
        must_be_plain(&path, &metadata)?;
        let real = platform::path_of(&file, &path).map_err(|source| Error::read(&path, source))?;
        if real != path {
            return Err(Error::OutOfBounds { path, why: "it was replaced while it was opened" });
        }
        self.judge(&real, Aim::Read)?;
        Ok(Opened { file, path, metadata })
    }

    /// Follows a path name by name, links included, as far as it exists.
    fn walk(&self, path: &Path) -> Result<PathBuf> {
        let mut real = self.working.clone();
        let mut is_missing = false;
        for part in path.components() {
            match part {
                Component::Prefix(_) | Component::RootDir => real.push(part),
                Component::CurDir => {}
                Component::ParentDir if is_missing => {
                    let why = "it goes up from a folder that is not there";
                    return Err(Error::OutOfBounds { path: path.to_owned(), why });
                }
                Component::ParentDir => {
                    real.pop();
                }
                Component::Normal(name) => {
                    real.push(name);
                    match real.symlink_metadata() {
                        Ok(found) if found.is_symlink() => {
                            real = real
                                .canonicalize()
                                .map_err(|_| Error::BrokenLink { path: real.clone() })?;
                        }
                        Ok(_) => {}
                        Err(error) if error.kind() == io::ErrorKind::NotFound => is_missing = true,
                        Err(source) => return Err(Error::read(&real, source)),
                    }
                }
            }
        }
        Ok(real)
    }
}

fn is_named(part: Component<'_>, name: &str) -> bool {
    matches!(part, Component::Normal(found) if found.eq_ignore_ascii_case(name))
}

fn must_be_plain(path: &Path, metadata: &Metadata) -> Result<()> {
    let kind = metadata.file_type();
    let what = if kind.is_file() {
        return Ok(());
    } else if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a link"
    } else {
        "a device, pipe or socket"
    };
    Err(Error::NotPlain { path: path.to_owned(), what })
}

#[cfg(test)]
#[path = "fence_tests.rs"]
mod tests;
