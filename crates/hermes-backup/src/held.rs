//! Folders that are held as long as a process lives: what it works in, and what nobody may swap meanwhile.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use hermes_home::Home;

use crate::name::STAGING;
use crate::{Error, Result};

/// How a folder is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By one alone.
    Alone,
    /// By many who only read, and by nobody who is alone.
    Together,
}

/// A folder that is held; dying lets go of it as well.
///
/// The folder itself is locked, no file in it: renaming it changes nothing, and nothing is left behind.
#[derive(Debug)]
pub(crate) struct Held {
    _file: Option<File>,
}

/// Holds a folder; none if somebody else does.
///
/// Where a file system cannot lock folders it is as if nobody did.
pub(crate) fn hold(folder: &Path, way: Way) -> Result<Option<Held>> {
    let file = File::open(folder).map_err(|error| Error::file("open", folder, error))?;
    let locked = match way {
        Way::Alone => file.try_lock(),
        Way::Together => file.try_lock_shared(),
    };
    match locked {
        Ok(()) => Ok(Some(Held { _file: Some(file) })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(_)) => Ok(Some(Held { _file: None })),
    }
}

/// Whether a living process works in a folder, whose name tells which one made it.
pub(crate) fn is_in_use(folder: &Path, process: Option<u32>) -> bool {
    let Ok(file) = File::open(folder) else {
        // What cannot be looked into is not ours to remove.
        return folder.symlink_metadata().is_ok_and(|found| found.is_dir());
    };
    match file.try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(_)) => process.is_none_or(may_live),
    }
}

fn may_live(process: u32) -> bool {
    let all = Path::new("/proc");
    !all.join("self").exists() || all.join(process.to_string()).exists()
}

/// Keeps whoever swaps the folder of a home away while it is read: nothing is moved while this is held.
pub(crate) fn keep_in_place(home: &Home) -> Result<Held> {
    let root = home.root();
    let real = root.canonicalize().map_err(|error| Error::file("access", root, error))?;
    let parent = real.parent().unwrap_or(&real);
    hold(parent, Way::Together)?.ok_or_else(|| is_swapped(&real))
}

/// The error for a home that is being swapped at this moment.
pub(crate) fn is_swapped(root: &Path) -> Error {
    Error::Busy { holder: format!("a restore is replacing folders beside {}", root.display()) }
}

/// A folder to work in, for its owner alone, held by this process and gone with this.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    _held: Held,
}

impl Scratch {
    /// A new folder of this name; none if there is one already.
    pub(crate) fn named(path: &Path) -> Result<Option<Scratch>> {
        let failed = |error| Error::file("make", path, error);
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            made => made.map_err(failed)?,
        }
        let made = path.symlink_metadata().map_err(failed)?;
        let held = hold(path, Way::Alone)?;
        // Whoever sweeps may have come between the two.
        let is_it = path.symlink_metadata().is_ok_and(|found| found.ino() == made.ino());
        Ok(held.filter(|_| is_it).map(|held| Scratch { path: path.to_owned(), _held: held }))
    }

    /// A new folder in the place of the home that is for work; takes away what a killed run left there.
    ///
    /// Copies of databases are plain text: here their words are anyway, while the folder of backups may be on a
    /// shared disk, or in somebody's cloud.
    pub(crate) fn in_home(home: &Home) -> Result<Scratch> {
        let own = home.sibling(None).own();
        hermes_home::atomic::make_folder(&own)?;
        Scratch::within(&own)
    }

    /// A new folder among the temporary files of the system, which takes away what is left there itself.
    pub(crate) fn in_temporary_folder() -> Result<Scratch> {
        Scratch::numbered(&std::env::temp_dir())
    }

    /// A new folder in a folder that others may work in too; takes away what a killed run left there.
    pub(crate) fn within(folder: &Path) -> Result<Scratch> {
        sweep(folder)?;
        Scratch::numbered(folder)
    }

    fn numbered(folder: &Path) -> Result<Scratch> {
        for number in 0u32..1000 {
            let name = format!("{STAGING}{}-{number}", std::process::id());
            if let Some(made) = Scratch::named(&folder.join(name))? {
                return Ok(made);
            }
        }
        Err(Error::Busy { holder: folder.display().to_string() })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away, and says if that failed.
    pub(crate) fn close(self) -> Result<()> {
        fs::remove_dir_all(&self.path).map_err(|error| Error::file("remove", &self.path, error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Not there any more if it was moved or closed; what cannot be removed now is swept by the next run.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Takes away what killed runs left in a folder, and nothing that somebody still works in.
fn sweep(folder: &Path) -> Result<()> {
    let failed = |source| Error::file("remove leftover files of", folder, source);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(STAGING)) else {
            continue;
        };
        let process = rest.split('-').next().and_then(|number| number.parse().ok());
        if !is_in_use(&entry.path(), process) {
            match fs::remove_dir_all(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_run_left_goes_and_what_a_living_one_works_in_stays() {
        let folder = tempfile::tempdir().unwrap();
        // The process is alive in both cases: only who holds the folder counts.
        let left = folder.path().join(format!("{STAGING}{}-900", std::process::id()));
        fs::create_dir(&left).unwrap();
        hermes_home::atomic::write(&left.join("state.db"), b"words").unwrap();
        let working = Scratch::within(folder.path()).unwrap();
        assert!(!left.exists(), "nobody works in it");
        let other = Scratch::within(folder.path()).unwrap();
        assert!(working.path().exists() && other.path() != working.path());
        let path = working.path().to_owned();
        drop(working);
        assert!(!path.exists());
    }

    #[test]
    fn one_who_is_alone_keeps_all_others_out() {
        let folder = tempfile::tempdir().unwrap();
        let first = hold(folder.path(), Way::Together).unwrap();
        assert!(hold(folder.path(), Way::Together).unwrap().is_some());
        assert!(hold(folder.path(), Way::Alone).unwrap().is_none());
        drop(first);
        let alone = hold(folder.path(), Way::Alone).unwrap();
        assert!(hold(folder.path(), Way::Together).unwrap().is_none());
        drop(alone);
    }
}
