//! Whose a restored home is, and that all of it is on the disk.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;

use crate::{Error, Result};

/// Gives everything below `folder` to whoever owns `like`; only for root, who else would own it.
pub(crate) fn give_to_owner_of(folder: &Path, like: &Path) -> Result<()> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    let owner = fs::metadata(like).map_err(|error| Error::file("access", like, error))?;
    if owner.uid() == 0 && owner.gid() == 0 {
        return Ok(());
    }
    give(folder, owner.uid(), owner.gid())
}

fn give(path: &Path, user: u32, group: u32) -> Result<()> {
    let failed = |error: io::Error| Error::file("change the owner of", path, error);
    if path.symlink_metadata().map_err(failed)?.is_dir() {
        for entry in fs::read_dir(path).map_err(failed)? {
            give(&entry.map_err(failed)?.path(), user, group)?;
        }
    }
    // Last: before it is theirs, nobody else can put anything into the folder.
    lchown(path, Some(user), Some(group)).map_err(failed)
}

/// Waits until everything on the disk of `folder` is written.
pub(crate) fn sync(folder: &Path) -> Result<()> {
    let failed = |error: io::Error| Error::file("write to", folder, error);
    let opened = File::open(folder).map_err(failed)?;
    #[cfg(target_os = "linux")]
    nix::unistd::syncfs(&opened).map_err(|error| failed(error.into()))?;
    #[cfg(not(target_os = "linux"))]
    {
        let _ = opened;
        nix::unistd::sync();
    }
    Ok(())
}
