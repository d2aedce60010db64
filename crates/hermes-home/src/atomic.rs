//! Write a file whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// How the names of files begin and end that are being written.
const PREFIX: &str = ".hermes_";
const SUFFIX: &str = ".tmp";

/// Replaces the file at `path` by `bytes`: a reader sees the old or the new content, never a mix.
///
/// The new file has the mode of the old one, or 0600. A symbolic link stays and its target is
/// replaced; a link that leads nowhere is an error.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    write_as(path, bytes, Mode::AsBefore)
}

/// The same for a file that only its owner may read: its mode is 0600, whatever it was before.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    write_as(path, bytes, Mode::Private)
}

/// The same for what may go with the power: nobody waits until it is on the disk.
pub fn write_passing(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let written = unsynced(folder, bytes)
        .and_then(|file| file.persist(path).map(drop).map_err(|error| error.error));
    written.map_err(|source| Error::write(path, source))
}

/// Puts a file of the given mode at `path`, whatever stood there, a link too; none: the mode of any new file.
///
/// `fill` writes the content; if it fails, nothing has changed.
pub fn put(
    path: &Path,
    mode: Option<&Permissions>,
    fill: &mut dyn FnMut(&mut File) -> io::Result<()>,
) -> Result<()> {
    put_one_of_many(path, mode, fill)?;
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    sync_folder(folder).map_err(|source| Error::write(path, source))
}

/// The same for one of many: the caller makes the names durable in the end, with [`sync_folder`].
pub fn put_one_of_many(
    path: &Path,
    mode: Option<&Permissions>,
    fill: &mut dyn FnMut(&mut File) -> io::Result<()>,
) -> Result<()> {
    let mut put = || {
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        if mode.is_none() {
            // What a new file may be, before the process takes something away from it.
            builder.permissions(Permissions::from_mode(0o666));
        }
        let mut file = builder.tempfile_in(folder)?;
        fill(file.as_file_mut())?;
        if let Some(mode) = mode {
            file.as_file().set_permissions(mode.clone())?;
        }
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    };
    put().map_err(|source| Error::write(path, source))
}

/// Creates the file at `path` with `bytes`; returns false, touching nothing, when it exists already.
pub fn create(path: &Path, bytes: &[u8]) -> Result<bool> {
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let created = temporary(folder, bytes).and_then(|file| match file.persist_noclobber(path) {
        Ok(_) => sync_folder(folder).map(|()| true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    });
    created.map_err(|source| Error::write(path, source))
}

/// Whether a file has the name of one that was being written: left over if nobody writes.
pub fn is_temporary(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.starts_with(PREFIX.as_bytes()) && name.ends_with(SUFFIX.as_bytes())
}

/// Makes a folder and its missing parents, each with mode 0700, so that they are there after a power cut.
pub fn make_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    make_each(path, &builder, &mut sync_if_allowed).map_err(|source| Error::write(path, source))
}

/// The same with the mode that any program of the user would give them: for folders among the user's own files.
pub fn make_common_folder(path: &Path) -> io::Result<()> {
    make_each(path, &fs::DirBuilder::new(), &mut sync_if_allowed)
}

/// Makes what is missing, outermost first; the folder around each new one is synced, or its name could be lost.
fn make_each(
    path: &Path,
    builder: &fs::DirBuilder,
    sync: &mut dyn FnMut(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    for folder in missing.into_iter().rev() {
        match builder.create(folder) {
            // Somebody else made it in the same moment.
            Err(_) if folder.is_dir() => {}
            made => made?,
        }
        sync(folder.parent().unwrap_or(Path::new(".")))?;
    }
    // An empty path is the folder we are in.
    match path.as_os_str().is_empty() || path.is_dir() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// A folder in which something may be made, and which may not be read, cannot be synced.
fn sync_if_allowed(folder: &Path) -> io::Result<()> {
    match sync_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        synced => synced,
    }
}

/// Whether the last line of a file that lines are added to has no end: a crash or a full disk cut it short.
pub fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Makes what was renamed or created inside `folder` durable; an empty path is the folder we are in.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// The file that a write to `path` replaces: itself, or what a symbolic link leads to.
pub(crate) fn link_target(path: &Path) -> Result<PathBuf> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if !is_link {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(|_| Error::BrokenLink {
        path: path.to_owned(),
        target: fs::read_link(path).unwrap_or_default(),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    AsBefore,
    Private,
}

fn write_as(path: &Path, bytes: &[u8], mode: Mode) -> Result<()> {
    let target = link_target(path)?;
    write_beside(&target, bytes, mode).map_err(|source| Error::write(path, source))
}

fn write_beside(target: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let folder = target.parent().unwrap_or_else(|| Path::new("."));
    let file = temporary(folder, bytes)?;
    if mode == Mode::AsBefore
        && let Ok(old) = fs::metadata(target)
    {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(target).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// A file of mode 0600 that disappears unless it is persisted; its bytes are on the disk.
fn temporary(folder: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let file = unsynced(folder, bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn unsynced(folder: &Path, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(folder)?;
    file.write_all(bytes)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_around_each_new_one_is_synced() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let mut synced = Vec::new();
        let mut make = |path: &Path| {
            let before = synced.len();
            make_each(path, &fs::DirBuilder::new(), &mut |folder| {
                synced.push(folder.strip_prefix(root).unwrap().to_owned());
                Ok(())
            })
            .unwrap();
            synced[before..].to_vec()
        };
        assert_eq!(make(&root.join("a/b/c")), [Path::new(""), Path::new("a"), Path::new("a/b")]);
        assert_eq!(make(&root.join("a/b/c")), [] as [&Path; 0]);
        assert_eq!(make(&root.join("a/b/d")), [Path::new("a/b")]);
        assert_eq!(make(Path::new("")), [] as [&Path; 0]);
        write(&root.join("file"), b"x").unwrap();
        assert!(make_folder(&root.join("file")).is_err());
        assert!(make_folder(&root.join("file/inside")).is_err());
    }

    #[test]
    fn write_replaces_the_whole_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("MEMORY.md");
        write(&path, b"first, and long").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_folder_of_a_bare_name_is_the_one_we_are_in() {
        sync_folder(Path::new("file").parent().unwrap()).unwrap();
        assert!(sync_folder(Path::new("no/such/folder")).is_err());
    }

    #[test]
    fn create_never_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("SOUL.md");
        assert!(create(&path, b"mine").unwrap());
        assert!(!create(&path, b"other").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"mine");
    }

    #[test]
    fn new_files_are_private_and_old_modes_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("USER.md");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        write(&path, b"a").unwrap();
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, b"b").unwrap();
        assert_eq!(mode(&path), 0o640);
        write_private(&path, b"c").unwrap();
        assert_eq!(mode(&path), 0o600);
        write_passing(&path, b"d").unwrap();
        assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"d".to_vec()));
    }

    #[test]
    fn put_replaces_a_link_itself_and_a_failure_changes_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mode = Permissions::from_mode(0o751);
        put(&link, Some(&mode), &mut |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"old");
        assert_eq!(link.symlink_metadata().unwrap().permissions().mode() & 0o777, 0o751);
        put(&real, None, &mut |_| Err(io::Error::other("no"))).unwrap_err();
        assert_eq!(fs::read(&real).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_symbolic_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.md"), folder.path().join("link.md"));
        write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"new");
    }

    #[test]
    fn a_link_that_leads_nowhere_stays_and_the_error_names_it() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let (link, round) = (folder.path().join("MEMORY.md"), folder.path().join("round.md"));
        symlink(folder.path().join("not-mounted/MEMORY.md"), &link).unwrap();
        symlink(&round, &round).unwrap();
        for path in [&link, &round] {
            let refused = write(path, b"new").unwrap_err();
            assert!(matches!(&refused, Error::BrokenLink { path: found, .. } if found == path));
            assert!(!create(path, b"new").unwrap());
            assert!(path.symlink_metadata().unwrap().is_symlink());
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
