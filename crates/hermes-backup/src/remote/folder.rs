//! A folder as a place, such as a mounted disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Remote, Stored, check_content, check_name, not_what_was_sent};
use crate::hash::{self, Hashing};
use crate::{Error, Progress, Result, Tell};

/// A folder that must be there already: one that is missing is a disk that is not mounted.
pub(super) struct Mounted {
    path: PathBuf,
}

impl Mounted {
    pub(super) fn new(path: &Path) -> Mounted {
        Mounted { path: path.to_owned() }
    }

    fn must_be_there(&self, doing: &'static str) -> Result<()> {
        if self.path.is_dir() {
            return Ok(());
        }
        let path = self.path.display();
        Err(Error::Remote {
            doing,
            place: self.place(),
            why: "there is no such folder".to_owned(),
            again: true,
            hint: Some(format!(
                "mount the disk, or create the folder once with `mkdir -p '{path}'`"
            )),
        })
    }
}

impl Remote for Mounted {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn list(&self) -> Result<Vec<Stored>> {
        self.must_be_there("list")?;
        let mut found = Vec::new();
        let failed = |source| Error::file("read", &self.path, source);
        for entry in fs::read_dir(&self.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let about = entry.metadata().map_err(failed)?;
            if about.is_file() && !name.starts_with('.') {
                found.push(Stored { name, size: about.len() });
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    fn put(&self, from: &Path, name: &str, sha256: &str, tell: Tell<'_>) -> Result<()> {
        check_name("send to", &self.place(), name)?;
        check_content(from, sha256)?;
        self.must_be_there("send to")?;
        let partial = self.path.join(format!(".{name}.partial"));
        copy_on(from, &partial, &format!("sending {name}"), tell)?;
        forget_cached(&partial);
        if hash::of_file(&partial)? != sha256 {
            fs::remove_file(&partial).map_err(|source| Error::file("delete", &partial, source))?;
            return Err(not_what_was_sent(from, sha256, &self.place()));
        }
        let whole = self.path.join(name);
        fs::rename(&partial, &whole).map_err(|source| Error::file("rename", &partial, source))?;
        sync_folder(&self.path)
    }

    fn get(&self, name: &str, to: &Path, tell: Tell<'_>) -> Result<()> {
        check_name("fetch from", &self.place(), name)?;
        self.must_be_there("fetch from")?;
        copy_on(&self.path.join(name), to, &format!("fetching {name}"), tell)
    }

    fn sha256_there(&self, name: &str) -> Result<Option<String>> {
        check_name("check", &self.place(), name)?;
        let path = self.path.join(name);
        forget_cached(&path);
        hash::of_file(&path).map(Some)
    }

    fn delete(&self, name: &str) -> Result<()> {
        check_name("delete from", &self.place(), name)?;
        let path = self.path.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::file("delete", &path, error))
            }
            _ => sync_folder(&self.path),
        }
    }

    fn warnings(&self) -> Result<Vec<String>> {
        self.must_be_there("check")?;
        let mut warnings = Vec::new();
        if same_disk(&self.path, Path::new("/")) {
            warnings.push(format!(
                "{} is on the system disk: if that disk fails, these copies are lost too",
                self.place()
            ));
        }
        Ok(warnings)
    }
}

/// Copies a file durably. If what lies at `to` is the beginning of it, only the rest is copied.
fn copy_on(from: &Path, to: &Path, doing: &str, tell: Tell<'_>) -> Result<()> {
    let mut source = File::open(from).map_err(|source| Error::file("read", from, source))?;
    let of = source.metadata().map_err(|source| Error::file("read", from, source))?.len();
    let mut target = open_private(to).map_err(|source| Error::file("write to", to, source))?;
    let mut done = common_beginning(&mut source, &mut target, of)
        .map_err(|source| Error::file("write to", to, source))?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        tell(Progress { doing, done, of });
        let read = source.read(&mut buffer).map_err(|error| Error::file("read", from, error))?;
        if read == 0 {
            break;
        }
        target.write_all(&buffer[..read]).map_err(|source| Error::file("write to", to, source))?;
        done += read as u64;
    }
    target.sync_all().map_err(|source| Error::file("write to", to, source))
}

/// How much of `source` lies in `target` already; both are left at that place, `target` cut to it.
fn common_beginning(source: &mut File, target: &mut File, of: u64) -> io::Result<u64> {
    let there = target.metadata()?.len();
    if there > 0 && there <= of {
        let hash = |file: &mut File| hash::of_beginning(file, there).map(Hashing::hex);
        if hash(source)? == hash(target)? {
            return Ok(there);
        }
    }
    source.rewind()?;
    target.rewind()?;
    target.set_len(0)?;
    Ok(0)
}

/// Opens a file to go on with, made for its owner alone; a link is not followed.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.mode(0o600).custom_flags(nix::libc::O_NOFOLLOW).open(path)
}

/// Lets the system forget what it holds of a file in memory, so that reading it asks the disk.
#[cfg(target_os = "linux")]
fn forget_cached(path: &Path) {
    use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};
    if let Ok(file) = File::open(path) {
        // Only advice: where it is not taken, the read-back is from memory.
        let _ = posix_fadvise(&file, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED);
    }
}

#[cfg(not(target_os = "linux"))]
fn forget_cached(_path: &Path) {}

fn same_disk(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(one), Ok(other)) => one.dev() == other.dev(),
        _ => false,
    }
}

/// Makes a rename durable; network file systems that cannot do that for a folder are let be.
fn sync_folder(folder: &Path) -> Result<()> {
    match hermes_home::atomic::sync_folder(folder) {
        Err(error) if !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Err(Error::file("write to", folder, error))
        }
        _ => Ok(()),
    }
}
