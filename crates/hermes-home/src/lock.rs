//! One writer at a time: a lock file beside the file it guards, as Hermes Agent does it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
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
    file: File,
}

impl Held {
    /// Writes into the lock file who holds it, for whoever finds it taken.
    pub fn sign(&mut self, text: &str) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(text.as_bytes())
    }
}

/// Takes the lock `<path>.lock`, waiting up to ten seconds; makes the folder when it is missing.
pub fn hold(path: &Path) -> Result<Held> {
    let lock = sidecar(path);
    let file = make(&lock)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Held { file }),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                std::thread::sleep(STEP);
            }
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path: lock }),
            Err(TryLockError::Error(source)) => return Err(Error::write(&lock, source)),
        }
    }
}

/// Takes the lock `<path>.lock` if nobody holds it.
pub fn try_hold_beside(path: &Path) -> Result<Option<Held>> {
    try_hold(&sidecar(path))
}

/// Takes the lock file itself if nobody has it; none if somebody does.
pub fn try_hold(lock: &Path) -> Result<Option<Held>> {
    let file = make(lock)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Held { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(Error::write(lock, source)),
    }
}

/// What the holder of a lock file wrote into it; none if nobody holds it. Makes nothing.
pub fn holder(lock: &Path) -> Result<Option<String>> {
    let mut file = match File::open(lock) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::read(lock, error)),
        Ok(file) => file,
    };
    // Shared, so that two who only look do not take each other for the holder.
    match file.try_lock_shared() {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            file.read_to_string(&mut text).map_err(|source| Error::read(lock, source))?;
            Ok(Some(text.trim().to_owned()))
        }
        Err(TryLockError::Error(source)) => Err(Error::read(lock, source)),
    }
}

fn make(lock: &Path) -> Result<File> {
    if let Some(folder) = lock.parent().filter(|folder| !folder.exists()) {
        atomic::make_folder(folder)?;
    }
    if lock.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        let why = io::Error::other("a lock file must not be a link");
        return Err(Error::write(lock, why));
    }
    open(lock).map_err(|source| Error::write(lock, source))
}

fn sidecar(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

fn open(lock: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(lock)
}

#[cfg(test)]
mod tests {
    #[test]
    fn whoever_finds_a_lock_taken_learns_who_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("own/daemon.lock");
        assert_eq!(super::holder(&lock).unwrap(), None);
        assert!(!lock.exists(), "to look makes nothing");
        let mut held = super::try_hold(&lock).unwrap().unwrap();
        held.sign("a longer text than the next").unwrap();
        held.sign("daemon 12").unwrap();
        assert!(super::try_hold(&lock).unwrap().is_none());
        assert_eq!(super::holder(&lock).unwrap().as_deref(), Some("daemon 12"));
        drop(held);
        assert_eq!(super::holder(&lock).unwrap(), None);
    }

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
