//! Which programs have a database of a home open.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use hermes_home::{Home, lock};

use crate::restore::check::SIDECARS;
use crate::{Error, Result};

const DATABASES: [&str; 2] = ["state.db", "memory.db"];

/// Fails if the daemon of the home runs, or another program has a database below `folder` open, naming it.
pub(crate) fn must_be_free(home: &Home, folder: &Path) -> Result<()> {
    if let Some(said) = lock::holder(&home.daemon_lock())? {
        let said = if said.is_empty() { String::new() } else { format!(" ({said})") };
        let holders = format!("the daemon of this home runs{said}");
        return Err(Error::InUse { home: home.root().to_owned(), holders });
    }
    databases_must_be_free(folder)
}

/// Fails if another program has a database below `folder` open, naming it.
pub(crate) fn databases_must_be_free(folder: &Path) -> Result<()> {
    let Ok(folder) = folder.canonicalize() else {
        return Ok(());
    };
    let holders = match fs::read_dir("/proc/self/fd") {
        Ok(_) => open_in(&folder),
        // Without a list of open files only SQLite itself can tell.
        Err(_) => locked_in(&folder)?,
    };
    if holders.is_empty() {
        return Ok(());
    }
    Err(Error::InUse { home: folder, holders: holders.join("; ") })
}

/// Every process but this one that has a database below the folder open; those of other users cannot all be seen.
fn open_in(folder: &Path) -> Vec<String> {
    let Ok(processes) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = std::process::id();
    let ids = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| *id != own).filter_map(|id| held_by(id, folder)).collect()
}

fn held_by(id: u32, folder: &Path) -> Option<String> {
    let open = fs::read_dir(format!("/proc/{id}/fd")).ok()?;
    let mut paths = open.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let held = paths.find(|path| is_database(path, folder))?;
    let program = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    let program = match program.trim() {
        "" => "a program",
        name => name,
    };
    // A memory outside of the home is looked for by its own path.
    let below = held.strip_prefix(folder).ok().filter(|below| !below.as_os_str().is_empty());
    let name = below.unwrap_or(&held).display();
    Some(format!("{program} (process {id}) has {name} open"))
}

fn is_database(path: &Path, folder: &Path) -> bool {
    // Linux says so of a file that was deleted while it was open.
    let bytes = path.as_os_str().as_bytes();
    let path = Path::new(OsStr::from_bytes(bytes.strip_suffix(b" (deleted)").unwrap_or(bytes)));
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return false;
    };
    let main = SIDECARS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    DATABASES.contains(&main) && path.starts_with(folder)
}

fn locked_in(folder: &Path) -> Result<Vec<String>> {
    let mut folders = vec![folder.to_owned()];
    if let Ok(profiles) = fs::read_dir(folder.join("profiles")) {
        folders.extend(profiles.flatten().map(|entry| entry.path()));
    }
    let databases = folders.iter().flat_map(|folder| DATABASES.map(|name| folder.join(name)));
    let mut locked = Vec::new();
    for database in databases.filter(|path| path.metadata().is_ok_and(|found| found.len() > 0)) {
        match hermes_store::sqlite::refuse_in_use(&database) {
            Err(hermes_store::Error::Locked { .. }) => {
                locked.push(format!("a program has {} open", database.display()));
            }
            Err(error) => return Err(error.into()),
            Ok(()) => {}
        }
    }
    Ok(locked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_and_what_is_beside_them_are_known_by_name_and_folder() {
        let home = Path::new("/home/mira/.hermes");
        for held in [
            "/home/mira/.hermes/state.db",
            "/home/mira/.hermes/state.db-wal",
            "/home/mira/.hermes/profiles/coder/memory.db-shm",
            "/home/mira/.hermes/state.db-wal (deleted)",
        ] {
            assert!(is_database(Path::new(held), home), "{held}");
        }
        for other in ["/home/mira/.hermes-backups/state.db", "/home/mira/.hermes/state.db.txt"] {
            assert!(!is_database(Path::new(other), home), "{other}");
        }
    }
}
