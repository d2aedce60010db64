//! One writer at a time: a lock file beside the file it guards, as Hermes Agent does it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::atomic;
use crate::error::{Error, Result};

/// How long a writer waits for another one.
const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

/// A held lock; dropping it lets the next writer in.
#[derive(Debug)]
pub struct Held {
    _file: File,
}

/// Takes the lock `<path>.lock`, waiting up to ten seconds; makes the folder when it is missing.
pub fn hold(path: &Path) -> Result<Held> {
    hold_within(path, PATIENCE)?.ok_or_else(|| Error::Locked { path: sidecar(path) })
}

/// Takes the lock `<path>.lock` if nobody holds it.
pub fn try_hold(path: &Path) -> Result<Option<Held>> {
    hold_within(path, Duration::ZERO)
}

fn hold_within(path: &Path, patience: Duration) -> Result<Option<Held>> {
    let lock = sidecar(path);
    if let Some(folder) = lock.parent().filter(|folder| !folder.exists()) {
        atomic::make_folder(folder)?;
    }
    if lock.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        let why = io::Error::other("a lock file must not be a link");
        return Err(Error::write(&lock, why));
    }
    let file = open(&lock).map_err(|source| Error::write(&lock, source))?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(Held { _file: file })),
            Err(TryLockError::WouldBlock) if begun.elapsed() < patience => {
                std::thread::sleep(STEP);
            }
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(Error::write(&lock, source)),
        }
    }
}

fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn open(lock: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(lock)
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    #[test]
    fn a_lock_is_never_taken_through_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let elsewhere = folder.path().join("elsewhere");
        let lock = folder.path().join("MEMORY.md.lock");
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        let refused = super::hold(&folder.path().join("MEMORY.md")).unwrap_err();
        assert!(refused.to_string().contains("MEMORY.md.lock"), "{refused}");
        assert!(!elsewhere.exists());
    }
}
