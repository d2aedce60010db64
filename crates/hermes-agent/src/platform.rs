//! What differs between operating systems: opening, modes, identities of files, ending of programs.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// Opens a file for reading that is not a link, without waiting for anybody at the other end.
pub(crate) fn open_plain(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    use nix::fcntl::OFlag;
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY).bits());
    options.open(path)
}

/// The path of an open file, without links; `path` is the one it was opened by.
#[cfg(target_os = "linux")]
pub(crate) fn path_of(file: &File, path: &Path) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    match std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())) {
        Ok(real) => Ok(real),
        // Without /proc.
        Err(_) => compared(file, path),
    }
}

/// The path of an open file, without links; `path` is the one it was opened by.
#[cfg(not(target_os = "linux"))]
pub(crate) fn path_of(file: &File, path: &Path) -> io::Result<PathBuf> {
    compared(file, path)
}

/// The path that leads to the open file now, if it is the same file.
fn compared(file: &File, path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    let (opened, found) = (Identity::of(&file.metadata()?), Identity::of(&real.metadata()?));
    if opened == found { Ok(real) } else { Err(io::Error::other("it was replaced meanwhile")) }
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Identity {
    /// Its size in bytes.
    pub(crate) size: u64,
    /// When its content changed, in nanoseconds since 1970.
    pub(crate) modified: i64,
    /// When anything of it changed.
    pub(crate) changed: i64,
    /// Its number in the file system.
    pub(crate) inode: u64,
    /// Who may do what.
    pub(crate) mode: u32,
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt;
        let nanoseconds = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000) + rest;
        Identity {
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
            mode: metadata.mode() & 0o7777,
        }
    }
}

/// Permissions as a number, as [`Identity`] has them.
pub(crate) fn permissions(mode: u32) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(mode))
}

/// Makes a symbolic link.
pub(crate) fn make_link(target: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

/// The shell that runs a line, with all it starts in a group of its own.
pub(crate) fn shell(line: &str) -> Command {
    let mut command = in_group(Path::new("/bin/sh"));
    command.arg("-c").arg(line);
    command
}

/// A program, with all it starts in a group of its own.
pub(crate) fn in_group(program: &Path) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.process_group(0);
    command
}

/// Keeps programs of the same user from reading the memory and the environment of this process, where keys are.
pub(crate) fn close_to_others() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_dumpable(false);
}

/// How firmly a command is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Firmness {
    /// It may tidy up.
    Asked,
    /// At once.
    Forced,
}

/// Ends a command and everything it started.
pub(crate) fn end_all(child: &mut Child, firmness: Firmness) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    let signal = if firmness == Firmness::Asked { Signal::SIGTERM } else { Signal::SIGKILL };
    if let Ok(group) = i32::try_from(child.id()) {
        // There may be nobody left in the group.
        let _ = killpg(Pid::from_raw(group), signal);
    }
}
