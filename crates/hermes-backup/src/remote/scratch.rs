//! A file that another program fills and that leaves nothing behind, even if this one is killed.

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use crate::hash::{self, Hashing};

/// An empty file for its owner alone. Where the system allows it, it has no name from the beginning.
pub(super) struct Scratch {
    file: File,
    path: PathBuf,
    _named: Option<tempfile::TempPath>,
}

impl Scratch {
    /// Makes one on the disk that `folder` is on.
    pub(super) fn make(folder: &Path) -> io::Result<Scratch> {
        let (file, named) = tempfile::Builder::new()
            .prefix(".hermes_")
            .suffix(".tmp")
            .tempfile_in(folder)?
            .into_parts();
        match open_file_path(&file).filter(|path| path.exists()) {
            Some(path) => {
                named.close()?;
                Ok(Scratch { file, path, _named: None })
            }
            None => Ok(Scratch { file, path: named.to_path_buf(), _named: Some(named) }),
        }
    }

    /// Where another program finds it as long as this value lives.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The SHA-256 of what is in it.
    pub(super) fn hash(mut self) -> io::Result<String> {
        self.file.rewind()?;
        hash::of_beginning(&mut self.file, u64::MAX).map(Hashing::hex)
    }
}

#[cfg(target_os = "linux")]
fn open_file_path(file: &File) -> Option<PathBuf> {
    use std::os::fd::AsRawFd;
    Some(PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())))
}

#[cfg(not(target_os = "linux"))]
fn open_file_path(_file: &File) -> Option<PathBuf> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_program_writes_is_hashed_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::make(folder.path()).unwrap();
        let filled = std::process::Command::new("sh")
            .args(["-c", "printf abc > \"$0\""])
            .arg(scratch.path())
            .status();
        assert!(filled.unwrap().success());
        if cfg!(target_os = "linux") {
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
        assert!(scratch.hash().unwrap().starts_with("ba7816bf8f01cfea"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
