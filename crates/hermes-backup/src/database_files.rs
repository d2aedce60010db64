//! What SQLite keeps beside a database.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// How the names of these files end.
pub(crate) const SIDECARS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Takes away what SQLite keeps beside a database: of another one it would be played into this.
pub(crate) fn remove_sidecars(database: &Path) -> Result<()> {
    for ending in SIDECARS {
        let path = beside(database, ending);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::file("remove", &path, error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The path of a file that SQLite keeps beside a database.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
